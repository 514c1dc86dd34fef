"""Calibration of an IMU: estimation of its constant errors and their correction."""
