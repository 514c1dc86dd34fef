"""Default settings of a calibration."""

import numpy as np

PLACEMENT = np.radians(0.5)
"""Standard deviation of each alignment angle of a sensor placed on a table by hand [rad]."""
