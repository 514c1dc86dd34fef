"""Linear Gaussian model of the yaw error: bands, budget, realisations and likelihood."""
