"""The versions of what a result was computed with."""

from __future__ import annotations

import platform
from importlib.metadata import version

import imu_simulation_framework


def versions() -> dict:
    """Return the versions of this package, Python and the libraries that decide the digits."""
    libraries = ("numpy", "scipy", "pandas", "matplotlib")
    return {
        "imu_simulation_framework": imu_simulation_framework.__version__,
        "python": platform.python_version(),
        **{library: version(library) for library in libraries},
    }
