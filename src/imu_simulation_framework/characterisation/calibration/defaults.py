"""Defaults of a calibration."""

import numpy as np

PLACEMENT = np.radians(0.5)
"""Standard deviation of each angle of the placement of a sensor on a table by hand [rad]."""
