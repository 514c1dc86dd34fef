"""Orientation filters, which fuse gyroscope, accelerometer and magnetometer readings."""
