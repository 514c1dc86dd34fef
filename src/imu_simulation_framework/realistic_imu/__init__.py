"""Realistic IMU on the ideal IMU of any source: a topic of a simulator, a bag or a table."""
