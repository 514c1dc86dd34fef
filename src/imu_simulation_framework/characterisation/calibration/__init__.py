"""Calibration of an IMU: estimation and correction of its constant errors."""
