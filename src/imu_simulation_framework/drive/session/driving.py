"""Sessions that compute the tracking errors during a drive, and the resulting commands."""

from __future__ import annotations

import json
import math
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Callable, Iterator, NamedTuple, Sequence

from ...core import topics
from ...core.angles import fast_yaw
from ...core.errors import SimulatorError
from ...core.files import format_json
from ...core.programs import SeparateProcess
from ...core.stamps import NANOSECONDS
from ...core.tables import TRAJECTORY, WHEELS
from ..configuration import Configuration
from ..experiment.imu import imu_label, imu_remarks
from ..results.files import ResultFolder, create_result_folder
from ..tracking.controllers import Follower, Pose2D, Reference, TrackingError, tracking_error

# Longest interval between tracking errors [s]; messages of a fast simulator may be lost.
MAX_STEP = 5.0


@dataclass(frozen=True)
class DriveToFollow:
    """Trajectory of a drive, with reports on its preparation.

    Attributes
    ----------
    name : str
        Name of the drive in the result path.
    reference : Reference
        Reference with velocities.
    start, stop : float
        First and last time of the drive on the recording's clock [s].
    length : float
        Length of the path [m].
    read : tuple of tuple of str
        Report on the reference and, if available, on the recorded IMU; each report consists of a
        summary and the findings.
    warnings : tuple of str
        Further warnings for the user.
    """

    name: str
    reference: Reference
    start: float
    stop: float
    length: float
    read: tuple[tuple[str, ...], ...]
    warnings: tuple[str, ...]

    def save(self, folder: ResultFolder, configuration: str) -> None:
        """Write the drive to a folder that contains the table ``trajectory_data``.

        Parameters
        ----------
        folder : ResultFolder
            Folder with the table.
        configuration : str
            Content of the config.ini of the drive.

        Raises
        ------
        ResultError
            The file cannot be written.
        """
        facts = {name: value for name, value in vars(self).items() if name != "reference"}
        folder.write_text(_FACTS, format_json({**facts, "configuration": configuration}))

    @classmethod
    def load(cls, folder: ResultFolder, configuration: str) -> DriveToFollow | None:
        """Read a drive written by :meth:`save`, and remove its file.

        Parameters
        ----------
        folder : ResultFolder
            Folder with the table ``trajectory_data``.
        configuration : str
            Content of the config.ini of the drive.

        Returns
        -------
        DriveToFollow or None
            Drive, or None if the folder has no drive or a drive of another configuration.

        Raises
        ------
        ResultError
            The trajectory cannot be read.
        """
        if not folder.path(_FACTS).exists():
            return None
        facts = json.loads(folder.read_text(_FACTS))
        if facts.pop("configuration") != configuration:
            return None
        folder.path(_FACTS).unlink()
        return cls(
            reference=Reference(*folder.read_columns("trajectory_data", TRAJECTORY)), **facts
        )


_FACTS = "drive.json"

# Arguments of :class:`.SeparateProcess` for preparing a drive outside the node, to save 100 MB.
PREPARATION = (
    "imu_simulation_framework.drive.session.preparation",
    "PreparationSession",
    "the preparation of the drive",
)


@contextmanager
def prepared_drive(
    configuration: Configuration, place: str, inform: Callable, warn: Callable
) -> Iterator[tuple[DriveToFollow, ResultFolder]]:
    """Prepare a drive and the folder for its results.

    The tables of the preparation are written into the folder when the context ends.

    Parameters
    ----------
    configuration : Configuration
        Configuration of the experiment.
    place : str
        Folder and prefix of a drive that a launcher has already prepared; otherwise empty.
    inform, warn : callable
        Functions that are called with a message for the user.

    Yields
    ------
    drive : DriveToFollow
        Trajectory and reports.
    folder : ResultFolder
        New folder for the results.

    Raises
    ------
    FrameworkError
        The robot cannot follow the drive.
    """
    with ExitStack() as until_written:
        kept = ResultFolder.from_prefix(place) if place else None
        drive = DriveToFollow.load(kept, configuration.to_ini()) if kept else None
        if drive is None:
            preparation = until_written.enter_context(SeparateProcess(*PREPARATION))
            drive, kept = preparation.call("read", configuration), None
        for summary, *findings in drive.read:
            inform(summary)
            for sentence in findings:
                warn(sentence)
        for sentence in (*imu_remarks(configuration), *drive.warnings):
            warn(sentence)
        folder = create_result_folder(
            configuration.experiment.output, drive.name, imu_label(configuration), datetime.now()
        )
        yield drive, folder
        folder.write_text("config.ini", configuration.to_ini())
        if kept is None:
            preparation.call("write", folder)
        else:
            folder.take(kept)


def describe_command_error(data: Sequence[float], commands: Sequence[str]) -> str:
    """Describe the error in an invalid command.

    Parameters
    ----------
    data : sequence of float
        Numbers of the command.
    commands : sequence of str
        Names of the expected numbers, see :attr:`.Drivetrain.commands`; empty for any drivetrain.

    Returns
    -------
    str
        Expected and received numbers; empty if the command is valid.
    """
    is_complete = len(data) == len(commands) if commands else len(data) >= len(WHEELS)
    if is_complete and all(map(math.isfinite, data)):
        return ""
    expected = "two finite wheel velocities"
    if len(commands) > len(WHEELS):
        expected = f"{len(commands)} finite numbers ({', '.join(commands)})"
    return f"expected {expected} on {topics.WHEEL_COMMAND}, got {list(data)}"


class DriveSession:
    """Session that computes the commands of a drive from tracking errors.

    Parameters
    ----------
    follower : Follower
        Reference and controller.

    Attributes
    ----------
    time : float
        Time of the newest tracking error, relative to the start of the drive [s].
    finished : bool
        Whether the drive is over.
    """

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        self.time = 0.0
        self.finished = False

    @property
    def duration(self) -> float:
        """Duration of the complete drive [s]."""
        return self._follower.reference.duration

    def progress(self, elapsed: float) -> str:
        """Describe the progress and the real-time factor of the simulation.

        Parameters
        ----------
        elapsed : float
            Wall-clock time since the first command [s].

        Returns
        -------
        str
            Text for the terminal.
        """
        return (
            f"simulated {self.time:.1f} of {self.duration:.1f} s "
            f"({100.0 * self.time / self.duration:.0f} %), {self.time / elapsed:.1f} x real time"
        )

    def first_pose(self):
        """Return the pose of the robot before the first command.

        Returns
        -------
        Pose2D
            Pose [m, rad].
        """
        return self._follower.reference.pose_at(0.0)

    def begin(self) -> tuple[float, ...]:
        """Return the first command of the drive.

        Returns
        -------
        tuple of float
            Commands as in :attr:`.Drivetrain.commands`.
        """
        return self._follower.command(0.0)

    def standstill(self) -> tuple[float, ...]:
        """Return the command that stops the robot.

        Returns
        -------
        tuple of float
            Commands as in :attr:`.Drivetrain.commands`.
        """
        return self._follower.standstill()

    def answer(self, time: float, error: TrackingError) -> tuple[float, ...]:
        """Return the command for a tracking error, or a stop command after the end of the drive.

        Parameters
        ----------
        time : float
            Time since the start of the drive [s].
        error : TrackingError
            Tracking error at this time.

        Returns
        -------
        tuple of float
            Commands as in :attr:`.Drivetrain.commands`.

        Raises
        ------
        SimulatorError
            A number is not finite, or the time jumped.
        """
        numbers = (time, *error)
        if not all(map(math.isfinite, numbers)):
            raise SimulatorError(
                f"{topics.TRAJECTORY_ERROR}: expected finite numbers, got {list(numbers)}"
            )
        step = time - self.time
        if abs(step) > MAX_STEP:
            raise SimulatorError(
                f"{topics.TRAJECTORY_ERROR}: the time jumped by {step:.6g} s after "
                f"{self.time:.2f} s: a stamp is wrong, the simulation was reset, or messages were "
                "lost"
            )
        self.time = time
        self.finished = self._follower.is_finished(time)
        return self.standstill() if self.finished else self._follower.command(time, error)


STAMP_TOLERANCE = 1e-6  # s; stamps that differ by less are treated as identical

# Speed margin [m/s] above three times the reported speed; a faster displacement is a jump.
JUMP_SPEED = 5.0

_MIN_UPRIGHT_COSINE = 0.5  # cosine of the largest accepted tilt, 60 deg


class TruePose(NamedTuple):
    """Ground truth of the planar motion of the robot.

    Attributes
    ----------
    stamp : int
        Stamp [ns].
    x, y : float
        Position [m].
    orientation : sequence of float
        Quaternion x, y, z, w.
    v_x, v_y : float
        Velocity in the axes of the robot [m/s].
    """

    stamp: int
    x: float
    y: float
    orientation: Sequence[float]
    v_x: float
    v_y: float


class TrackedPose(NamedTuple):
    """Tracking error with the poses of the reference and the robot.

    Attributes
    ----------
    stamp : int
        Stamp [ns].
    time : float
        Time since the start of the drive [s].
    error : TrackingError
        Tracking error.
    reference : Pose2D
        Pose of the reference.
    actual : Pose2D
        Pose of the robot.
    """

    stamp: int
    time: float
    error: TrackingError
    reference: Pose2D
    actual: Pose2D


class TrackingSession:
    """Session that computes one tracking error per control period from the ground truth.

    Time zero of the experiment is the stamp of the ground truth at the first wheel command. In
    lock-step, the simulated time does not advance before this command, so that time zero is the
    first stamp, even if the command arrives earlier. Without lock-step, time zero is the newest
    stamp when the command arrives.

    Parameters
    ----------
    period : float
        Control period [s].
    lock_step : bool
        Whether the simulated time does not advance before the first command.
    """

    def __init__(self, period: float, lock_step: bool) -> None:
        self._period = period
        self._lock_step = lock_step
        self._reference: Reference | None = None
        self._held_stamp: int | None = None
        self._zero: int | None = None
        self._last: tuple[int, float, float] | None = None
        self._periods = 0

    @property
    def begun(self) -> bool:
        """Whether any ground truth was received."""
        return self._held_stamp is not None

    def follow(self, reference: Reference) -> None:
        """Start to compute tracking errors relative to a reference; ignore earlier commands.

        Parameters
        ----------
        reference : Reference
            Reference trajectory.
        """
        self._reference = reference

    def commanded(self) -> None:
        """Register a wheel command."""
        if self._reference is not None and self._zero is None:
            self._zero = self._held_stamp

    def ground_truth(self, pose: TruePose) -> TrackedPose | None:
        """Process one sample of the ground truth.

        Parameters
        ----------
        pose : TruePose
            Ground truth of the robot.

        Returns
        -------
        TrackedPose or None
            Tracking error once per control period, otherwise None.

        Raises
        ------
        SimulatorError
            The pose is not finite, or the robot tipped over or was displaced during the drive.
        """
        # Checking only the sum is faster than checking each number of each message.
        if not math.isfinite(pose.x + pose.y + sum(pose.orientation)):
            numbers = (pose.x, pose.y, *pose.orientation)
            raise SimulatorError(
                f"{topics.GROUND_TRUTH}: expected finite numbers, got {list(numbers)}"
            )
        if self._zero is None:
            if not self._lock_step or self._held_stamp is None:
                self._held_stamp = pose.stamp
            elif pose.stamp > self._held_stamp and self._reference is not None:
                self._zero = self._held_stamp
        if self._zero is None or self._reference is None:
            return None
        self._ensure_not_displaced(pose)
        time = (pose.stamp - self._zero) / NANOSECONDS
        if time < (self._periods + 1) * self._period - STAMP_TOLERANCE:
            return None
        self._ensure_upright(pose)
        # If the sample at the end of the period was lost, the next sample is used instead.
        self._periods = int((time + STAMP_TOLERANCE) / self._period)
        actual = Pose2D(pose.x, pose.y, fast_yaw(*pose.orientation))
        reference = self._reference.pose_at(time)
        return TrackedPose(pose.stamp, time, tracking_error(reference, actual), reference, actual)

    def _ensure_upright(self, pose) -> None:
        x, y, z, w = pose.orientation
        vertical = w * w + z * z - x * x - y * y
        if vertical < _MIN_UPRIGHT_COSINE:
            tilt = math.degrees(math.acos(max(-1.0, vertical)))
            raise SimulatorError(
                f"the robot tipped over: {(pose.stamp - self._zero) / NANOSECONDS:.2f} s after the "
                f"start its tilt is {tilt:.0f} deg; check [robot] parameters and [terrain] in "
                "config.ini"
            )

    def _ensure_not_displaced(self, pose) -> None:
        last, self._last = self._last, (pose.stamp, pose.x, pose.y)
        if last is None:
            return
        displacement = math.hypot(pose.x - last[1], pose.y - last[2])
        elapsed = (pose.stamp - last[0]) / NANOSECONDS
        # Half a control period is added, because a reported speed may belong to the previous step.
        max_elapsed = abs(elapsed) + 0.5 * self._period
        if displacement <= JUMP_SPEED * max_elapsed:
            return
        if displacement > (JUMP_SPEED + 3.0 * math.hypot(pose.v_x, pose.v_y)) * max_elapsed:
            raise SimulatorError(
                f"the robot was displaced by {displacement:.2f} m within {elapsed:.2f} s, "
                f"{(pose.stamp - self._zero) / NANOSECONDS:.2f} s after the start: its pose was "
                "set during the drive"
            )
