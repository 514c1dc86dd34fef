"""Sessions that record a drive, select its messages and detect its end."""

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
from ..experiment.robot import experiment_robot, robot_name
from ..results.files import ResultFolder
from ..results.record import ExperimentRecord, Stream
from ..tracking.controllers import TrackingError

# Largest accepted gap between stamps [ns]; a larger gap indicates a wrong stamp or lost messages.
MAX_GAP = 5 * NANOSECONDS

# Minimum period of joint states [s]; robot_state_publisher calls the ROS master per message.
WHEELS_PERIOD = 0.2

ROUNDING = 1000  # ns; largest difference between stamps that are treated as identical


def ticks_between_wheels(control_period: float) -> int:
    """Return the number of control periods between two wheel samples.

    Parameters
    ----------
    control_period : float
        Control period [s].

    Returns
    -------
    int
        Number of periods, at least one.
    """
    return max(1, math.ceil(WHEELS_PERIOD / control_period - 1e-6))


def average_sides(rows, columns: int = len(WHEELS)) -> np.ndarray:
    """Average the wheel velocities on each side.

    Parameters
    ----------
    rows : ndarray, shape (n, m)
        Rows of :meth:`.RobotParameters.motor_rows`.
    columns : int
        Number of :attr:`.Drivetrain.commands`.

    Returns
    -------
    ndarray, shape (n, columns)
        Velocities of the left and the right side [rad/s], then steering angles [rad].
    """
    driven = rows.shape[1] - columns + len(WHEELS)
    sides = rows[:, :driven].reshape(len(rows), len(WHEELS), -1).mean(axis=2)
    return np.concatenate([sides, rows[:, driven:]], axis=1)


class RecordingSession:
    """Session that records the samples of an experiment until the end of the drive.

    Samples before the first wheel command are also recorded.

    Parameters
    ----------
    control_period : float
        Control period [s].
    gnss : GnssSpecification, optional
        Specification of a GNSS receiver on the robot.
    odometer : OdometerSpecification, optional
        Specification of an odometer on the robot.
    commands : sequence of str
        Command names of the drivetrain.

    Attributes
    ----------
    record : ExperimentRecord
        Recorded samples.
    zero : int or None
        Stamp of the start of the drive [ns]; None before the first tracking error.
    over : bool
        Whether the recording has ended, so that further messages are ignored.
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
    def from_configuration(cls, configuration: Configuration) -> RecordingSession:
        """Create the session for a configured experiment.

        Parameters
        ----------
        configuration : Configuration
            Settings of the experiment.

        Returns
        -------
        RecordingSession
            Session without samples.
        """
        gnss = experiment_gnss(configuration)
        odometer = experiment_odometer(configuration)
        commands = experiment_robot(configuration).drivetrain.commands
        return cls(1.0 / configuration.control.rate, gnss, odometer, commands)

    def ends_after(self, duration: float) -> None:
        """Set the duration of the drive, which determines when the drive is complete.

        Parameters
        ----------
        duration : float
            Duration of the complete drive [s].
        """
        self._duration = duration

    @property
    def begun(self) -> bool:
        """Whether the recording contains samples of the drive."""
        return self.zero is not None and self.record.ground_truth.newest is not None

    @property
    def complete(self) -> bool:
        """Whether all samples until the end of the drive are recorded."""
        end = self._planned_end()
        if end is None or not self.record.complete_until(end):
            return False
        if self._odometer is not None and not self._has_last_reading(self._odometer.rate, end):
            return False
        if not self._has_last_field(end):
            return False
        # Wheel samples are rare, and the last sample may arrive after all other messages.
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

    def _has_last_field(self, end: int) -> bool:
        """Return whether the next magnetometer sample would be after the end of the drive."""
        stream = self.record.magnetometer
        if stream.newest is None:
            return True
        newest, _ = stream.rows(max(0, len(stream) - 2), len(stream))
        return bool(newest[-1] + (newest[-1] - newest[0]) + ROUNDING > end)

    @property
    def arrived(self) -> bool:
        """Whether the robot has reached the end of the drive; messages may still be missing."""
        end, errors = self._planned_end(), self.record.errors.newest
        return end is not None and errors is not None and errors + ROUNDING >= end

    @property
    def recorded_until(self) -> int:
        """Measure of progress: sum of the newest IMU and ground truth stamps in the drive [ns]."""
        end = self._planned_end()
        newest = (self.record.imu.newest, self.record.ground_truth.newest)
        return 0 if end is None else sum(min(stamp or 0, end) for stamp in newest)

    def end(self) -> int:
        """Return the end of the evaluated interval, as a stamp.

        If an experiment is interrupted within a control period, the IMU may end up to one period
        before the ground truth; the last IMU stamp is then the end. A larger difference is treated
        as lost messages.

        Returns
        -------
        int
            Stamp [ns].
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
        """Record a command of the drivetrain.

        Parameters
        ----------
        *commands : float
            Commands as in :attr:`.Drivetrain.commands`.
        """
        if not self.over:
            self.record.append_command(*commands)

    def add_imu(self, stamps, rows) -> None:
        """Record IMU samples.

        Parameters
        ----------
        stamps : ndarray of int, shape (n,)
            Stamps [ns].
        rows : ndarray, shape (n, 10)
            Orientation, angular velocity and specific force, see :class:`.ExperimentRecord`.

        Raises
        ------
        SimulatorError
            A stamp jumps by more than five seconds. The samples before the jump are recorded.
        """
        self._add(self.record.imu, topics.IMU, stamps, rows)

    def add_magnetic_field(self, stamps, rows) -> None:
        """Record magnetometer samples, see :meth:`add_imu`.

        Parameters
        ----------
        stamps : ndarray of int, shape (n,)
            Stamps [ns].
        rows : ndarray, shape (n, 3)
            Magnetic field in the axes of the IMU [T].
        """
        self._add(self.record.magnetometer, topics.IMU_MAG, stamps, rows)

    def add_ground_truth(self, stamps, rows) -> None:
        """Record ground truth samples, see :meth:`add_imu`.

        Parameters
        ----------
        stamps : ndarray of int, shape (n,)
            Stamps [ns].
        rows : ndarray, shape (n, 13)
            Position [m], quaternion x, y, z, w, velocity [m/s] and angular velocity [rad/s].
        """
        self._add(self.record.ground_truth, topics.GROUND_TRUTH, stamps, rows)

    def add_wheels(self, stamps, rows) -> None:
        """Record the states of all motors, see :meth:`add_imu` and :func:`average_sides`.

        Parameters
        ----------
        stamps : ndarray of int, shape (n,)
            Stamps [ns].
        rows : ndarray, shape (n, motors)
            States of the motors, see :meth:`.RobotParameters.motor_rows`.
        """
        if len(stamps):
            rows = average_sides(rows, len(self.record.wheels.columns))
        self._add(self.record.wheels, topics.JOINT_STATES, stamps, rows)

    def add_odometry(self, stamps, rows) -> None:
        """Record odometer samples, whose stamps may have gaps.

        Parameters
        ----------
        stamps : ndarray of int, shape (n,)
            Stamps [ns].
        rows : ndarray, shape (n, columns)
            Output of the odometer.
        """
        if not self.over and len(stamps):
            self.record.odometer.append_rows(stamps, rows)

    def add_fixes(self, kind: str, stamps, rows) -> None:
        """Record messages of a GNSS receiver; see :meth:`.ExperimentRecord.append_fixes`.

        Gaps between stamps are accepted, because a receiver may have outages.

        Parameters
        ----------
        kind : str
            Type of output, see :meth:`.ExperimentRecord.append_fixes`.
        stamps : ndarray of int, shape (n,)
            Stamps [ns].
        rows : ndarray, shape (n, columns)
            Values of the output.
        """
        if not self.over and len(stamps):
            self.record.append_fixes(kind, stamps, rows)

    def add_error(self, stamp: int, time: float, error: TrackingError) -> None:
        """Record a tracking error.

        Parameters
        ----------
        stamp : int
            Stamp [ns].
        time : float
            Time since the start of the drive [s].
        error : TrackingError
            Tracking error.
        """
        if self.zero is None:
            self.zero = stamp - round(time * NANOSECONDS)
        self._add_sample(self.record.errors, topics.TRAJECTORY_ERROR, stamp, (*error, time))

    def _add(self, stream: Stream, topic: str, stamps, rows) -> None:
        # Gazebo still publishes samples while the figures are drawn.
        if self.over or not len(stamps):
            return
        newest = stream.newest
        if self.zero is None or newest is None or max(stamps.tolist()) - newest <= MAX_GAP:
            stream.append_rows(stamps, rows)
            return
        for stamp, row in zip(stamps.tolist(), rows):
            self._add_sample(stream, topic, stamp, row)

    def _add_sample(self, stream: Stream, topic: str, stamp: int, row) -> None:
        if self.over:
            return
        newest = stream.newest
        if self.zero is not None and newest is not None and stamp - newest > MAX_GAP:
            raise SimulatorError(
                f"{topic}: the stamps jumped by {(stamp - newest) / NANOSECONDS:.6g} s; a stamp is "
                "wrong, or messages were lost"
            )
        stream.append(stamp, row)


ERROR_ROUNDING = 1e-6  # s; tolerance for rounding of the time in a tracking error message

# Topics whose last message may arrive well before the end of the drive.
_INDEPENDENT_OF_END = (
    *(topics.YAW_REAL, topics.YAW_ERROR_REAL),
    *(topics.GNSS_FIX, topics.GNSS_VELOCITY, topics.GNSS_HEADING, topics.ODOMETER),
)

# Latched topics, whose last message before the drive also belongs to the drive.
_LATCHED = (topics.STATIC_TRANSFORMS, topics.IMU_CALIBRATION)


class StampedMessage(NamedTuple):
    """Message with topic and stamp.

    Attributes
    ----------
    topic : str
        Name of the topic.
    stamp : int
        Stamp [ns]; for a message without a stamp, the time of the clock.
    content : object
        Content of the message.
    """

    topic: str
    stamp: int
    content: Any


class MessageSession:
    """Session that selects the messages that belong to a drive.

    A simulator repeats its messages while it waits for the first command, so that only the last
    message with the same topic and stamp is selected. Messages later than one control period after
    the end of the drive are omitted. Static transforms, which are valid at all times, and other
    latched messages from before the drive get the stamp of the first message.

    Parameters
    ----------
    control_period : float
        Control period [s].
    clock : str
        Topic of the clock, whose time is used for messages without a stamp.
    lock_step : bool
        Whether the simulator waits for each command, so that the command count determines the time.
    """

    def __init__(
        self, control_period: float, clock: str = topics.CLOCK, lock_step: bool = False
    ) -> None:
        self._clock = clock
        self._lock_step = lock_step
        self._zero: int | None = None
        self._untimed: list[tuple[int, StampedMessage]] = []
        self._period = round(control_period * NANOSECONDS)
        self._wheels_period = ticks_between_wheels(control_period) * self._period
        self._duration: float | None = None
        self._max_commands = 0
        self._end: int | None = None
        self._now = 0
        self._newest: dict[str, StampedMessage] = {}
        self._errors = self._commands = 0
        self._static: list[tuple[str, Any]] = []
        self._first: int | None = None

    def ends_after(self, duration: float) -> None:
        """Set the duration of the drive, which is required for selecting messages.

        Parameters
        ----------
        duration : float
            Duration of the complete drive [s].
        """
        self._duration = duration
        # One initial command, one command per control period, and without lock-step one more.
        periods = math.ceil(duration * NANOSECONDS / self._period)
        self._max_commands = 1 + periods + (not self._lock_step)

    @property
    def is_end_known(self) -> bool:
        """Whether the start and the end of the drive are known."""
        return self._end is not None

    def take_error(self, stamp: int, time: float) -> None:
        """Determine the start and the end of the drive from a tracking error.

        Parameters
        ----------
        stamp : int
            Stamp [ns].
        time : float
            Time since the start of the drive [s].
        """
        if self._end is None and self._duration is not None:
            self._zero = stamp - round(time * NANOSECONDS)
            self._end = stamp + round((self._duration - time - ERROR_ROUNDING) * NANOSECONDS)

    def take(self, topic: str, stamp: int | None, content) -> list[StampedMessage]:
        """Process a message; return the messages that are now known to belong to the drive.

        Parameters
        ----------
        topic : str
            Topic of the message.
        stamp : int or None
            Stamp [ns]; None for a message without a stamp, to which the clock time is assigned.
        content : object
            Content of the message.

        Returns
        -------
        list of StampedMessage
            Messages with their stamps [ns].
        """
        is_static = topic == topics.STATIC_TRANSFORMS
        if is_static or (topic in _LATCHED and self._first is None):
            self._static = [entry for entry in self._static if is_static or entry[0] != topic]
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
            message = StampedMessage(topic, self._now, content)
            if topic == topics.WHEEL_COMMAND:
                return self._select_command(message)
            return self._select(message)
        earlier = self._newest.get(topic)
        # The tracking error after the last command is outside the drive and requires no command.
        is_next = earlier is None or earlier.stamp != stamp
        if topic == topics.TRAJECTORY_ERROR and is_next and not self.over:
            self._errors += 1
        self._newest[topic] = StampedMessage(topic, stamp, content)
        if earlier is None or earlier.stamp == stamp:
            return []
        return self._select(earlier)

    def remaining(self) -> list[StampedMessage]:
        """Return the last message of each topic; call this after all topics have been read.

        Returns
        -------
        list of StampedMessage
            Messages that belong to the drive.
        """
        last = [m for message in self._newest.values() for m in self._select(message)]
        return self._with_static([*self._release_commands(), *last])

    def _with_static(self, messages):
        """Prepend the latched messages, with the stamp of the first message."""
        if self._first is None and messages:
            self._first = min(message.stamp for message in messages)
        if self._first is None:
            return []
        static, self._static = self._static, []
        latched = [StampedMessage(topic, self._first, content) for topic, content in static]
        return [*latched, *messages]

    @property
    def over(self) -> bool:
        """Whether the last tracking error of the drive was received."""
        newest = self._newest.get(topics.TRAJECTORY_ERROR)
        return self._end is not None and newest is not None and newest.stamp >= self._end

    @property
    def complete(self) -> bool:
        """Whether the last message of the drive was received on all active topics.

        A drive has one more command than tracking errors.
        """
        if self._end is None or 0 < self._commands <= self._errors:
            return False
        return not self.incomplete

    @property
    def incomplete(self) -> list[str]:
        """Active topics on which the last message of the drive is missing."""
        end = math.inf if self._end is None else self._end
        return [
            topic
            for topic, message in self._newest.items()
            if topic not in _INDEPENDENT_OF_END
            and message.stamp < end
            and not (topic == topics.JOINT_STATES and message.stamp > end - self._wheels_period)
        ]

    def _select_command(self, command) -> list[StampedMessage]:
        """Return a command if its sequence number is within the drive.

        On a busy machine, the clock may pass the end of the drive before the last command arrives.
        """
        is_surplus = self.over and self._commands > self._errors + 1
        if is_surplus or self._commands > self._max_commands:
            return []
        if self._lock_step:
            self._untimed.append((self._commands, command))
            return [] if self._zero is None else self._release_commands()
        if self._end is None:
            return [command]
        return [command._replace(stamp=min(command.stamp, self._end + self._period))]

    def _release_commands(self) -> list[StampedMessage]:
        """Return the stored commands, with stamps if the start of the drive is known."""
        commands, self._untimed, zero = self._untimed, [], self._zero
        if zero is None:
            return [command for _, command in commands]
        return [c._replace(stamp=zero + (n - 1) * self._period) for n, c in commands]

    def _select(self, message) -> list[StampedMessage]:
        is_late = self._end is not None and message.stamp > self._end + self._period
        return [] if is_late else [message]


DRIVE, RECORDED_IMU = "drive", "recorded_imu"
"""Keys in recording.json: name of the drive, and report on the recorded IMU."""


def experiment_facts(folder: ResultFolder, configuration: Configuration) -> dict[str, Any]:
    """Return the summary entries that are known before the drive.

    Parameters
    ----------
    folder : ResultFolder
        Folder with ``recording.json`` from the preparation.
    configuration : Configuration
        Configuration of the experiment.

    Returns
    -------
    dict
        Entries of ``run`` in the summary: drive, simulator, robot, IMU, controller, seed and
        recording.

    Raises
    ------
    ResultError
        ``recording.json`` is missing.
    """
    recording = json.loads(folder.read_text("recording.json"))
    drive, recorded_imu = recording.pop(DRIVE, None), recording.pop(RECORDED_IMU, None)
    return {
        "drive": drive,
        "trajectory_scale": configuration.trajectory.scale,
        "simulator": configuration.simulation.simulator,
        "robot": robot_name(configuration),
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
    """Write the tables, the summary and the figures of a recorded drive.

    Parameters
    ----------
    folder : ResultFolder
        Folder with the tables from the preparation.
    configuration : Configuration
        Configuration of the experiment.
    session : RecordingSession
        Recording of the drive. Its sample files are removed after the tables are written.
    wall_time : float
        Wall-clock duration of the drive [s].
    irregular : collection of str
        Names of the tables with irregular sampling, ``imu_simulated`` or ``ground_truth``; their
        expected number of samples is estimated from the stamps.

    Returns
    -------
    dict
        Summary of the experiment.

    Raises
    ------
    ResultError
        A file cannot be written. The sample files remain.
    """
    # These modules need 150 MB and are therefore imported only after the drive.
    from ..report import write_results
    from ..results.files import ExperimentTables, load_table, write_recorded_tables
    from ..summary import RunDescription

    facts = experiment_facts(folder, configuration)
    recorded_imu = facts["recorded_imu"]
    record, zero, end, completed = session.record, session.zero, session.end(), session.complete
    assert zero is not None
    # If the tables cannot be written, the sample files remain.
    record.flush()
    recorded = write_recorded_tables(folder, record, zero, end)
    tables = ExperimentTables(
        trajectory_data=folder.read_table("trajectory_data"),
        reference=folder.read_table("reference"),
        fixes=load_table(folder, "fixes"),
        # To save memory, only the columns needed for the evaluation are loaded.
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
