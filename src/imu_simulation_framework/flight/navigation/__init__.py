"""Inertial navigation with GNSS: an error-state filter with 15 states for ensembles of runs."""
