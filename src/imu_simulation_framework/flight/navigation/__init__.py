"""Inertial navigation with GNSS: an error-state filter of 15 states for ensembles of runs."""
