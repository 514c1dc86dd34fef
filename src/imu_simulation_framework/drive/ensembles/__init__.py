"""Monte Carlo: many runs of a sensor, its model or an experiment."""
