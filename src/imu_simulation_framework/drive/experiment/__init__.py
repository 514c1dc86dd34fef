"""Components of an experiment, created from its configuration: robot, sensors, environment."""
