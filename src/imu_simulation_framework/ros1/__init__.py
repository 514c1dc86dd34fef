"""Nodes, simulators' interfaces and launching; the only place that imports rospy."""
