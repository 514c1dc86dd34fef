"""ROS 1 nodes, interfaces to simulators, and launching; only this package imports rospy."""
