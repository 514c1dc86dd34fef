"""Validation of an IMU against ground truth.

- ``errors``: errors of the IMU, axis by axis
- ``limits``: limits of their statistics
- ``report``: tables, figure and web page
"""
