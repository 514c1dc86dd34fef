"""Gimbal with pan, tilt and roll joints between a platform and an IMU."""
