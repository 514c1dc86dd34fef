"""The versions of what a result was computed with."""

from __future__ import annotations

import platform

import matplotlib
import numpy as np
import pandas as pd
import scipy

import imu_simulation_framework


def versions() -> dict:
    """Return the versions of this package, Python and the libraries that decide the digits."""
    return {
        "imu_simulation_framework": imu_simulation_framework.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "pandas": pd.__version__,
        "matplotlib": matplotlib.__version__,
    }
