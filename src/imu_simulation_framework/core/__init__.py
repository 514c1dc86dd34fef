"""Mathematics on arrays and tables: numpy, scipy and pandas only, no files, no ROS."""
