"""Exceptions with messages for the user, imports of optional libraries, and library versions.

Programs print the message of a :class:`FrameworkError` and exit with code 2. Nodes log it as fatal
and end the experiment. Services return it in their response. Any other exception is a defect.

The module also lists the package's extras, because a missing library raises such an error.
"""

from __future__ import annotations

import contextlib
import importlib
import platform
from typing import Any, Iterator

from .sentences import escape_unprintable

MAX_MESSAGE_LENGTH = 1500  # characters; about a screen of text


class FrameworkError(Exception):
    """Base class of all errors with a message for the user."""

    def __str__(self) -> str:
        text = escape_unprintable(super().__str__())
        if len(text) <= MAX_MESSAGE_LENGTH:
            return text
        # Only the middle is omitted: a message begins with the file and ends with the remedy.
        half_length = MAX_MESSAGE_LENGTH // 2
        return f"{text[:half_length]} [...] {text[-half_length:]} ({len(text)} characters)"


class ConfigurationError(FrameworkError):
    """A setting is unknown, missing or out of range, or it contradicts another setting."""


@contextlib.contextmanager
def prefix_errors(prefix: str, kind: type[FrameworkError] = ConfigurationError) -> Iterator[None]:
    """Add a prefix to the message of an error that is raised in the ``with`` block.

    Parameters
    ----------
    prefix : str
        Text before the message, such as a file's path followed by a colon and a space.
    kind : type of FrameworkError, optional
        Class of the errors to catch. The error with the prefix has the same class.
    """
    try:
        yield
    except kind as error:
        raise kind(f"{prefix}{error}") from None


class StepError(ConfigurationError, ValueError):
    """An argument of an IMU model's ``step`` method is invalid."""


class RecordingError(FrameworkError):
    """A recording cannot be read, or its data cannot be used."""


class NotRecordedError(RecordingError):
    """A recording does not contain a required quantity or topic."""


class ImplausibleRecordingError(RecordingError):
    """Quantities in a recording contradict each other, so that results from it are meaningless."""


class MotionError(FrameworkError):
    """A motion is malformed, too short, or lacks a quantity that a sensor requires."""


class TrajectoryError(FrameworkError):
    """A trajectory is empty, too short, or exceeds the limits of the robot."""


class TooFastError(TrajectoryError):
    """A trajectory exceeds the limits of the robot's wheels.

    Parameters
    ----------
    excess : str
        Where and by how much the limits are exceeded, for the message.
    advice : str
        Remedy, for the message.
    scale : float, optional
        Factor that scales the trajectory to within the limits; None if there is none.
    smoothing_window : float, optional
        Smoothing window [s] with which the trajectory stays within the limits; None if there is
        none.
    """

    def __init__(
        self, excess: str, advice: str, scale: float | None, smoothing_window: float | None
    ) -> None:
        super().__init__(f"The trajectory is too fast for the robot: {excess}; {advice}.")
        self.excess, self.scale, self.smoothing_window = excess, scale, smoothing_window


class SimulatorError(FrameworkError):
    """The simulator does not respond, or reports a failure."""


class ResultError(FrameworkError):
    """A result cannot be written or read."""


class EnsembleError(FrameworkError):
    """An ensemble is too small, or does not match the recorded error that it is compared with."""


class ClusterError(FrameworkError):
    """A worker process does not respond, runs another version of the package, or has failed."""


EXTRAS = {
    "allantools": "allan",
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
"""Extra in setup.py that installs each optional module, keyed by the name of the module."""


class MissingLibraryError(ConfigurationError, ModuleNotFoundError):
    """A required library is not installed; ``name`` is the name of its module."""


def import_optional(module: str, user: str) -> Any:
    """Import an optional library that is installed with an extra of this package.

    Parameters
    ----------
    module : str
        A key of ``EXTRAS``, or the dotted name of a submodule.
    user : str
        Subject of the error message, with its article, such as "a report".

    Returns
    -------
    module
        The imported module.

    Raises
    ------
    MissingLibraryError
        The library is not installed. The message contains the command that installs it.
    """
    library = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ImportError as error:
        extra = EXTRAS[library]
        raise MissingLibraryError(
            f"{user} needs the Python library {library}, which is not installed or cannot be "
            f'loaded ({error}); install it with the extra {extra}: pip install ".[{extra}]" in the '
            "repository",
            name=library,
        ) from error


def versions() -> dict:
    """Return the versions of this package, of Python and of the libraries that affect results.

    Returns
    -------
    dict of str to str
        Version of each package by name.
    """
    from importlib.metadata import version  # slow to import, and rarely needed

    import imu_simulation_framework

    libraries = ("numpy", "scipy", "pandas", "matplotlib")
    return {
        "imu_simulation_framework": imu_simulation_framework.__version__,
        "python": platform.python_version(),
        **{library: version(library) for library in libraries},
    }
