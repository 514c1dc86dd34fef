"""A realistic IMU beside any source of an ideal one: a simulator's topic, a bag, a table."""
