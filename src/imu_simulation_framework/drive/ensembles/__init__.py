"""Monte Carlo simulation of a sensor, an error model or an experiment."""
