"""Parts of an experiment, created from its configuration: robot, IMU, environment, sensors."""
