"""ROS 1 nodes, one module per node."""
