"""One linear, Gaussian model of the yaw error, for bands, budget, realisations and likelihood."""
