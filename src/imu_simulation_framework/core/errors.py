"""What can go wrong, said in one sentence for the person at the keyboard.

Tools print the sentence and exit with code 2, nodes log it as fatal and end the
experiment, services answer with it; anything else that is raised is a defect.

Pip's extras are here, too, as a library that is missing is such an error, and the versions of what
decides digits.
"""

from __future__ import annotations

import contextlib
import importlib
import platform
from typing import Any, Iterator

from .sentences import escape_unprintable

_LONGEST = 1500


class FrameworkError(Exception):
    """Root of all errors whose message is a sentence for the user."""

    def __str__(self) -> str:
        text = escape_unprintable(super().__str__())
        if len(text) <= _LONGEST:
            return text
        # Whatever a file or an argument has put into it, file and advice stay readable.
        half = _LONGEST // 2
        return f"{text[:half]} [...] {text[-half:]} ({len(text)} characters)"


class ConfigurationError(FrameworkError):
    """A setting is unknown, missing, out of range or contradicts another."""


@contextlib.contextmanager
def prefix_errors(words: str, kind: type[FrameworkError] = ConfigurationError) -> Iterator[None]:
    """Have the sentence of an error of this kind, if the block raises one, begin with some words.

    What is raised is of this very kind.
    """
    try:
        yield
    except kind as error:
        raise kind(f"{words}{error}") from None


class StepError(ConfigurationError, ValueError):
    """An IMU that is stepped is given what it cannot take."""


class RecordingError(FrameworkError):
    """A recording cannot be read, or its data cannot be used."""


class NotRecordedError(RecordingError):
    """A recording holds nothing of what is looked for."""


class ImplausibleRecordingError(RecordingError):
    """A recording whose parts contradict each other, so that no result means anything."""


class MotionError(FrameworkError):
    """A motion is malformed, too short, or not what a sensor needs."""


class TrajectoryError(FrameworkError):
    """A trajectory is empty, too short, or more than the robot can do."""


class TooFastError(TrajectoryError):
    """The robot's wheels cannot follow a trajectory.

    ``excess``: where and how much, without the advice. ``scale``, ``smoothing_window``: either of
    them would do, None if none does.
    """

    def __init__(
        self, excess: str, advice: str, scale: float | None, smoothing_window: float | None
    ) -> None:
        super().__init__(f"The trajectory is too fast for the robot: {excess}; {advice}.")
        self.excess, self.scale, self.smoothing_window = excess, scale, smoothing_window


class SimulatorError(FrameworkError):
    """The simulator does not answer, or answers with a failure."""


class ResultError(FrameworkError):
    """A result cannot be written or read back."""


class EnsembleError(FrameworkError):
    """An ensemble of simulated errors is too small, or does not fit what is judged by it."""


class ClusterError(FrameworkError):
    """Processes that shall share work do not answer, do not fit, or have given up."""


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
"""Module -> the extra of setup.py that brings it."""


class MissingLibraryError(ConfigurationError, ModuleNotFoundError):
    """A library that the job needs is not installed; ``name`` is the module's."""


def import_optional(module: str, for_what: str) -> Any:
    """Import a library that is installed only where it is asked for.

    ``module``: a key of ``EXTRAS``, or a module inside one. ``for_what``: what needs it, for the
    sentence: "a report". Raises :class:`.MissingLibraryError`: it is not installed; the sentence
    says how to install it.
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
    from importlib.metadata import version  # takes longer than all of the errors

    import imu_simulation_framework

    libraries = ("numpy", "scipy", "pandas", "matplotlib")
    return {
        "imu_simulation_framework": imu_simulation_framework.__version__,
        "python": platform.python_version(),
        **{library: version(library) for library in libraries},
    }
