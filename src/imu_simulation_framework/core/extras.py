"""Libraries: pip's extras, which only some jobs need, and the versions of what decides digits."""

from __future__ import annotations

import importlib
import platform
from importlib.metadata import version
from typing import Any

import imu_simulation_framework
from imu_simulation_framework.core.errors import ConfigurationError

EXTRAS = {
    "dash": "explore",
    "distributed": "cluster",
    "h5py": "formats",
    "jinja2": "report",
    "jsbsim": "flight",
    "mujoco": "simulator",
    "plotly": "report",
    "pyarrow": "formats",
    "python_calamine": "formats",
    "xacro": "simulator",
}
"""Module -> the extra of setup.py that brings it."""


class MissingLibraryError(ConfigurationError, ModuleNotFoundError):
    """A library that the job needs is not installed; ``name`` is the module's."""


def required(module: str, for_what: str) -> Any:
    """Import a library that is installed only where it is asked for.

    Raises :class:`.MissingLibraryError`: it is not installed; the sentence says how to install it.

    ``module``: a key of ``EXTRAS``, or a module inside one. ``for_what``: what needs it, for the
    sentence: "a report".
    """
    library = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ImportError as error:
        extra = EXTRAS[library]
        raise MissingLibraryError(
            f"{for_what} needs the Python library {library}, which is not installed or cannot be "
            f'loaded ({error}); install it with the extra {extra}: pip install ".[{extra}]" in the '
            "repository",
            name=library,
        ) from error


def versions() -> dict:
    """Return the versions of this package, Python and the libraries that decide the digits."""
    libraries = ("numpy", "scipy", "pandas", "matplotlib")
    return {
        "imu_simulation_framework": imu_simulation_framework.__version__,
        "python": platform.python_version(),
        **{library: version(library) for library in libraries},
    }
