"""Linear Gaussian model of a yaw error: bands, budget, realisations and likelihood."""
