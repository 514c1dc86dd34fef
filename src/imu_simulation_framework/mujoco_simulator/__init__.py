"""MuJoCo world of the robot, stepped sample by sample; no ROS."""
