"""Implementation and arguments of the node realistic_imu, independent of ROS.

Published messages:

- output, sensor_msgs/Imu: readings with the axes, the stamp and the frame of the input;
  ``frame_id`` replaces the frame
- ``mag`` in the namespace of the output, sensor_msgs/MagneticField, with ``magnetometer:=true``:
  magnetic field [T] with the stamps of the IMU
- output ``/errors``, std_msgs/String, latched: model, parameters, seed and period as JSON
- ``calib_status`` in the namespace of the output, std_msgs/String, latched, with ``bno055_mode``
- ``/diagnostics``, diagnostic_msgs/DiagnosticArray, once per second: rate, yaw error, and number of
  used, ignored and missing messages. WARN if no message arrives, or if messages are missing or
  ignored

The orientation of an IMU from a specification is fused from its erroneous signals, without a yaw
reference. It starts with the true yaw, or with zero if the input has no orientation (covariance -1
of REP-145, or a quaternion of zeros). A yaw from the magnetometer requires ``magnetometer:=true``.
The orientation of a plug-in's model is the true orientation plus errors; if the input has no
orientation, ``orientation_covariance[0]`` of the output is -1. Covariances are those of the
specification or of the plug-in; the variance of the yaw is its value after ten minutes.

With ``odometry``, angular velocity and specific force are means since the previous message,
computed from two orientations and two velocities. Their integral leads to the robot's pose; on
average, they are half a period old. If the sensor is faster than the odometry, its noise is scaled
to the rate of the odometry.

The node publishes the readings for the first 50 messages together, after it has estimated the rate
and checked the axes. From then on, it publishes a reading for each message when the message
arrives. It exits with an error message for

- a message type other than that of the input, or a second publisher,
- a mean acceleration in world axes that is not about +9.8 m/s^2 along z (if there is no
  orientation: a wrong norm),
- ``magnetometer:=true`` with a specification that has no magnetometer, an ideal IMU without
  orientation (except with an ideal field), iron without a pose, ten seconds without poses or field,
  a field that is not in tesla, or joint states without efforts.
"""

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
from ..core.checks import LARGEST_SEED
from ..core.errors import ConfigurationError, prefix_errors
from ..core.sentences import quote, shorten
from ..core.settings import TextSettings, setting
from ..core.stamps import NANOSECONDS
from ..core.units import WORLD_GRAVITY
from ..recordings import messages
from ..sensors.errors_in_motion import remark_on_motion_errors
from ..sensors.formats.registry import named_imu
from ..sensors.imu_models.bno055_modes import CalibrationTexts
from ..sensors.imu_specification import ImuSpecification
from ..sensors.magnetism.environment import read_magnetic_environment
from ..sensors.operation import Operation
from .ideal_inputs import NO_ORIENTATION, ImuInput, Mounting, OdometryInput
from .node_sessions import Diagnostic, Session, Shell
from .session import RealisticImu, replace_rate
from .surroundings import NO_MOTORS, Surroundings, WheelEfforts

_TRIPLE = "expected three numbers separated by spaces, such as '0.3 0 0.1'"


def check_boolean_text(name: str, value: Any) -> str:
    """Check a parameter whose value must be true, false or empty.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : object
        Value of the parameter.

    Returns
    -------
    str
        ``true``, ``false`` or an empty string.

    Raises
    ------
    ConfigurationError
        If the value is neither true, false nor empty.
    """
    text = str(value).lower()
    if text not in ("", "true", "false"):
        raise ConfigurationError(f"{name} is {shorten(str(value))}, expected true or false")
    return text


def check_triple(name: str, value: Any) -> str:
    """Check a parameter whose value must be three numbers, written as in URDF.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : object
        Value of the parameter.

    Returns
    -------
    str
        Text of the value.

    Raises
    ------
    ConfigurationError
        If the value does not consist of three finite numbers.
    """
    try:
        numbers = [float(word) for word in str(value).split()]
    except ValueError:
        numbers = []
    if len(numbers) != 3 or not np.all(np.isfinite(numbers)):
        raise ConfigurationError(f"{name} is {quote(value)}, {_TRIPLE}")
    return str(value)


INPUT_TYPES = {"imu": messages.IMU, "gazebo_ros_imu": messages.IMU, "odometry": messages.ODOMETRY}


def _topic(default: str, about: str, needed: bool = False) -> Any:
    return setting(default, topics.check_topic, needed=needed, about=about)


@dataclass(frozen=True)
class RealisticImuArguments(TextSettings):
    """Parameters of the node realistic_imu, with descriptions for launch files and ROS 2."""

    specification: str = setting(
        "adis16448",
        about="a bundled specification, a file, FORMAT:FILE, or generic, hector, hector_slow, "
        "ideal",
    )
    input: str = _topic("/imu", about="topic of the ideal IMU, or of odometry", needed=True)
    input_type: str = setting(
        "imu",
        choices=tuple(INPUT_TYPES),
        about="imu (sensor_msgs/Imu), gazebo_ros_imu (as published by libgazebo_ros_imu.so) or "
        "odometry (nav_msgs/Odometry)",
    )
    output: str = _topic(
        topics.absolute_topic(topics.IMU), about="topic of the realistic IMU", needed=True
    )
    seed: int = setting(1, minimum=0, maximum=LARGEST_SEED, about="seed of all random numbers")
    rate: float = setting(
        0.0,
        minimum=0.0,
        about="sampling rate of the sensor; 0: rate in the specification",
        unit="Hz",
    )
    standstill: float = setting(
        0.0,
        minimum=0.0,
        about="duration of the standstill before the first message, in which the gyroscope was "
        "zeroed, s; 0: not zeroed",
        unit="s",
    )
    stops: str = setting(
        "none",
        about="detected: at each stop that is detected from the IMU's samples, zero the "
        "gyroscope again and hold the orientation",
    )
    warm_up: float = setting(
        0.0, minimum=0.0, about="time from power-on to the standstill, s", unit="s"
    )
    drop_repeated: str = setting(
        "",
        check_boolean_text,
        about="true: publish only new samples of a sensor that is slower than its input; empty: "
        "value in the specification",
    )
    frame_id: str = setting("", about="frame of the realistic IMU; empty: frame of the input")
    use_tf: bool = setting(
        False,
        about="true: take the mounting of the IMU from the pose of frame_id in tf",
    )
    xyz: str = setting(
        "0 0 0",
        check_triple,
        about="position of the IMU in the input's frame, m, as in URDF's origin, instead of tf",
        unit="m",
    )
    rpy: str = setting(
        "0 0 0",
        check_triple,
        about="orientation of the IMU in the input's frame: roll, pitch, yaw, rad, as in URDF's "
        "origin",
        unit="rad",
    )
    use_twist: bool = setting(
        True,
        about="false: compute velocities from the poses of the odometry, which delays the "
        "output by one message",
    )
    add_gravity: bool = setting(
        False, about="true: add gravity, which is missing in the ideal IMU's acceleration"
    )
    magnetometer: bool = setting(
        False, about="true: also simulate the specification's magnetometer"
    )
    magnetic_environment: str = setting(
        "clean", about="magnetic environment: name of a bundled one, or a file"
    )
    magnetic_input: str = _topic(
        "",
        about="topic of the simulator's ideal field (sensor_msgs/MagneticField), instead of an "
        "environment",
    )
    magnetic_output: str = _topic(
        "", about="topic of the magnetometer; empty: mag in the namespace of the output"
    )
    pose: str = _topic(
        "",
        about="topic of the robot's true pose (nav_msgs/Odometry), for iron, magnets and vibration",
    )
    joint_states: str = _topic(
        "",
        about="topic of the wheels' joint states with efforts (sensor_msgs/JointState), for the "
        "fields of motors",
    )
    left_joints: str = setting(
        "",
        about="joints of the driven wheels on the left, separated by commas; empty: joints with "
        "wheel and left in their names",
    )
    right_joints: str = setting(
        "",
        about="joints of the driven wheels on the right, separated by commas; empty: joints "
        "with wheel and right in their names",
    )

    @property
    def mounting(self) -> Mounting:
        """Mounting of the IMU, as set by the parameters ``xyz`` and ``rpy``."""
        arm, angles = ([float(word) for word in text.split()] for text in (self.xyz, self.rpy))
        # According to REP-103, rotations are about fixed axes, in the order roll, pitch, yaw.
        return Mounting(np.array(arm), Rotation.from_euler("xyz", angles))

    def make_operation(self) -> Operation | None:
        """Create the settings of gyroscope zeroing from the parameters of the node.

        Returns
        -------
        Operation or None
            Zeroing of the gyroscope; None if it is not zeroed.

        Raises
        ------
        ConfigurationError
            If a parameter has an invalid value.
        """
        with prefix_errors("the private parameter "):
            operation = Operation(
                standstill=self.standstill, stops=self.stops, warm_up=self.warm_up
            )
        return None if operation == Operation(standstill=0.0) else operation

    def read_errors(self) -> tuple[Any, Sequence[str]]:
        """Read the errors of the simulated IMU from its specification.

        Returns
        -------
        errors : ImuSpecification or parameters of a plug-in
            Errors of the IMU.
        remarks : sequence of str
            Remarks on the errors.

        Raises
        ------
        ConfigurationError
            If there is no IMU with this name, or ``drop_repeated`` is set for a plug-in's model.
        """
        imu = named_imu(self.specification)
        errors = imu.errors
        if self.drop_repeated:
            if not isinstance(errors, ImuSpecification):
                raise ConfigurationError(
                    f"drop_repeated is {self.drop_repeated}, expected an empty value, because only "
                    "an IMU from a specification has this setting"
                )
            output = dataclasses.replace(errors.output, drop_repeated=self.drop_repeated == "true")
            errors = dataclasses.replace(errors, output=output)
        remarks = list(imu.remarks)
        if isinstance(errors, ImuSpecification):
            remarks += filter(None, [remark_on_motion_errors(errors)])
        return errors, remarks

    def bias_remark(self, errors: Any) -> str | None:
        """Return a remark if the gyroscope has a turn-on bias, but is not zeroed.

        Parameters
        ----------
        errors : ImuSpecification or parameters of a plug-in
            Errors of the IMU.

        Returns
        -------
        str or None
            Remark; None if the gyroscope has no turn-on bias or is zeroed.
        """
        if not isinstance(errors, ImuSpecification):
            return None
        gyroscope = errors.gyroscope
        has_bias = any((*gyroscope.turn_on_bias, *gyroscope.turn_on_bias_sigma))
        if self.make_operation() is not None or not has_bias:
            return None
        return (
            f"{errors.name}: the gyroscope keeps its turn-on bias; set standstill or stops to zero "
            "it at rest, as heading budgets assume"
        )


DIAGNOSTICS_PERIOD = 1.0  # s; wall-clock time between messages on /diagnostics
STREAM_REPORT_PERIOD = 10.0  # s; wall-clock time between warnings about irregularities
MAX_UNUSED_MESSAGES = 500  # number of unusable messages before a warning, received in a few seconds
TIMED_MESSAGES = 200  # number of messages over which the processing time is averaged
MAX_LOAD = 0.8  # a longer processing time, relative to the message period, causes a warning
MAX_EARLY_FIELDS = 1000  # largest number of field messages queued before the first IMU message
MAX_LAG = 1.0  # s; a longer lag of the output behind simulated time causes a warning

_POSE, _TWIST = messages.ODOMETRY.place("pose.pose."), messages.ODOMETRY.place("twist.twist.")


class LiveImu(Session):
    """Node that simulates a realistic IMU from messages of an ideal IMU or of odometry.

    The session publishes readings on ``output`` and a description of the errors on
    ``<output>/errors``. With ``magnetometer``, it also publishes the field on ``magnetic_output``.
    Its callbacks raise ConfigurationError, RecordingError or SimulatorError if messages are
    unusable.

    Parameters
    ----------
    arguments : RealisticImuArguments
        Parameters of the node.
    shell : Shell
        ROS wrapper of the session.

    Raises
    ------
    ConfigurationError
        If an argument is invalid, or arguments contradict each other.
    """

    name = "realistic_imu"
    arguments_type = RealisticImuArguments
    publishes_diagnostics = True

    def __init__(self, arguments: RealisticImuArguments, shell: Shell) -> None:
        super().__init__(shell)
        self._arguments = arguments
        errors, remarks = arguments.read_errors()
        for remark in remarks:
            shell.warn(remark)
        bias_remark = arguments.bias_remark(errors)
        if bias_remark is not None:
            shell.inform(bias_remark)
        is_odometry = arguments.input_type == "odometry"
        self._surroundings = _make_surroundings(arguments, errors, shell)
        self._session = RealisticImu(
            replace_rate(errors, arguments.rate or None),
            arguments.seed,
            signals=self._surroundings.signals,
            report=self._surroundings.report,
            operation=arguments.make_operation(),
        )
        self._frame = arguments.frame_id
        self._source: ImuInput | OdometryInput | None = None
        self._packers: messages.ImuPackers | None = None
        self._has_input_orientation = True
        self._has_pose_mounting = False
        self._field_mounting: Mounting | None = None
        self._early_fields: deque = deque(maxlen=MAX_EARLY_FIELDS)
        self._position: tuple[int, np.ndarray] | None = None
        self._stamp = self._message_count = 0
        self._durations: list[float] = []
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
        self.text_outputs = [self._errors]
        self._calibration: CalibrationTexts | None = None
        if isinstance(errors, ImuSpecification) and errors.output.bno055_mode:
            self._status = topics.sibling_topic(self._output, topics.IMU_CALIBRATION)
            self.text_outputs.append(self._status)
            self._calibration = CalibrationTexts(errors.output.bno055_mode)
        callback = self._on_odometry if is_odometry else self._on_imu
        self.inputs[arguments.input] = (INPUT_TYPES[arguments.input_type], callback)
        if self._surroundings.needs_poses and not is_odometry:
            self.inputs[arguments.pose] = (messages.ODOMETRY, self._on_pose)
        if self._surroundings.has_reported_field:
            self.inputs[arguments.magnetic_input] = (messages.MAGNETIC_FIELD, self._on_field)
        self.joint_states_topic = arguments.joint_states if self._surroundings.needs_torques else ""
        names = (arguments.left_joints, arguments.right_joints)
        self._efforts = WheelEfforts(*(text.replace(",", " ").split() for text in names))
        self._check_topics_differ()

    def _check_topics_differ(self) -> None:
        """Check that no output topic of the node is also an input topic."""
        inputs = {
            self._shell.resolve(getattr(self._arguments, name)): name
            for name in ("input", "pose", "joint_states", "magnetic_input")
            if getattr(self._arguments, name)
        }
        for topic in map(self._shell.resolve, self.outputs):
            if topic in inputs:
                raise ConfigurationError(
                    f"{self.name}: {inputs[topic]}:={topic} is also an output; choose another "
                    "topic with output:="
                )

    def process_joint_states(
        self, stamp: int, names: Sequence[str], efforts: Sequence[float]
    ) -> None:
        """Process a sensor_msgs/JointState message, whose efforts are motor torques."""
        with self._lock:
            torques = self._efforts.torques(names, efforts)
            if torques is not None:
                self._process_signals(self._surroundings.add_torques(stamp, *torques))

    def on_timer(self) -> None:
        """Publish diagnostics, and warn about unusable messages and irregular stamps."""
        now = time.monotonic()
        if now - self._diagnosed[0] >= DIAGNOSTICS_PERIOD:
            with self._lock:
                self._shell.publish_diagnostic(self._diagnostic(now))
        if self._packers is None and self._message_count >= MAX_UNUSED_MESSAGES:
            self._warn_once(
                "unused",
                f"{self._arguments.input}: none of {self._message_count} messages are usable, so "
                f"nothing is published on {self._shell.resolve(self._output)}",
            )
        if now - self._reported_at < STREAM_REPORT_PERIOD:
            return
        self._reported_at = now
        self._warn_about_stream()
        if self._efforts.is_all_zero:
            self._warn_once(
                "efforts",
                f"{self.joint_states_topic}: all efforts are zero, so the magnetic fields of the "
                "motors are zero as well; simulators report no efforts for velocity-controlled "
                "joints",
            )
        self._warn_if_behind()

    def _diagnostic(self, now) -> Diagnostic:
        """Return a diagnostic with message counts, and the rate since the last diagnostic."""
        report, topic = self._session.report, self._arguments.input
        last_time, last_count, last_irregularities = self._diagnosed
        rate = (self._message_count - last_count) / (now - last_time)
        self._diagnosed = (now, self._message_count, report.left_out + report.gaps)
        is_lacking = self._diagnosed[2] > last_irregularities
        message = f"publishing {self._output} from {topic}"
        if not rate:
            message = f"no message on {topic} {'any more' if self._message_count else 'yet'}"
        elif is_lacking:
            message = f"messages on {topic} are missing or ignored"
        values = {
            "messages per second": f"{rate:.1f}",
            "messages taken": str(report.accepted),
            "messages left out": str(report.left_out),
            "gaps": str(report.gaps),
            "messages missing in gaps": str(report.bridged),
            "largest gap [s]": f"{report.largest_gap:.3g}",
            "restarts": str(report.restarts),
        }
        if self._orientations is not None:
            ideal, measured = map(yaw_from_quaternion, self._orientations)
            values["yaw error [deg]"] = f"{math.degrees(difference(ideal, measured)):.3f}"
        return Diagnostic(not rate or is_lacking, message, values)

    def close(self) -> None:
        """Warn about irregularities in the stream that occurred after the last warning."""
        self._warn_about_stream()

    def _warn_about_stream(self) -> None:
        reported = self._session.report.sentences()
        for sentence in reported:
            if sentence not in self._reported:
                self._shell.warn(f"{self._arguments.input}: {sentence}")
        self._reported = reported

    def _warn_if_behind(self) -> None:
        """Warn if the output lags behind simulated time, since the simulator does not wait."""
        clock = self._shell.simulated_time() if self._stamp else None
        lag = 0.0 if clock is None else (clock - self._stamp) / NANOSECONDS
        if lag > MAX_LAG:
            self._shell.warn(
                f"{self._shell.resolve(self._output)} is {lag:.1f} s behind the simulation: reduce "
                f"the rate of {self._arguments.input} or the real-time factor"
            )

    def _on_imu(self, message, _):
        started_at = time.perf_counter()
        self._message_count += 1
        if self._source is None:
            is_plugin = self._arguments.input_type == "gazebo_ros_imu"
            self._source = ImuInput(
                self._mounting(message.frame, self._arguments.input),
                WORLD_GRAVITY if is_plugin or self._arguments.add_gravity else 0.0,
                is_plugin,
                self._session.report,
            )
        truths = self._source.truths(message.stamp, message.numbers)
        if self._has_input_orientation and self._source.has_orientation is False:
            self._has_input_orientation = False
            self._session.drop_orientation()
            self._packers = None
        for truth in truths:
            self._process_signals(self._surroundings.add(*truth))
        self._process_early_fields()
        self._stamp = message.stamp
        if self._packers is not None and len(self._durations) < TIMED_MESSAGES:
            self._durations.append(time.perf_counter() - started_at)
            if len(self._durations) == TIMED_MESSAGES:
                self._warn_if_too_slow()

    def _warn_if_too_slow(self) -> None:
        """Warn if the computer processes messages more slowly than they arrive."""
        period = self._session.period
        # On a busy computer, the mean includes the time spent waiting for the processor.
        duration = float(np.mean(self._durations))
        if period is not None and duration > MAX_LOAD * period:
            self._shell.warn(
                f"{self._arguments.input} has {1.0 / period:.0f} messages per second, but this "
                f"machine processes only about {1.0 / duration:.0f}, so messages may be lost; "
                "reduce the rate or the real-time factor"
            )

    def _on_odometry(self, message, _):
        self._message_count += 1
        if self._source is None:
            mounting = self._mounting(message.child, self._arguments.input)
            self._surroundings.mount(mounting.lever_arm)
            report = self._session.report
            self._source = OdometryInput(mounting, self._arguments.use_twist, report=report)
        state = _state(message)
        truth = self._source.truth(message.stamp, state)
        if truth is not None:
            self._process_signals(self._surroundings.add(*truth))
        self._process_pose(message.stamp, state)
        self._process_early_fields()
        self._stamp = message.stamp

    def _on_pose(self, message, _):
        if not self._frame:
            return  # the first message of the ideal IMU determines the frame
        if not self._has_pose_mounting:
            self._has_pose_mounting = True
            mounting = self._mounting(message.child, self._arguments.pose)
            self._surroundings.mount(mounting.lever_arm)
        self._process_pose(message.stamp, _state(message))

    def _on_field(self, message, _):
        self._early_fields.append(message)
        if self._source is not None:
            self._process_early_fields()

    def _process_early_fields(self) -> None:
        """Process the queued magnetic field messages, once the mounting of the IMU is known."""
        while self._early_fields:
            message = self._early_fields.popleft()
            if self._field_mounting is None:
                topic = self._arguments.magnetic_input
                self._field_mounting = self._mounting(message.frame, topic)
            field = message.numbers[: len(messages.FIELD)]
            if not self._field_mounting.is_identity:
                field = self._field_mounting.rotation.inv().apply(field)
            self._process_signals(self._surroundings.add_field(message.stamp, field))

    def _process_pose(self, stamp, state) -> None:
        if not self._surroundings.needs_poses:
            return
        position, orientation, velocity = state[:3], state[3:7].tolist(), state[7:10].tolist()
        speed = math.hypot(*velocity)
        if not self._arguments.use_twist:
            previous, self._position = self._position, (stamp, position)
            speed = 0.0
            if previous is not None and stamp > previous[0]:
                distance = float(np.linalg.norm(position - previous[1]))
                speed = distance / ((stamp - previous[0]) * 1e-9)
        self._process_signals(self._surroundings.add_pose(stamp, position, orientation, speed))

    def _process_signals(self, signals) -> None:
        readings = []
        for stamp, truth in signals:
            readings += self._session.add(stamp, truth)
            oriented = self._has_input_orientation and self._session.has_orientation
            if oriented and truth is not None and readings and readings[-1].stamp == stamp:
                self._orientations = (truth.orientation, readings[-1].reading.orientation)
        if readings:
            self._publish(readings)

    def _publish(self, readings) -> None:
        if self._packers is None:
            self._packers = self._begin()
        oriented = self._session.has_orientation
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
        """Publish the description of the IMU errors, and return the packers of output messages."""
        arguments = self._arguments
        described: dict = {"input": arguments.input, "frame_id": self._frame}
        described.update(self._session.describe())
        if self._surroundings.has_reported_field:
            described["magnetic_input"] = arguments.magnetic_input
        elif self._surroundings.has_field:
            described["magnetic_environment"] = arguments.magnetic_environment
        self._shell.send_text(self._errors, json.dumps(described, sort_keys=True))
        self._shell.inform(
            f"{self._shell.resolve(self._output)}: {described['label']} of {arguments.input} at "
            f"{1.0 / described['period']:g} Hz, in frame {self._frame}"
        )
        has_field = self._surroundings.has_field
        field_covariance = self._session.magnetic_covariance() if has_field else 9 * (0.0,)
        return messages.ImuPackers(
            self._session.covariances(), field_covariance, self._frame, self._shell.ros2
        )

    def _mounting(self, frame, topic) -> Mounting:
        """Return the mounting of the IMU in the frame of a topic, from parameters or tf.

        If tf is not used, all topics are assumed to be in the frame of the input.
        """
        if not self._frame:
            self._frame = frame
        if not self._arguments.use_tf:
            return self._arguments.mounting
        if self._frame == frame:
            return Mounting()
        return self._shell.lookup_transform(frame, self._frame, topic)


def _state(message) -> np.ndarray:
    """Return the pose and the twist of a nav_msgs/Odometry message, shape (13,)."""
    return np.concatenate([message.numbers[_POSE], message.numbers[_TWIST]])


def _make_surroundings(arguments: RealisticImuArguments, errors, shell: Shell) -> Surroundings:
    """Create the source of magnetic field and speed from the arguments of the node."""
    if arguments.use_tf and not arguments.mounting.is_identity:
        raise ConfigurationError(
            "use_tf is true, but xyz or rpy is not zero, expected one source of the mounting; set "
            "use_tf to false, or xyz and rpy to zero"
        )
    environment = None
    has_reported_field = bool(arguments.magnetic_input)
    if arguments.magnetometer and not has_reported_field:
        environment = read_magnetic_environment(arguments.magnetic_environment)
        if environment.motors and not arguments.joint_states:
            shell.warn(NO_MOTORS)
    reported = arguments.input_type == "odometry" or bool(arguments.pose)
    vibrates = isinstance(errors, ImuSpecification) and errors.vibration.active
    return Surroundings(
        environment,
        speed=vibrates and reported,
        poses=reported,
        fields=has_reported_field,
        torques=bool(arguments.joint_states),
    )
