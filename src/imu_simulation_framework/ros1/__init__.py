"""Nodes of ROS 1, interfaces to simulators, and launching; the only package that imports rospy."""
