"""The node realistic_imu without any ROS: its arguments, and what it makes of messages."""

from __future__ import annotations

import dataclasses
import json
import math
import time
from collections import deque
from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np
from scipy.spatial.transform import Rotation

from ..core import topics
from ..core.angles import difference, yaw_from_quaternion
from ..core.errors import ConfigurationError, prefix_errors
from ..core.sentences import quote, shorten
from ..core.settings import LARGEST_SEED, Settings, declared, setting
from ..core.stamps import NANOSECONDS
from ..core.units import WORLD_GRAVITY
from ..recordings import messages
from ..sensors.errors_in_motion import understated_in_motion
from ..sensors.formats.registry import named_imu
from ..sensors.imu_models.bno055_modes import CalibrationTexts
from ..sensors.imu_specification import ImuSpecification
from ..sensors.magnetism.environment import read_magnetic_environment
from ..sensors.operation import Operation
from .node_sessions import Diagnostic, Session, Shell
from .session import RealisticImu
from .surroundings import NO_MOTORS, Surroundings, WheelEfforts
from .truth import NO_ORIENTATION, ImuInput, Mounting, OdometryTruth

_TRIPLE = "expected three numbers with blanks between, as '0.3 0 0.1'"


def checked_true_or_false(name: str, value: Any) -> str:
    """Return ``true``, ``false``, or an empty text for what is not said."""
    given = str(value).lower()
    if given not in ("", "true", "false"):
        raise ConfigurationError(f"{name} is {shorten(str(value))}, expected true or false")
    return given


def checked_triple(name: str, value: Any) -> str:
    """Return a text of three numbers, as URDF has them."""
    try:
        numbers = [float(word) for word in str(value).split()]
    except ValueError:
        numbers = []
    if len(numbers) != 3 or not np.all(np.isfinite(numbers)):
        raise ConfigurationError(f"{name} is {quote(value)}, {_TRIPLE}")
    return str(value)


INPUT_TYPES = {"imu": messages.IMU, "gazebo_ros_imu": messages.IMU, "odometry": messages.ODOMETRY}


def _topic(default: str, about: str, needed: bool = False) -> Any:
    return declared(default, topics.check_topic, needed=needed, about=about)


@dataclass(frozen=True)
class RealisticImuArguments(Settings):
    """The node's parameters; what each means stands beside it, for launch files and for ROS 2."""

    specification: str = setting(
        "adis16448",
        about="a bundled specification, a file, FORMAT:FILE, or generic, hector, hector_slow, "
        "ideal",
    )
    input: str = _topic("/imu", "topic of the ideal IMU, or of odometry", needed=True)
    input_type: str = setting(
        "imu",
        choices=tuple(INPUT_TYPES),
        about="imu (sensor_msgs/Imu), gazebo_ros_imu (that of libgazebo_ros_imu.so) or odometry "
        "(nav_msgs/Odometry)",
    )
    output: str = _topic(
        topics.absolute_topic(topics.IMU), "topic of the realistic IMU", needed=True
    )
    seed: int = setting(1, minimum=0, maximum=LARGEST_SEED, about="of every random number")
    rate: float = setting(
        0.0, minimum=0.0, about="samples per second of the sensor; 0: as its specification says"
    )
    standstill: float = setting(
        0.0,
        minimum=0.0,
        about="how long the robot stood before the first message, in which the gyroscope's offset "
        "was measured and is taken off, s; 0: as it is switched on",
    )
    stops: str = setting(
        "none",
        about="detected: on the way, where the IMU's own samples say that it stands, the offset is "
        "taken anew and the orientation held",
    )
    warm_up: float = setting(0.0, minimum=0.0, about="from power on to that standstill, s")
    drop_repeated: str = declared(
        "",
        checked_true_or_false,
        about="true: only new samples of a sensor that is slower than its input; empty: as its "
        "specification says",
    )
    frame_id: str = setting("", about="frame of the realistic IMU; empty: the input's")
    use_tf: bool = setting(
        False, about="true: the IMU is where tf says that frame_id is, lever arm and turn"
    )
    xyz: str = declared(
        "0 0 0",
        checked_triple,
        about="where the IMU is on the input's frame, m, as in URDF's origin, instead of tf",
    )
    rpy: str = declared(
        "0 0 0",
        checked_triple,
        about="how it is turned there: roll, pitch, yaw, rad, as in URDF's origin",
    )
    use_twist: bool = setting(
        True, about="false: velocities come from the poses of odometry, one message late"
    )
    add_gravity: bool = setting(
        False, about="true: the ideal IMU's acceleration is without gravity"
    )
    magnetometer: bool = setting(
        False, about="true: the specification's magnetometer measures, too"
    )
    magnetic_environment: str = setting(
        "clean", about="the field that it is in: a bundled one by name, or a file"
    )
    magnetic_input: str = _topic(
        "",
        "topic of an ideal field (sensor_msgs/MagneticField) instead, as the simulator publishes "
        "it",
    )
    magnetic_output: str = _topic("", "topic of the magnetometer; empty: mag beside the output")
    pose: str = _topic(
        "",
        "topic of the robot's true pose (nav_msgs/Odometry), for iron, magnets and vibration",
    )
    joint_states: str = _topic(
        "",
        "topic of the wheels' joint states with efforts (sensor_msgs/JointState), for the fields "
        "of motors",
    )
    left_joints: str = setting(
        "",
        about="driven wheels' joints on the left, with commas; empty: those with wheel and left in "
        "their names",
    )
    right_joints: str = setting("", about="the same on the right")

    @property
    def mounting(self) -> Mounting:
        """Where ``xyz`` and ``rpy`` say that the IMU is."""
        arm, angles = ([float(word) for word in text.split()] for text in (self.xyz, self.rpy))
        # About fixed axes, roll first (REP-103).
        return Mounting(np.array(arm), Rotation.from_euler("xyz", angles))

    def operation(self) -> Operation | None:
        """Return how the sensor is used; None as it is switched on. Raises ConfigurationError."""
        with prefix_errors("the private parameter "):
            given = Operation(standstill=self.standstill, stops=self.stops, warm_up=self.warm_up)
        return None if given == Operation(standstill=0.0) else given

    def errors(self) -> tuple[Any, Sequence[str]]:
        """Return the errors that are named, and remarks on how they were read.

        Raises ConfigurationError: there are none of this name, or they have no specification that
        ``drop_repeated`` could change.
        """
        chosen = named_imu(self.specification)
        errors = chosen.errors
        if self.drop_repeated:
            if not isinstance(errors, ImuSpecification):
                raise ConfigurationError(
                    f"drop_repeated is {self.drop_repeated}, expected true or false, of an IMU by "
                    "a specification"
                )
            output = dataclasses.replace(errors.output, drop_repeated=self.drop_repeated == "true")
            errors = dataclasses.replace(errors, output=output)
        remarks = list(chosen.remarks)
        if isinstance(errors, ImuSpecification):
            remarks += filter(None, [understated_in_motion(errors)])
        return errors, remarks

    def kept_bias(self, errors: Any) -> str | None:
        """Return a sentence where nothing zeroes a gyroscope that is switched on with a bias."""
        if not isinstance(errors, ImuSpecification):
            return None
        gyroscope = errors.gyroscope
        has_bias = any((*gyroscope.turn_on_bias, *gyroscope.turn_on_bias_sigma))
        if self.operation() is not None or not has_bias:
            return None
        return (
            f"{errors.name}: the gyroscope keeps the bias that it is switched on with; set "
            "standstill or stops to have it zeroed at rest, as heading budgets assume"
        )


DIAGNOSED_PERIOD = 1.0  # wall-clock seconds between two messages on /diagnostics
TELLING_PERIOD = 10.0  # wall-clock seconds between two checks of what was wrong with stamps
UNUSED = 500  # messages without a reading, of which somebody should know
TIMED_MESSAGES = 200  # of which the time is taken that a message costs, once the IMU has begun
MAX_SHARE = 0.8  # of the time between two messages that one may take
EARLY_FIELDS = 1000  # of an ideal magnetic field, before anything was heard of the IMU

_POSE, _TWIST = messages.ODOMETRY.place("pose.pose."), messages.ODOMETRY.place("twist.twist.")


class LiveImu(Session):
    """From the topic ``input`` to ``output``, with what was done on ``<output>/errors``.

    With ``magnetometer`` also to ``magnetic_output``. Raises ConfigurationError, and so does what
    takes messages, and RecordingError or SimulatorError: the arguments, or the messages, cannot be
    used.
    """

    name = "realistic_imu"
    arguments_type = RealisticImuArguments
    diagnoses = True

    def __init__(self, arguments: RealisticImuArguments, shell: Shell) -> None:
        super().__init__(shell)
        self._arguments = arguments
        errors, remarks = arguments.errors()
        for remark in remarks:
            shell.warn(remark)
        kept = arguments.kept_bias(errors)
        if kept is not None:
            shell.inform(kept)
        is_odometry = arguments.input_type == "odometry"
        self._surroundings = _surroundings(arguments, errors, shell)
        self._session = RealisticImu(
            errors,
            arguments.seed,
            rate=arguments.rate or None,
            field=self._surroundings.has_field,
            speed=self._surroundings.has_speed,
            field_reported=self._surroundings.is_reported_field,
            report=self._surroundings.report,
            operation=arguments.operation(),
        )
        self._frame = arguments.frame_id
        self._source: ImuInput | OdometryTruth | None = None
        self._packers: messages.ImuPackers | None = None
        self._is_oriented = True
        self._is_placed = False
        self._field_mounting: Mounting | None = None
        self._early_fields: deque = deque(maxlen=EARLY_FIELDS)
        self._place: tuple[int, np.ndarray] | None = None
        self._stamp = self._heard = 0
        self._timed: list[float] = []
        self._reported: list[str] = []
        self._reported_at = time.monotonic()
        self._diagnosed = (self._reported_at, 0, 0)
        self._orientations: tuple[Any, Any] | None = None
        self._output = arguments.output
        self._magnetic = arguments.magnetic_output or topics.sibling_topic(
            self._output, topics.IMU_MAG
        )
        self.outputs = {self._output: messages.IMU}
        if self._surroundings.has_field:
            self.outputs[self._magnetic] = messages.MAGNETIC_FIELD
        self._errors = f"{self._output}/errors"
        self.texts = [self._errors]
        self._calibration: CalibrationTexts | None = None
        if isinstance(errors, ImuSpecification) and errors.output.bno055_mode:
            self._status = topics.sibling_topic(self._output, topics.IMU_CALIBRATION)
            self.texts.append(self._status)
            self._calibration = CalibrationTexts(errors.output.bno055_mode)
        callback = self._on_odometry if is_odometry else self._on_imu
        self.inputs[arguments.input] = (INPUT_TYPES[arguments.input_type], callback)
        if self._surroundings.needs_poses and not is_odometry:
            self.inputs[arguments.pose] = (messages.ODOMETRY, self._on_pose)
        if self._surroundings.is_reported_field:
            self.inputs[arguments.magnetic_input] = (messages.MAGNETIC_FIELD, self._on_field)
        self.joint_states = arguments.joint_states if self._surroundings.needs_torques else ""
        names = (arguments.left_joints, arguments.right_joints)
        self._efforts = WheelEfforts(*(text.replace(",", " ").split() for text in names))
        self._ensure_apart()

    def _ensure_apart(self) -> None:
        """Refuse to take its own messages for those of the simulator."""
        heard = {
            self._shell.resolve(getattr(self._arguments, name)): name
            for name in ("input", "pose", "joint_states", "magnetic_input")
            if getattr(self._arguments, name)
        }
        for topic in map(self._shell.resolve, self.outputs):
            if topic in heard:
                raise ConfigurationError(
                    f"{self.name}: {heard[topic]}:={topic} is also what it publishes on: name "
                    "another topic with output:=, for those who are to hear the realistic IMU"
                )

    def take_joints(self, stamp: int, names: Sequence[str], efforts: Sequence[float]) -> None:
        """Take what a sensor_msgs/JointState says at a stamp [ns]."""
        with self._lock:
            torques = self._efforts.torques(names, efforts)
            if torques is not None:
                self._take(self._surroundings.add_torques(stamp, *torques))

    def look_after(self) -> None:
        """Tell what is wrong with the stamps, when there is something new; call it now and then."""
        now = time.monotonic()
        if now - self._diagnosed[0] >= DIAGNOSED_PERIOD:
            with self._lock:
                self._shell.diagnose(self._diagnostic(now))
        if self._packers is None and self._heard >= UNUSED:
            self._warn_once(
                "unused",
                f"{self._arguments.input}: {self._heard} messages have come, of which none could "
                f"be used; nothing is published on {self._shell.resolve(self._output)} until "
                "there is one",
            )
        if now - self._reported_at < TELLING_PERIOD:
            return
        self._reported_at = now
        self._tell_report()
        if self._efforts.only_zeros:
            self._warn_once(
                "efforts",
                f"{self.joint_states}: all efforts are zero, and so are the fields of the "
                "motors; a simulator has none for joints that it moves by their velocity",
            )
        self._warn_if_behind()

    def _diagnostic(self, now) -> Diagnostic:
        """Return what there was in the messages so far, and since it was last asked for."""
        report, topic = self._session.report, self._arguments.input
        then, heard, wrong = self._diagnosed
        rate = (self._heard - heard) / (now - then)
        self._diagnosed = (now, self._heard, report.left_out + report.gaps)
        is_lacking = self._diagnosed[2] > wrong
        message = f"{topic} becomes {self._output}"
        if not rate:
            message = f"no message on {topic} {'now' if self._heard else 'yet'}"
        elif is_lacking:
            message = f"messages on {topic} are missing, or left out"
        values = {
            "messages per second": f"{rate:.1f}",
            "messages taken": str(report.taken),
            "messages left out": str(report.left_out),
            "gaps": str(report.gaps),
            "messages missing in gaps": str(report.bridged),
            "largest gap [s]": f"{report.largest_gap:.3g}",
            "begun anew": str(report.restarts),
        }
        if self._orientations is not None:
            true, read = map(yaw_from_quaternion, self._orientations)
            values["yaw error [deg]"] = f"{math.degrees(difference(true, read)):.3f}"
        return Diagnostic(not rate or is_lacking, message, values)

    def close(self) -> None:
        """Tell what is new in the report on the messages."""
        self._tell_report()

    def _tell_report(self) -> None:
        reported = self._session.report.sentences()
        for sentence in reported:
            if sentence not in self._reported:
                self._shell.warn(f"{self._arguments.input}: {sentence}")
        self._reported = reported

    def _warn_if_behind(self) -> None:
        """Look at simulated time: a simulator does not wait, and messages are not dropped."""
        clock = self._shell.simulated_time() if self._stamp else None
        behind = 0.0 if clock is None else (clock - self._stamp) / NANOSECONDS
        if behind > 1.0:
            self._shell.warn(
                f"{self._shell.resolve(self._output)} is {behind:.1f} s behind the simulation: let "
                f"{self._arguments.input} have fewer messages a second, or let the simulation run "
                "slower"
            )

    def _on_imu(self, message, _):
        begun = time.perf_counter()
        self._heard += 1
        if self._source is None:
            is_plugin = self._arguments.input_type == "gazebo_ros_imu"
            self._source = ImuInput(
                self._mounting(message.frame, self._arguments.input),
                WORLD_GRAVITY if is_plugin or self._arguments.add_gravity else 0.0,
                is_plugin,
                self._session.report,
            )
        truths = self._source.truths(message.stamp, message.numbers)
        if self._is_oriented and self._source.has_orientation is False:
            self._is_oriented = False
            self._session.without_orientation()
            self._packers = None
        for known in truths:
            self._take(self._surroundings.add(*known))
        self._tell_fields()
        self._stamp = message.stamp
        if self._packers is not None and len(self._timed) < TIMED_MESSAGES:
            self._timed.append(time.perf_counter() - begun)
            if len(self._timed) == TIMED_MESSAGES:
                self._warn_if_too_slow()

    def _warn_if_too_slow(self) -> None:
        """Say at the beginning what a simulator that does not wait would make of it."""
        period = self._session.period
        # The mean, since on a busy machine a few of them wait for the processor.
        cost = float(np.mean(self._timed))
        if period is not None and cost > MAX_SHARE * period:
            self._shell.warn(
                f"{self._arguments.input} has {1.0 / period:.0f} messages a second and this "
                f"machine now takes in about {1.0 / cost:.0f}: let it have fewer, or let the "
                "simulation run slower, or messages will be lost"
            )

    def _on_odometry(self, message, _):
        self._heard += 1
        if self._source is None:
            mounting = self._mounting(message.child, self._arguments.input)
            self._surroundings.mount(mounting.lever_arm)
            report = self._session.report
            self._source = OdometryTruth(mounting, self._arguments.use_twist, report=report)
        state = _state(message)
        known = self._source.truth(message.stamp, state)
        if known is not None:
            self._take(self._surroundings.add(*known))
        self._tell_pose(message.stamp, state)
        self._tell_fields()
        self._stamp = message.stamp

    def _on_pose(self, message, _):
        if not self._frame:
            return  # nothing was heard of the IMU
        if not self._is_placed:
            self._is_placed = True
            mounting = self._mounting(message.child, self._arguments.pose)
            self._surroundings.mount(mounting.lever_arm)
        self._tell_pose(message.stamp, _state(message))

    def _on_field(self, message, _):
        self._early_fields.append(message)
        if self._source is not None:
            self._tell_fields()

    def _tell_fields(self) -> None:
        """Say what was heard of the field, once it is known in which axes it is wanted."""
        while self._early_fields:
            message = self._early_fields.popleft()
            if self._field_mounting is None:
                topic = self._arguments.magnetic_input
                self._field_mounting = self._mounting(message.frame, topic)
            field = message.numbers[: len(messages.FIELD)]
            if not self._field_mounting.is_none:
                field = self._field_mounting.rotation.inv().apply(field)
            self._take(self._surroundings.add_field(message.stamp, field))

    def _tell_pose(self, stamp, state) -> None:
        if not self._surroundings.needs_poses:
            return
        place, orientation, velocity = state[:3], state[3:7].tolist(), state[7:10].tolist()
        speed = math.hypot(*velocity)
        if not self._arguments.use_twist:
            before, self._place = self._place, (stamp, place)
            speed = 0.0
            if before is not None and stamp > before[0]:
                speed = float(np.linalg.norm(place - before[1])) / ((stamp - before[0]) * 1e-9)
        self._take(self._surroundings.add_pose(stamp, place, orientation, speed))

    def _take(self, truths) -> None:
        readings = []
        for stamp, truth in truths:
            readings += self._session.add(stamp, truth)
            oriented = self._is_oriented and self._session.gives_orientation
            if oriented and truth is not None and readings and readings[-1].stamp == stamp:
                self._orientations = (truth.orientation, readings[-1].reading.orientation)
        if readings:
            self._publish(readings)

    def _publish(self, readings) -> None:
        if self._packers is None:
            self._packers = self._begin()
        oriented = self._session.gives_orientation
        signals = (
            (r.orientation if oriented else NO_ORIENTATION, r.angular_velocity, r.specific_force)
            for _, r in readings
        )
        rows = np.array([np.concatenate(parts) for parts in signals])
        stamps = np.array([stamp for stamp, _ in readings])
        self._shell.send(self._output, self._packers.data(stamps, rows))
        fields = None
        if self._surroundings.has_field:
            fields = np.array([reading.magnetic_field for _, reading in readings])
            self._shell.send(self._magnetic, self._packers.field(stamps, fields))
        if self._calibration is not None:
            for text in self._calibration.add(stamps, rows[:, 4:7], rows[:, 7:], fields):
                self._shell.send_text(self._status, text)

    def _begin(self) -> messages.ImuPackers:
        """Say what is done, and return what writes messages."""
        arguments = self._arguments
        described: dict = {"input": arguments.input, "frame_id": self._frame}
        described.update(self._session.describe())
        if self._surroundings.is_reported_field:
            described["magnetic_input"] = arguments.magnetic_input
        elif self._surroundings.has_field:
            described["magnetic_environment"] = arguments.magnetic_environment
        self._shell.send_text(self._errors, json.dumps(described, sort_keys=True))
        self._shell.inform(
            f"{self._shell.resolve(self._output)}: {described['label']} of {arguments.input} at "
            f"{1.0 / described['period']:g} Hz, in frame {self._frame}"
        )
        has_field = self._surroundings.has_field
        of_field = self._session.magnetic_covariance() if has_field else 9 * (0.0,)
        return messages.ImuPackers(
            self._session.covariances(), of_field, self._frame, self._shell.ros2
        )

    def _mounting(self, frame, topic) -> Mounting:
        """Return where the IMU is on what is published on a topic, as it was said, or as tf says.

        ``xyz`` and ``rpy`` are those on the input; what else is published is taken for the same.
        """
        if not self._frame:
            self._frame = frame
        if not self._arguments.use_tf:
            return self._arguments.mounting
        if self._frame == frame:
            return Mounting()
        return self._shell.transform(frame, self._frame, topic)


def _state(message) -> np.ndarray:
    """Return pose and twist of a nav_msgs/Odometry, (13,)."""
    return np.concatenate([message.numbers[_POSE], message.numbers[_TWIST]])


def _surroundings(arguments: RealisticImuArguments, errors, shell: Shell) -> Surroundings:
    """Return what the IMU is in, if it was asked for."""
    if arguments.use_tf and not arguments.mounting.is_none:
        raise ConfigurationError(
            "use_tf is true, and xyz or rpy are not zero: either tf says where the IMU is, or they "
            "do"
        )
    environment = None
    is_reported_field = bool(arguments.magnetic_input)
    if arguments.magnetometer and not is_reported_field:
        environment = read_magnetic_environment(arguments.magnetic_environment)
        if environment.motors and not arguments.joint_states:
            shell.warn(NO_MOTORS)
    reported = arguments.input_type == "odometry" or bool(arguments.pose)
    vibrates = isinstance(errors, ImuSpecification) and errors.vibration.active
    return Surroundings(
        environment,
        speed=vibrates and reported,
        poses=reported,
        fields=is_reported_field,
        torques=bool(arguments.joint_states),
    )
