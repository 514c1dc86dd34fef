"""The drive: how far the robot is from the reference, and one command for each error."""

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

LONGEST_STEP = 5.0
"""Seconds of the drive from one error to the next; a simulator that hurries may lose some."""


@dataclass(frozen=True)
class DriveToFollow:
    """What whoever leads the drive needs of it.

    ``name``: for the results' folder; ``reference``: with velocities; ``start``,
    ``stop``: first and last time of the drive on the recording's clock [s]; ``length``: of the path
    [m]; ``read``: of the reference and of the recorded IMU, where there is one: what was read, then
    what was found in it that a person should know; ``warnings``: what else a person should know.
    """

    name: str
    reference: Reference
    start: float
    stop: float
    length: float
    read: tuple[tuple[str, ...], ...]
    warnings: tuple[str, ...]

    def save(self, folder: ResultFolder, configuration: str) -> None:
        """Add it to a folder that has the table ``trajectory_data``, for :meth:`load`.

        Raises ResultError. ``configuration``: the text of the config.ini that it was read for.
        """
        facts = {name: value for name, value in vars(self).items() if name != "reference"}
        folder.write_text(_FACTS, format_json({**facts, "configuration": configuration}))

    @classmethod
    def load(cls, folder: ResultFolder, configuration: str) -> DriveToFollow | None:
        """Take out what :meth:`save` added; None if it was nothing, or for another configuration.

        Raises ResultError: the trajectory cannot be read.
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

PREPARATION = (
    "imu_simulation_framework.drive.session.preparation",
    "PreparationSession",
    "the preparation of the drive",
)
"""What prepares a drive, as :class:`.SeparateProcess` wants it: readers of recordings, and tables,
which take 100 MB."""


@contextmanager
def prepared_drive(
    configuration: Configuration, place: str, inform: Callable, warn: Callable
) -> Iterator[tuple[DriveToFollow, ResultFolder]]:
    """Yield what is to be driven and a folder for its results, which is given what was read of it.

    Raises FrameworkError: it cannot be driven. ``place``: folder and prefix where a launcher has
    kept it, empty if none has: then it is read now; ``inform``, ``warn``: called with sentences.
    """
    with ExitStack() as until_written:
        kept = ResultFolder.from_prefix(place) if place else None
        drive = DriveToFollow.load(kept, configuration.to_ini()) if kept else None
        if drive is None:
            preparation = until_written.enter_context(SeparateProcess(*PREPARATION))
            drive, kept = preparation.call("read", configuration), None
        for what_was_read, *found in drive.read:
            inform(what_was_read)
            for sentence in found:
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


def wrong_command(data: Sequence[float], commands: Sequence[str]) -> str:
    """Return what is wrong with the numbers of a command; empty if nothing is.

    ``commands``: names of what they have to be, see :attr:`.Drivetrain.commands`; empty if any
    drivetrain's will do.
    """
    enough = len(data) == len(commands) if commands else len(data) >= len(WHEELS)
    if enough and all(map(math.isfinite, data)):
        return ""
    what = "two finite wheel velocities"
    if len(commands) > len(WHEELS):
        what = f"{len(commands)} finite numbers ({', '.join(commands)})"
    return f"expected {what} on {topics.WHEEL_COMMAND}, got {list(data)}"


class DriveSession:
    """Follows a trajectory from its first to its last control period.

    ``time``: of the drive, that of the newest error [s]; ``finished``: whether the drive is over.
    """

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        self.time = 0.0
        self.finished = False

    @property
    def duration(self) -> float:
        """How long the whole drive takes [s]."""
        return self._follower.reference.duration

    def progress(self, elapsed: float) -> str:
        """Return a sentence on how far the drive is, and how fast it is simulated.

        Parameters
        ----------
        elapsed : float
            Wall-clock time since the first command [s].
        """
        return (
            f"simulated {self.time:.1f} of {self.duration:.1f} s "
            f"({100.0 * self.time / self.duration:.0f} %), {self.time / elapsed:.1f} x real time"
        )

    def first_pose(self):
        """Return where the robot has to stand before the first command, a :class:`.Pose2D`."""
        return self._follower.reference.pose_at(0.0)

    def begin(self) -> tuple[float, ...]:
        """Return the first command, see :attr:`.Drivetrain.commands`."""
        return self._follower.command(0.0)

    def standstill(self) -> tuple[float, ...]:
        """Return the command that stops the robot."""
        return self._follower.standstill()

    def answer(self, time: float, error: TrackingError) -> tuple[float, ...]:
        """Return the command that answers an error; standstill once the drive is over.

        Raises SimulatorError: it is no number, or of another time. ``time``: after the drive's
        beginning [s]; ``error``: of this moment.
        """
        numbers = (time, *error)
        if not all(map(math.isfinite, numbers)):
            raise SimulatorError(
                f"{topics.TRAJECTORY_ERROR}: expected finite numbers, got {list(numbers)}"
            )
        step = time - self.time
        if abs(step) > LONGEST_STEP:
            raise SimulatorError(
                f"{topics.TRAJECTORY_ERROR}: its time jumped by {step:.6g} s after "
                f"{self.time:.2f} s: a stamp is wrong, the simulation was reset, or messages were "
                "lost"
            )
        self.time = time
        self.finished = self._follower.is_finished(time)
        return self.standstill() if self.finished else self._follower.command(time, error)


STAMP_TOLERANCE = 1e-6  # stamps that differ by less are the same instant, s

JUMP_SPEED = 5.0
"""A robot that moves by this much more [m/s] than three times its speed was put elsewhere."""

_TIPPED_OVER = 0.5  # cosine of 60 deg, more than a robot leans that still drives


class TruePose(NamedTuple):
    """Where the robot is at a stamp [ns]: position [m], orientation, and velocity [m/s]."""

    stamp: int
    x: float
    y: float
    orientation: Sequence[float]
    v_x: float
    v_y: float


class TrackedPose(NamedTuple):
    """An error of a stamp [ns], ``time`` [s] after the drive's beginning, and the two poses."""

    stamp: int
    time: float
    error: TrackingError
    reference: Pose2D
    actual: Pose2D


class TrackingSession:
    """Answers the ground truth of each control period with one tracking error.

    Time zero of the experiment is the stamp of the ground truth at which the first wheel
    command was given. In lock-step time stands still until then, so it is the stamp of
    the first ground truth, whichever of the two comes first; otherwise it is the newest ground
    truth when the command comes.

    ``period``: control period [s]; ``lock_step``: whether simulated time stands still until the
    first command.
    """

    def __init__(self, period: float, lock_step: bool) -> None:
        self._period = period
        self._lock_step = lock_step
        self._reference: Reference | None = None
        self._held_stamp: int | None = None
        self._zero: int | None = None
        self._last: tuple[int, float, float] | None = None
        self._answers = 0

    @property
    def begun(self) -> bool:
        """Whether any ground truth has come."""
        return self._held_stamp is not None

    def follow(self, reference: Reference) -> None:
        """Judge the robot against this reference; before, nothing is a first command."""
        self._reference = reference

    def commanded(self) -> None:
        """Learn that a wheel command was given."""
        if self._reference is not None and self._zero is None:
            self._zero = self._held_stamp

    def ground_truth(self, pose: TruePose) -> TrackedPose | None:
        """Take one sample of the ground truth; return the answer if one is due.

        Raises SimulatorError: it is not finite, or during the drive the robot has tipped over, or
        somebody has put it elsewhere.
        """
        # Of a sum one look tells, and this is asked of every message.
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
        self._ensure_driven(pose)
        time = (pose.stamp - self._zero) / NANOSECONDS
        if time < (self._answers + 1) * self._period - STAMP_TOLERANCE:
            return None
        self._ensure_upright(pose)
        # A due message that was lost is not answered late, the next one is.
        self._answers = int((time + STAMP_TOLERANCE) / self._period)
        actual = Pose2D(pose.x, pose.y, fast_yaw(*pose.orientation))
        reference = self._reference.pose_at(time)
        return TrackedPose(pose.stamp, time, tracking_error(reference, actual), reference, actual)

    def _ensure_upright(self, pose) -> None:
        x, y, z, w = pose.orientation
        vertical = w * w + z * z - x * x - y * y
        if vertical < _TIPPED_OVER:
            lean = math.degrees(math.acos(max(-1.0, vertical)))
            raise SimulatorError(
                f"the robot has tipped over: {(pose.stamp - self._zero) / NANOSECONDS:.2f} s after "
                f"the start it leans by {lean:.0f} deg"
            )

    def _ensure_driven(self, pose) -> None:
        last, self._last = self._last, (pose.stamp, pose.x, pose.y)
        if last is None:
            return
        moved = math.hypot(pose.x - last[1], pose.y - last[2])
        elapsed = (pose.stamp - last[0]) / NANOSECONDS
        # Half a period more: a simulator may say its speed of a step before.
        longest = abs(elapsed) + 0.5 * self._period
        if moved <= JUMP_SPEED * longest:
            return
        if moved > (JUMP_SPEED + 3.0 * math.hypot(pose.v_x, pose.v_y)) * longest:
            raise SimulatorError(
                f"the robot was moved {moved:.2f} m within {elapsed:.2f} s, "
                f"{(pose.stamp - self._zero) / NANOSECONDS:.2f} s after the start: somebody has "
                "set its pose"
            )
