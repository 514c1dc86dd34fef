"""Figures of yaw errors, defined once for image files and web pages.

There is one module per subject: ``budget``; ``ensemble``; ``judgement`` by one drive or several;
``relative_error`` over intervals; ``identification`` of an IMU's model or of an odometer's errors.
"""
