"""Validation of an IMU against ground truth.

- ``errors``: errors of the IMU, axis by axis
- ``limits``: limits for the statistics of these errors
- ``report``: tables, figure and web page
"""
