"""Inertial navigation with GNSS: a filter of 15 states for many runs at once."""
