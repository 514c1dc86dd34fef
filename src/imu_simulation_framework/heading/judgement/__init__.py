"""Where a recorded error lies in an ensemble of simulated ones, with probabilities."""
