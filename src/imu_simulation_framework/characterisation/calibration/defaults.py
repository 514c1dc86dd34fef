"""Default settings of a calibration."""

import numpy as np

PLACEMENT = np.radians(0.5)
"""Standard deviation of each orientation angle if a sensor is placed on a table by hand [rad]."""
