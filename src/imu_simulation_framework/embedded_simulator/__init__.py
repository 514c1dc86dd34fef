"""The robot in MuJoCo, stepped sample by sample; no ROS."""
