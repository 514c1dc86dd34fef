"""INS/GNSS navigation: an error-state Kalman filter with 15 states, for ensembles of runs."""
