"""Monte Carlo: very many runs of a sensor, of its model or of an experiment."""
