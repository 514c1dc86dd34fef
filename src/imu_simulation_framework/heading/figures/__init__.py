"""Figures of yaw errors, described once for files and web pages.

A module for each subject: ``budget``, ``ensemble``, ``judgement`` by one drive and by several,
``relative_error`` over stretches, and ``identification`` of an IMU's model or an odometer's errors.
"""
