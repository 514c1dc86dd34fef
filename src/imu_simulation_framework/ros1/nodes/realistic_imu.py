"""Gives the ideal IMU that any simulator publishes the errors of a real one.

Where there is no IMU, odometry will do: angular velocity and acceleration are made of it. A
magnetometer is simulated beside it, in Earth's field or, where the robot's pose is reported, in
any, or in an ideal field that the simulator publishes.
"""

from __future__ import annotations

import dataclasses
import json
import math
import threading
import time
from collections import deque

import numpy as np
import rospy
import tf2_ros
from nav_msgs.msg import Odometry
from rosgraph.names import is_legal_name
from rosgraph_msgs.msg import Clock
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import Imu, JointState, MagneticField
from std_msgs.msg import String

from imu_simulation_framework.core import topics
from imu_simulation_framework.core.errors import ConfigurationError, FrameworkError, SimulatorError
from imu_simulation_framework.core.sentences import shown
from imu_simulation_framework.core.stamps import NANOSECONDS
from imu_simulation_framework.core.topics import SIDES
from imu_simulation_framework.core.units import WORLD_GRAVITY
from imu_simulation_framework.realistic_imu.session import RealisticImu
from imu_simulation_framework.realistic_imu.surroundings import Surroundings, WheelEfforts
from imu_simulation_framework.realistic_imu.truth import (
    NO_ORIENTATION,
    ImuInput,
    Mounting,
    OdometryTruth,
)
from imu_simulation_framework.recordings.messages import IMU, read_numbers
from imu_simulation_framework.ros1.messages import CalibrationPublisher, ImuMessages
from imu_simulation_framework.ros1.node import Node, advertise, subscribe
from imu_simulation_framework.sensors.files import read_magnetic_environment
from imu_simulation_framework.sensors.formats.registry import named_imu
from imu_simulation_framework.sensors.imu_specification import ImuSpecification
from imu_simulation_framework.sensors.operation import Operation


def surroundings(errors, reported: bool) -> Surroundings:
    """Return what the IMU is in, if it was asked for; ``reported`` is whether poses are."""
    environment = None
    is_reported_field = bool(topic_argument("magnetic_input"))
    if rospy.get_param("~magnetometer", False) and not is_reported_field:
        environment = read_magnetic_environment(str(rospy.get_param("~magnetic_environment")))
        if environment.motors and not topic_argument("joint_states"):
            rospy.logwarn("the fields of motors are left out: nothing tells what they pull with")
    vibrates = isinstance(errors, ImuSpecification) and errors.vibration.active
    return Surroundings(
        environment,
        speed=vibrates and reported,
        poses=reported,
        fields=is_reported_field,
        torques=bool(topic_argument("joint_states")),
    )


def topic_argument(name, required=False) -> str:
    """Return an argument that is a topic; empty for none, unless it is required.

    Raises ConfigurationError: ROS has no topics of such a name; rospy would warn, and no message
    would ever come.
    """
    given = str(rospy.get_param(f"~{name}", ""))
    wrong = ("/", "~", "") if required else ("/", "~")
    if not (given.isascii() and is_legal_name(given)) or given in wrong:
        raise ConfigurationError(
            f"realistic_imu: {name} is {shown(given)}, expected the name of a topic: letters, "
            "digits and _ between slashes, as /imu/data"
        )
    return given


def ensure_apart(*outputs: str) -> None:
    """Make sure that nothing is published on a topic that is listened to.

    Raises ConfigurationError: the node would take its own messages for those of the simulator.
    """
    inputs = ("input", "pose", "joint_states", "magnetic_input")
    heard = {
        rospy.resolve_name(str(rospy.get_param(f"~{name}", "") or "~none")): name for name in inputs
    }
    for topic in map(rospy.resolve_name, outputs):
        if topic in heard:
            raise ConfigurationError(
                f"realistic_imu: {heard[topic]}:={topic} is also what it publishes on: name "
                "another topic with output:=, for those who are to hear the realistic IMU"
            )


def _operation() -> Operation | None:
    """Return how the sensor is used, by private parameters; None as it is switched on."""
    as_switched_on = Operation(standstill=0.0)
    given = {
        name: rospy.get_param(f"~{name}", getattr(as_switched_on, name))
        for name in ("standstill", "stops", "warm_up")
    }
    try:
        operation = Operation(**given)
    except ConfigurationError as error:
        raise ConfigurationError(f"the private parameter {error}") from None
    return None if operation == as_switched_on else operation


def with_output(errors):
    """Return the errors with the arguments that take the place of the specification's output.

    Raises ConfigurationError: an argument is none of its values, or the IMU has no specification.
    """
    dropped = str(rospy.get_param("~drop_repeated", "")).lower()
    if not dropped:
        return errors
    if dropped not in ("true", "false") or not isinstance(errors, ImuSpecification):
        raise ConfigurationError(
            f"realistic_imu: drop_repeated is {dropped}, expected true or false, of an IMU by a "
            "specification"
        )
    output = dataclasses.replace(errors.output, drop_repeated=dropped == "true")
    return dataclasses.replace(errors, output=output)


TRANSFORM_TIMEOUT = 10.0  # wall-clock seconds for tf to say where the IMU is
TELLING_PERIOD = 10.0  # wall-clock seconds between two checks of what was wrong with stamps
CLOCK_TIMEOUT = 1.0  # wall-clock seconds to wait for the clock
UNUSED = 500  # messages without a reading, of which somebody should know
TIMED_MESSAGES = 200  # of which the time is taken that a message costs, once the IMU has begun
MAX_SHARE = 0.8  # of the time between two messages that one may take
EARLY_FIELDS = 1000  # of an ideal magnetic field, before anything was heard of the IMU

INPUTS = {"imu": Imu, "gazebo_ros_imu": Imu, "odometry": Odometry}


class RealisticImuNode(Node):
    """From the topic ``~input`` to ``~output``, with what was done on ``<output>/errors``.

    With ``~magnetometer`` also to ``~magnetic_output``.
    """

    name = "realistic_imu"
    has_settings = False

    def __init__(self) -> None:
        super().__init__()
        chosen = named_imu(str(rospy.get_param("~specification")))
        for remark in chosen.remarks:
            rospy.logwarn("%s", remark)
        errors = with_output(chosen.errors)
        rate, seed = self.number("rate", 0.0), self.number("seed", 1, whole=True)
        self._kind = str(rospy.get_param("~input_type", "imu"))
        if self._kind not in INPUTS:
            *others, last = INPUTS
            raise ConfigurationError(
                f"{self.name}: input_type is {self._kind}, expected {', '.join(others)} or {last}"
            )
        self._lock = threading.RLock()
        pose = topic_argument("pose")
        is_odometry = self._kind == "odometry"
        self._surroundings = surroundings(errors, reported=is_odometry or bool(pose))
        self._session = RealisticImu(
            errors,
            seed,
            rate=rate or None,
            field=self._surroundings.has_field,
            speed=self._surroundings.has_speed,
            field_reported=self._surroundings.is_reported_field,
            report=self._surroundings.report,
            operation=_operation(),
        )
        self._frame = str(rospy.get_param("~frame_id", ""))
        self._source: ImuInput | OdometryTruth | None = None
        self._messages: ImuMessages | None = None
        self._use_twist = bool(rospy.get_param("~use_twist", True))
        self._is_oriented = True
        self._is_placed = False
        self._field_mounting: Mounting | None = None
        self._early_fields: deque[MagneticField] = deque(maxlen=EARLY_FIELDS)
        self._place: tuple[int, np.ndarray] | None = None
        self._stamp = 0
        self._timed: list[float] = []
        self._reported: list[str] = []
        self._reported_at = time.monotonic()
        output = topic_argument("output", required=True)
        magnetic = topic_argument("magnetic_output") or topics.beside(output, topics.IMU_MAG)
        ensure_apart(output, *([magnetic] if self._surroundings.has_field else []))
        self._output = advertise(output, Imu)
        if self._surroundings.has_field:
            self._magnetic_output = advertise(magnetic, MagneticField)
        self._calibration: CalibrationPublisher | None = None
        if isinstance(errors, ImuSpecification) and errors.output.bno055_mode:
            status = topics.beside(output, topics.IMU_CALIBRATION)
            self._calibration = CalibrationPublisher(status, errors.output.bno055_mode)
        self._errors = rospy.Publisher(f"{output}/errors", String, latch=True, queue_size=1)
        self._input = topic_argument("input", required=True)
        if self._surroundings.needs_poses and not is_odometry:
            self.subscribe(pose, Odometry, self._on_pose)
        if self._surroundings.is_reported_field:
            self.subscribe(topic_argument("magnetic_input"), MagneticField, self._on_field)
        self._efforts = WheelEfforts()
        if self._surroundings.needs_torques:
            names = (str(rospy.get_param(f"~{side}_joints", "")) for side in SIDES)
            self._efforts = WheelEfforts(*(text.replace(",", " ").split() for text in names))
            # Several may publish states, each of joints of their own.
            subscribe(topic_argument("joint_states"), JointState, self._on_joints)
        callback = self._on_odometry if is_odometry else self._on_imu

        def counted(message):
            self._heard += 1
            callback(message)

        self._heard = 0
        self.subscribe(self._input, INPUTS[self._kind], counted, raw=not is_odometry)

    def spin_once(self):
        """Tell what is wrong with the stamps, when there is something new."""
        now = time.monotonic()
        if self._messages is None and self._heard >= UNUSED:
            rospy.logwarn_once(
                f"{self._input}: {self._heard} messages have come, of which none could be used; "
                f"nothing is published on {self._output.resolved_name} until there is one"
            )
        if now - self._reported_at < TELLING_PERIOD:
            return
        self._reported_at = now
        self._tell_report()
        if self._efforts.only_zeros:
            topic = topic_argument("joint_states")
            rospy.logwarn_once(
                f"{topic}: all efforts are zero, and so are the fields of the "
                "motors; a simulator has none for joints that it moves by their velocity"
            )
        self._warn_if_behind()

    def close(self):
        self._tell_report()

    def _tell_report(self) -> None:
        reported = self._session.report.sentences()
        for sentence in reported:
            if sentence not in self._reported:
                rospy.logwarn("%s: %s", self._input, sentence)
        self._reported = reported

    def _warn_if_behind(self) -> None:
        """Look at simulated time: a simulator does not wait, and messages are not dropped."""
        stamp = self._stamp
        if not stamp or not rospy.get_param("/use_sim_time", False):
            return
        try:
            clock = rospy.wait_for_message(topics.CLOCK, Clock, timeout=CLOCK_TIMEOUT).clock
        except rospy.ROSException:
            return  # paused
        behind = (clock.to_nsec() - self._stamp) / NANOSECONDS
        if behind > 1.0:
            rospy.logwarn(
                "%s is %.1f s behind the simulation: let %s have fewer messages a second, or let "
                "the simulation run slower",
                self._output.resolved_name,
                behind,
                self._input,
            )

    def _on_imu(self, data):
        begun = time.perf_counter()
        self._take_imu(data)
        if self._messages is not None and len(self._timed) < TIMED_MESSAGES:
            self._timed.append(time.perf_counter() - begun)
            if len(self._timed) == TIMED_MESSAGES:
                self._warn_if_too_slow()

    def _warn_if_too_slow(self) -> None:
        """Say at the beginning what a simulator that does not wait would make of it."""
        period = self._session.period
        # The mean, since on a busy machine a few of them wait for the processor.
        cost = float(np.mean(self._timed))
        if period is not None and cost > MAX_SHARE * period:
            rospy.logwarn(
                "%s has %.0f messages a second and this machine now takes in about %.0f: let it "
                "have fewer, or let the simulation run slower, or messages will be lost",
                self._input,
                1.0 / period,
                1.0 / cost,
            )

    def _take_imu(self, data):
        message = read_numbers(data, IMU, ros2=False)
        if message is None:
            raise SimulatorError(f"{self._input}: a message is not laid out as sensor_msgs/Imu")
        with self._lock:
            if self._source is None:
                self._source = self._imu_input(message.frame)
            truths = self._source.truths(message.stamp, message.numbers)
            if self._is_oriented and self._source.has_orientation is False:
                self._is_oriented = False
                self._session.without_orientation()
                self._messages = None
            for known in truths:
                self._take(self._surroundings.add(*known))
            self._tell_fields()
            self._stamp = message.stamp

    def _imu_input(self, frame) -> ImuInput:
        is_plugin = self._kind == "gazebo_ros_imu"
        add_gravity = is_plugin or rospy.get_param("~add_gravity", False)
        return ImuInput(
            self._mounting(frame, self._input),
            WORLD_GRAVITY if add_gravity else 0.0,
            is_plugin,
            self._session.report,
        )

    def _on_odometry(self, message):
        with self._lock:
            if self._source is None:
                mounting = self._mounting(message.child_frame_id, self._input)
                self._surroundings.mount(mounting.lever_arm)
                self._source = OdometryTruth(mounting, self._use_twist, report=self._session.report)
            p, q = message.pose.pose.position, message.pose.pose.orientation
            v, w = message.twist.twist.linear, message.twist.twist.angular
            numbers = (p.x, p.y, p.z, q.x, q.y, q.z, q.w, v.x, v.y, v.z, w.x, w.y, w.z)
            stamp = message.header.stamp.to_nsec()
            known = self._source.truth(stamp, np.array(numbers))
            if known is not None:
                self._take(self._surroundings.add(*known))
            self._tell_pose(message)
            self._tell_fields()
            self._stamp = stamp

    def _on_pose(self, message):
        with self._lock:
            if not self._frame:
                return  # nothing was heard of the IMU
            if not self._is_placed:
                self._is_placed = True
                mounting = self._mounting(message.child_frame_id, topic_argument("pose"))
                self._surroundings.mount(mounting.lever_arm)
            self._tell_pose(message)

    def _on_field(self, message):
        with self._lock:
            self._early_fields.append(message)
            if self._source is not None:
                self._tell_fields()

    def _tell_fields(self) -> None:
        """Say what was heard of the field, once it is known in which axes it is wanted."""
        while self._early_fields:
            message = self._early_fields.popleft()
            if self._field_mounting is None:
                topic = topic_argument("magnetic_input")
                self._field_mounting = self._mounting(message.header.frame_id, topic)
            b = message.magnetic_field
            field = np.array((b.x, b.y, b.z))
            if not self._field_mounting.is_none:
                field = self._field_mounting.rotation.inv().apply(field)
            self._take(self._surroundings.add_field(message.header.stamp.to_nsec(), field))

    def _on_joints(self, message):
        with self._lock:
            try:
                torques = self._efforts.torques(message.name, message.effort)
                if torques is not None:
                    stamp = message.header.stamp.to_nsec()
                    self._take(self._surroundings.add_torques(stamp, *torques))
            except FrameworkError as error:
                self.fail(f"{topic_argument('joint_states')}: {error}")

    def _tell_pose(self, message) -> None:
        if not self._surroundings.needs_poses:
            return
        p, q = message.pose.pose.position, message.pose.pose.orientation
        stamp, place = message.header.stamp.to_nsec(), np.array((p.x, p.y, p.z))
        v = message.twist.twist.linear
        speed = math.sqrt(v.x * v.x + v.y * v.y + v.z * v.z)
        if not self._use_twist:
            before, self._place = self._place, (stamp, place)
            speed = 0.0
            if before is not None and stamp > before[0]:
                speed = float(np.linalg.norm(place - before[1])) / ((stamp - before[0]) * 1e-9)
        self._take(self._surroundings.add_pose(stamp, place, (q.x, q.y, q.z, q.w), speed))

    def _take(self, truths) -> None:
        readings = [known for pair in truths for known in self._session.add(*pair)]
        if readings:
            self._publish(readings)

    def _publish(self, readings) -> None:
        if self._messages is None:
            self._messages = self._begin()
        oriented = self._session.gives_orientation
        rows = [
            (
                *(reading.orientation if oriented else NO_ORIENTATION),
                *reading.angular_velocity,
                *reading.specific_force,
            )
            for _, reading in readings
        ]
        stamps = np.array([stamp for stamp, _ in readings])
        self._messages.publish_data(self._output, stamps, np.array(rows))
        fields = None
        if self._surroundings.has_field:
            fields = np.array([reading.magnetic_field for _, reading in readings])
            self._messages.publish_field(self._magnetic_output, stamps, fields)
        if self._calibration is not None:
            signals = np.array(rows)
            self._calibration.add(stamps, signals[:, 4:7], signals[:, 7:], fields)

    def _begin(self) -> ImuMessages:
        """Say what is done, and return what writes messages."""
        described = {"input": self._input, "frame_id": self._frame, **self._session.describe()}
        if self._surroundings.has_field:
            if self._surroundings.is_reported_field:
                described["magnetic_input"] = topic_argument("magnetic_input")
            else:
                described["magnetic_environment"] = str(rospy.get_param("~magnetic_environment"))
        self._errors.publish(String(data=json.dumps(described, sort_keys=True)))
        rospy.loginfo(
            "%s: %s of %s at %g Hz, in frame %s",
            self._output.resolved_name,
            described["label"],
            self._input,
            1.0 / described["period"],
            self._frame,
        )
        of_field = (
            self._session.magnetic_covariance() if self._surroundings.has_field else 9 * (0.0,)
        )
        return ImuMessages(self._session.covariances(), of_field, self._frame)

    def _mounting(self, frame, topic) -> Mounting:
        """Return where the IMU is on what is published on a topic, as tf says it."""
        if not self._frame:
            self._frame = frame
        if self._frame == frame or not rospy.get_param("~use_tf", False):
            return Mounting()
        buffer = tf2_ros.Buffer()
        listener = tf2_ros.TransformListener(buffer)
        deadline = time.monotonic() + TRANSFORM_TIMEOUT
        while not buffer.can_transform(frame, self._frame, rospy.Time(0)):
            if time.monotonic() > deadline or self.ended:
                raise SimulatorError(
                    f"tf does not say within {TRANSFORM_TIMEOUT:g} s where {self._frame} is in "
                    f"{frame or '(no name)'}, the frame of {topic}"
                )
            self._ended.wait(0.05)
        transform = buffer.lookup_transform(frame, self._frame, rospy.Time(0)).transform
        listener.unregister()
        t, q = transform.translation, transform.rotation
        return Mounting(np.array([t.x, t.y, t.z]), Rotation.from_quat([q.x, q.y, q.z, q.w]))
