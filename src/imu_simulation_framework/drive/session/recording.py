"""What is recorded of a drive, which messages belong to it, and when all is there."""

from __future__ import annotations

import json
import math
from typing import Any, Collection, NamedTuple, Sequence

import numpy as np

from ...core import topics
from ...core.errors import SimulatorError
from ...core.stamps import NANOSECONDS, count_periods
from ...core.tables import WHEELS
from ...sensors.gnss.specification import GnssSpecification
from ...sensors.odometer import OdometerSpecification
from ..configuration import Configuration
from ..experiment.gnss_and_odometer import experiment_gnss, experiment_odometer
from ..experiment.imu import describe_imu, imu_sampling
from ..experiment.robot import experiment_robot
from ..results.files import ResultFolder
from ..results.record import ExperimentRecord, Stream
from ..tracking.controllers import TrackingError

LONGEST_GAP = 5 * NANOSECONDS
"""From one stamp to the next [ns] in the drive; what jumps farther is wrong, or much is lost."""


WHEELS_PERIOD = 0.2
"""Simulated seconds at least between two messages with the wheels' angles and velocities:
robot_state_publisher makes no more transforms of them, though for every message it asks the master
three times."""

ROUNDING = 1000  # stamps of one instant may differ by so much [ns]


def ticks_between_wheels(control_period: float) -> int:
    """Return how many control periods [s] pass from one sample of the wheels to the next."""
    return max(1, math.ceil(WHEELS_PERIOD / control_period - 1e-6))


def velocities_of_sides(rows, columns: int = len(WHEELS)) -> np.ndarray:
    """Return how fast each side turns, left and right, as the mean of its wheels, and what steers.

    ``rows`` (ndarray, shape (n, m)): as :meth:`.RobotParameters.motor_rows` has them; ``columns``:
    how many the returned array has, those of :attr:`.Drivetrain.commands`.
    """
    driven = rows.shape[1] - columns + len(WHEELS)
    sides = rows[:, :driven].reshape(len(rows), len(WHEELS), -1).mean(axis=2)
    return np.concatenate([sides, rows[:, driven:]], axis=1)


class RecordingSession:
    """Records an experiment from before the first wheel command to the end of the drive.

    ``control_period`` [s]; ``gnss``, ``odometer``: of a receiver and of an odometer on the robot;
    ``commands``: of its drivetrain.
    ``zero``: stamp of the drive's beginning [ns], which the first tracking error tells; ``over``:
    whether what still comes belongs to no drive any more.
    """

    def __init__(
        self,
        control_period: float,
        gnss: GnssSpecification | None = None,
        odometer: OdometerSpecification | None = None,
        commands: Sequence[str] = WHEELS,
    ) -> None:
        self._control_period = control_period
        self._wheels_period = ticks_between_wheels(control_period) * control_period
        self._duration: float | None = None
        self.record = ExperimentRecord(commands)
        if gnss is not None:
            self.record.add_receiver(gnss.latency + gnss.latency_jitter)
        self._odometer = odometer
        if odometer is not None:
            self.record.add_odometer()
        self.zero: int | None = None
        self.over = False

    @classmethod
    def of(cls, configuration: Configuration) -> RecordingSession:
        """Return that of an experiment."""
        gnss = experiment_gnss(configuration)
        odometer = experiment_odometer(configuration)
        commands = experiment_robot(configuration).drivetrain.commands
        return cls(1.0 / configuration.control.rate, gnss, odometer, commands)

    def ends_after(self, duration: float) -> None:
        """Say how long the whole drive takes [s]; before, it is not complete."""
        self._duration = duration

    @property
    def begun(self) -> bool:
        """Whether anything of the drive is recorded."""
        return self.zero is not None and self.record.ground_truth.newest is not None

    @property
    def complete(self) -> bool:
        """Whether everything until the drive's end is recorded."""
        end = self._planned_end()
        if end is None or not self.record.complete_until(end):
            return False
        if self._odometer is not None and not self._has_last_reading(self._odometer.rate, end):
            return False
        # Samples of the wheels are few, and the last one may come after all else.
        wheels = self.record.wheels.newest
        period = round(self._wheels_period * NANOSECONDS)
        return wheels is None or wheels + period > end + ROUNDING

    def _has_last_reading(self, rate: float, end: int) -> bool:
        stream = self.record.odometer
        if stream.newest is None:
            return False
        first, _ = stream.rows(0, 1)
        newest, last = count_periods(int(first[0]), np.array([stream.newest, end]), rate)
        return bool(newest >= last)

    @property
    def arrived(self) -> bool:
        """Whether the robot was at the drive's end, though messages may still be missing."""
        end, errors = self._planned_end(), self.record.errors.newest
        return end is not None and errors is not None and errors + ROUNDING >= end

    @property
    def recorded_until(self) -> int:
        """Sum of the newest stamps of IMU and ground truth [ns], none after the drive's end."""
        end = self._planned_end()
        newest = (self.record.imu.newest, self.record.ground_truth.newest)
        return 0 if end is None else sum(min(stamp or 0, end) for stamp in newest)

    def end(self) -> int:
        """Stamp [ns] until which there is something to evaluate, of a recording that has begun.

        An experiment that is ended in the middle of a control period has the ground truth
        already, the IMU not yet, or the reverse. If more than that is missing it was lost, and
        shall be missed.
        """
        truth, imu = self.record.ground_truth.newest, self.record.imu.newest
        period = self._control_period * NANOSECONDS
        newest = imu if imu is not None and truth - period <= imu < truth else truth
        planned = self._planned_end()
        return newest if planned is None else min(planned, newest)

    def _planned_end(self) -> int | None:
        if self.zero is None or self._duration is None:
            return None
        return self.zero + round(self._duration * NANOSECONDS)

    def add_command(self, *commands: float) -> None:
        """Record what the drivetrain was commanded."""
        if not self.over:
            self.record.append_command(*commands)

    def add_imu(self, stamps, rows) -> None:
        """Record samples of the IMU.

        Raises SimulatorError: a stamp is far from the one before; what is before it is recorded.
        ``stamps`` (ndarray of int, shape (n,)) [ns]; ``rows`` (ndarray, shape (n, 10)): as
        :class:`.ExperimentRecord` takes them.
        """
        self._add(self.record.imu, topics.IMU, stamps, rows)

    def add_magnetic_field(self, stamps, rows) -> None:
        """Record samples of the IMU's magnetometer [T], ``rows`` (n, 3); see :meth:`add_imu`."""
        self._add(self.record.magnetometer, topics.IMU_MAG, stamps, rows)

    def add_ground_truth(self, stamps, rows) -> None:
        """Record samples of the ground truth, ``rows`` (n, 10); see :meth:`add_imu`."""
        self._add(self.record.ground_truth, topics.GROUND_TRUTH, stamps, rows)

    def add_wheels(self, stamps, rows) -> None:
        """Record how the motors turn, ``rows`` (n, m), all of them.

        See :meth:`add_imu`, and :func:`velocities_of_sides`.
        """
        if len(stamps):
            rows = velocities_of_sides(rows, len(self.record.wheels.columns))
        self._add(self.record.wheels, topics.JOINT_STATES, stamps, rows)

    def add_odometry(self, stamps, rows) -> None:
        """Record what an odometer said, ``rows`` (n, columns); it may be slow."""
        if not self.over and len(stamps):
            self.record.odometer.append_rows(stamps, rows)

    def add_fixes(self, kind: str, stamps, rows) -> None:
        """Record what a GNSS receiver said; see :meth:`.ExperimentRecord.append_fixes`.

        In an outage it says nothing for any time.
        """
        if not self.over and len(stamps):
            self.record.append_fixes(kind, stamps, rows)

    def add_error(self, stamp: int, time: float, error: TrackingError) -> None:
        """Record a tracking error at a stamp [ns], ``time`` [s] after the drive's beginning."""
        if self.zero is None:
            self.zero = stamp - round(time * NANOSECONDS)
        self._add_one(self.record.errors, topics.TRAJECTORY_ERROR, stamp, (*error, time))

    def _add(self, stream: Stream, topic: str, stamps, rows) -> None:
        if self.over or not len(stamps):  # in Gazebo time goes on while the figures are drawn
            return
        newest = stream.newest
        if self.zero is None or newest is None or max(stamps.tolist()) - newest <= LONGEST_GAP:
            stream.append_rows(stamps, rows)
            return
        for stamp, row in zip(stamps.tolist(), rows):
            self._add_one(stream, topic, stamp, row)

    def _add_one(self, stream: Stream, topic: str, stamp: int, row) -> None:
        if self.over:
            return
        newest = stream.newest
        if self.zero is not None and newest is not None and stamp - newest > LONGEST_GAP:
            raise SimulatorError(
                f"the stamps on {topic} jumped by {(stamp - newest) / NANOSECONDS:.6g} s: one is "
                "wrong, or messages were lost"
            )
        stream.append(stamp, row)


ERROR_ROUNDING = 1e-6  # the drive's end, as a tracking error tells it, may be off by so much [s]

_NOT_TO_THE_END = (
    *(topics.YAW_REAL, topics.YAW_ERROR_REAL),
    *(topics.GNSS_FIX, topics.GNSS_VELOCITY, topics.GNSS_HEADING, topics.ODOMETER),
)
"""Topics whose last message of a drive may be from before its end: the recorded IMU may have ended,
a receiver has few fixes, which come late, and an odometer has a rate of its own."""


_LATCHED = (topics.STATIC_TRANSFORMS, topics.IMU_CALIBRATION)
"""Topics whose messages hold until another one comes: those before the drive count, too."""


class HeardMessage(NamedTuple):
    """A message: its topic, its stamp [ns], or that of the clock, and what it says."""

    topic: str
    stamp: int
    content: Any


class MessageSession:
    """Chooses the messages of a drive.

    A simulator that waits for its first command repeats itself: of several messages with one stamp
    on one topic the last counts. What is sent later than a control period after the drive's end
    belongs to no drive. Static transforms hold at all times, whenever they are said: they count as
    of its first message, and so does what else was said before it and holds on.

    ``control_period`` [s]; ``clock``: topic whose stamps say when a message without one was sent;
    ``lock_step``: whether time stands still until a command comes, so that its number says when.
    """

    def __init__(
        self, control_period: float, clock: str = topics.CLOCK, lock_step: bool = False
    ) -> None:
        self._clock = clock
        self._lock_step = lock_step
        self._zero: int | None = None
        self._untimed: list[tuple[int, HeardMessage]] = []
        self._period = round(control_period * NANOSECONDS)
        self._wheels_period = ticks_between_wheels(control_period) * self._period
        self._duration: float | None = None
        self._most_commands = 0
        self._end: int | None = None
        self._now = 0
        self._newest: dict[str, HeardMessage] = {}
        self._errors = self._commands = 0
        self._static: list[tuple[str, Any]] = []
        self._first: int | None = None

    def ends_after(self, duration: float) -> None:
        """Say how long the whole drive takes [s]; before, nothing is chosen."""
        self._duration = duration
        # The first, an answer to each control period, and one where those are not in step with it.
        answers = math.ceil(duration * NANOSECONDS / self._period)
        self._most_commands = 1 + answers + (not self._lock_step)

    @property
    def is_end_known(self) -> bool:
        """Whether it is known when the drive began."""
        return self._end is not None

    def take_error(self, stamp: int, time: float) -> None:
        """Learn the drive's end from the stamp [ns] of a tracking error, ``time`` [s] after it."""
        if self._end is None and self._duration is not None:
            self._zero = stamp - round(time * NANOSECONDS)
            self._end = stamp + round((self._duration - time - ERROR_ROUNDING) * NANOSECONDS)

    def take(self, topic: str, stamp: int | None, content) -> list[HeardMessage]:
        """Take a message; return those that are certain to count now, and did not before.

        ``stamp`` [ns]; None for a message without one, which is of the time that the clock says.
        """
        is_static = topic == topics.STATIC_TRANSFORMS
        if is_static or (topic in _LATCHED and self._first is None):
            self._static = [one for one in self._static if is_static or one[0] != topic]
            self._static.append((topic, content))
            return self._with_static([])
        return self._with_static(self._take(topic, stamp, content))

    def _take(self, topic, stamp, content):
        if topic == self._clock and stamp is not None:
            self._now = stamp
        self._commands += topic == topics.WHEEL_COMMAND
        if self._duration is None:
            return []
        if stamp is None:
            message = HeardMessage(topic, self._now, content)
            if topic == topics.WHEEL_COMMAND:
                return self._commanded(message)
            return self._of_the_drive(message)
        earlier = self._newest.get(topic)
        # Of the drive: its last command is a step more, and that step's error answers nothing.
        is_next = earlier is None or earlier.stamp != stamp
        if topic == topics.TRAJECTORY_ERROR and is_next and not self.over:
            self._errors += 1
        self._newest[topic] = HeardMessage(topic, stamp, content)
        if earlier is None or earlier.stamp == stamp:
            return []
        return self._of_the_drive(earlier)

    def rest(self) -> list[HeardMessage]:
        """Return the last message of each topic, once nothing follows."""
        last = [m for message in self._newest.values() for m in self._of_the_drive(message)]
        return self._with_static([*self._timed(), *last])

    def _with_static(self, messages):
        """Put before the messages that count what was said of all times, as of the first of all."""
        if self._first is None and messages:
            self._first = min(message.stamp for message in messages)
        if self._first is None:
            return []
        static, self._static = self._static, []
        said = [HeardMessage(topic, self._first, content) for topic, content in static]
        return [*said, *messages]

    @property
    def over(self) -> bool:
        """Whether the drive's last tracking error is there."""
        newest = self._newest.get(topics.TRAJECTORY_ERROR)
        return self._end is not None and newest is not None and newest.stamp >= self._end

    @property
    def complete(self) -> bool:
        """Whether the last message of the drive is there on each topic that has any.

        A command begins the drive, and each error is
        answered with one.
        """
        if self._end is None or 0 < self._commands <= self._errors:
            return False
        return not self.incomplete

    @property
    def incomplete(self) -> list[str]:
        """Topics that have messages, but not the last one of the drive."""
        end = math.inf if self._end is None else self._end
        return [
            topic
            for topic, message in self._newest.items()
            if topic not in _NOT_TO_THE_END
            and message.stamp < end
            and not (topic == topics.JOINT_STATES and message.stamp > end - self._wheels_period)
        ]

    def _commanded(self, command) -> list[HeardMessage]:
        """Return a command if it is of the drive, which its number tells.

        On a busy machine the clock may have been read up to its end, and beyond, before it.
        """
        answers_nothing = self.over and self._commands > self._errors + 1
        if answers_nothing or self._commands > self._most_commands:
            return []
        if self._lock_step:
            self._untimed.append((self._commands, command))
            return [] if self._zero is None else self._timed()
        if self._end is None:
            return [command]
        return [command._replace(stamp=min(command.stamp, self._end + self._period))]

    def _timed(self) -> list[HeardMessage]:
        """Return commands with the times at which they were given, if it is known when it began."""
        commands, self._untimed, zero = self._untimed, [], self._zero
        if zero is None:
            return [command for _, command in commands]
        return [one._replace(stamp=zero + (n - 1) * self._period) for n, one in commands]

    def _of_the_drive(self, message) -> list[HeardMessage]:
        late = self._end is not None and message.stamp > self._end + self._period
        return [] if late else [message]


DRIVE, RECORDED_IMU = "drive", "recorded_imu"
"""Keys of recording.json with the drive's name, and with what is reported of the recorded IMU."""


def experiment_facts(folder: ResultFolder, configuration: Configuration) -> dict[str, Any]:
    """Return what a summary reports of an experiment before anything is recorded.

    Parameters
    ----------
    folder : ResultFolder
        With the ``recording.json`` that was prepared before the drive.
    configuration : Configuration
        Of the experiment.

    Returns
    -------
    dict
        Part of the summary's ``run``: drive, simulator, IMU, controller, seed and recording.

    Raises
    ------
    ResultError
        ``recording.json`` is not there.
    """
    recording = json.loads(folder.read_text("recording.json"))
    drive, recorded_imu = recording.pop(DRIVE, None), recording.pop(RECORDED_IMU, None)
    return {
        "drive": drive,
        "trajectory_scale": configuration.trajectory.scale,
        "simulator": configuration.simulation.simulator,
        "imu": describe_imu(configuration),
        "controller": configuration.control.controller,
        "control_period_s": 1.0 / configuration.control.rate,
        "seed": configuration.experiment.seed,
        "recording": recording,
        "recorded_imu": recorded_imu,
    }


def write_results(
    folder: ResultFolder,
    configuration: Configuration,
    session: RecordingSession,
    wall_time: float,
    irregular: Collection[str] = (),
) -> dict:
    """Write what was recorded: tables, summary, figures.

    Raises ResultError: a file cannot be written; what was recorded stays. Returns the summary.
    ``folder``: with what was prepared before the drive; ``session``: it has begun; what it has kept
    in files is discarded once the tables are written; ``wall_time``: wall-clock seconds that the
    drive took; ``irregular``: which of imu_simulated and ground_truth are not measured at exactly
    equal intervals, so that their stamps say how many samples there should be.
    """
    # Imported here: before the drive's end nothing is written and drawn, which takes 150 MB.
    from ..report import write_results
    from ..results.files import ExperimentTables, load_table, write_recorded_tables
    from ..summary import RunDescription

    facts = experiment_facts(folder, configuration)
    recorded_imu = facts["recorded_imu"]
    record, zero, end, completed = session.record, session.zero, session.end(), session.complete
    assert zero is not None
    # If they cannot be written the samples stay.
    record.flush()
    recorded = write_recorded_tables(folder, record, zero, end)
    tables = ExperimentTables(
        trajectory_data=folder.read_table("trajectory_data"),
        reference=folder.read_table("reference"),
        fixes=load_table(folder, "fixes"),
        # A long recording should not be in memory as a whole.
        imu_real=None if recorded_imu is None else folder.read_table("imu_real", ["yaw"]),
        **recorded,
    )
    rate = configuration.imu.rate
    imu, truth = record.imu, record.ground_truth
    expected = {
        "ground_truth": truth.expected(rate, 0.0, zero, end),
        "imu_simulated": imu.expected(*imu_sampling(configuration), zero, end),
    }
    expected = {name: count for name, count in expected.items() if name not in irregular}
    backwards = {"imu_simulated": imu.backwards, "ground_truth": truth.backwards}
    record.discard()
    run = {"completed": completed, **facts, "messages_out_of_order": backwards}
    return write_results(
        folder,
        tables,
        configuration.comparison,
        RunDescription(run, {"wall_time_s": wall_time}, expected),
        save_tables=False,
        formats=configuration.experiment.formats,
    )
