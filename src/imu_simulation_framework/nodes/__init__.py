"""ROS nodes: each subscribes, calls the library below, and publishes."""
