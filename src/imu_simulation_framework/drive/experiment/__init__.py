"""Parts of the configured experiment: robot, IMU, environment and other sensors."""
