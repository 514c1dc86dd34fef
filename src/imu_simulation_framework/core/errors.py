"""What can go wrong, said in one sentence for the person at the keyboard.

Tools print the sentence and exit with code 2, nodes log it as fatal and end the
experiment, services answer with it; anything else that is raised is a defect.
"""

from __future__ import annotations

from imu_simulation_framework.core.sentences import printable

_LONGEST = 1500


class FrameworkError(Exception):
    """Root of all errors whose message is a sentence for the user."""

    def __str__(self) -> str:
        text = printable(super().__str__())
        if len(text) <= _LONGEST:
            return text
        # Whatever a file or an argument has put into it, file and advice stay readable.
        half = _LONGEST // 2
        return f"{text[:half]} [...] {text[-half:]} ({len(text)} characters)"


class ConfigurationError(FrameworkError):
    """A setting is unknown, missing, out of range or contradicts another."""


class RecordingError(FrameworkError):
    """A recording cannot be read, or its data cannot be used."""


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
