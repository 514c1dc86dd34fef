"""Sessions with the logic of an experiment, for nodes and for runs without ROS."""
