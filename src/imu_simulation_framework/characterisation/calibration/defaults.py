"""Default settings of a calibration."""

import numpy as np

PLACEMENT = np.radians(0.5)
"""Standard deviation of each angle of a sensor that is placed on a table by hand [rad]."""
