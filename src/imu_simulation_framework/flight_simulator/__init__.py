"""Aircraft in JSBSim: flown in this process, or received from one that flies elsewhere; no ROS."""
