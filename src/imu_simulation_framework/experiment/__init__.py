"""From a configuration to a prepared, executed and reported experiment; no ROS."""
