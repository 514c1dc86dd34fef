"""What the parts of an experiment do between messages; called by nodes, and without ROS."""
