"""The ROS side; the only place that imports rospy."""
