"""Simulate the robot in MuJoCo, in lock-step with the wheel commands."""

from __future__ import annotations

import math
import threading
import time

import rospy
from geometry_msgs.msg import Vector3
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState, MagneticField
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Empty, EmptyResponse
from tf2_msgs.msg import TFMessage

from ...core import topics
from ...core.errors import ConfigurationError, FrameworkError
from ...core.sentences import quote
from ...core.yaml_files import NOT_YAML, load_plain
from ...drive.session.driving import describe_command_error
from ...drive.session.simulation import SimulatedRobot
from ...recordings.messages import ImuPackers
from ...srv import (
    SetBias,
    SetBiasResponse,
    SetImuParameters,
    SetImuParametersResponse,
    SetPose,
    SetPoseResponse,
)
from ..messages import CalibrationPublisher, GnssPublisher, RobotMessages, publish_packed
from ..node import Node, advertise
from ..rospy_internals import connected_nodes
from ..simulators.interface import END_DRIVE, SET_IMU_PARAMETERS, SET_POSE

# Reason why a pose or parameters are rejected after the first command.
DRIVING = "the robot is already driving, so the change would invalidate the experiment"

BATCH_SIZE = 50  # number of samples whose readings are published together

# Nodes that do not respond to readings, so that readings may be published later.
_PASSIVE_NODES = ("result_comparison", "experiment_recorder", "imu_yaw_publisher")


class MujocoSimulatorNode(Node):
    """Publish the samples of each control period, then wait for the next command.

    Until the first command, simulated time is stopped and the node repeats the first samples for
    late subscribers. After the first command, the node ends with an error if a command does not
    arrive within the configured timeout.

    Sensor readings do not affect the motion of the robot. Computing them in batches of half a
    second takes a third of the time, so they are computed and published in batches if only
    passive nodes subscribe and the drive is not paced to real time.
    """

    name = "mujoco_simulator"

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._robot = SimulatedRobot(self.configuration)
        self._packers = _packers(self._robot.imu)
        self._robot_messages = RobotMessages(self._robot.robot.joints)
        self._clock = advertise(topics.CLOCK, Clock)
        self._imu_data = advertise(topics.IMU, Imu)
        self._imu_bias = advertise(topics.IMU_BIAS, Imu)
        self._imu_mag = advertise(topics.IMU_MAG, MagneticField)
        self._ground_truth = advertise(topics.GROUND_TRUTH, Odometry)
        positioning = self._robot.positioning
        self._calibration: CalibrationPublisher | None = None
        self._begin_calibration()
        self._gnss = None if positioning is None else GnssPublisher(positioning.gnss)
        self._odometry = advertise(topics.ODOMETER, Odometry) if self._robot.odometer else None
        self._joint_states = advertise(topics.JOINT_STATES, JointState)
        self._transforms = advertise(topics.TRANSFORMS, TFMessage)
        self._readings = [
            *(self._imu_data, self._imu_bias, self._imu_mag),
            *(() if self._gnss is None else self._gnss.publishers),
            *(() if self._odometry is None else (self._odometry,)),
        ]
        self._driving = self._drive_ended = False
        self._began = self._reported = 0.0
        self._waiting_since: float | None = (
            time.monotonic()
        )  # wall-clock time; None while the robot is driving
        rospy.Service(SET_POSE, SetPose, self._on_set_pose)
        rospy.Service(SET_IMU_PARAMETERS, SetImuParameters, self._on_set_imu_parameters)
        rospy.Service(END_DRIVE, Empty, self._on_end_drive)
        self._offer_calibration()
        self.subscribe(topics.WHEEL_COMMAND, Float64MultiArray, self._on_command)

    def spin_once(self):
        """Repeat the first samples until the first command; fail if a later command is missing."""
        with self._lock:
            if self._driving:
                self._publish_waiting()
            else:
                self._publish(self._robot.last)
        now = time.monotonic()
        waiting_since = self._waiting_since
        if waiting_since is None:
            return
        if now - self._reported > 5.0 and now - waiting_since > 5.0:
            self._reported = now
            rospy.loginfo("waiting for a command on %s", topics.WHEEL_COMMAND)
        timeout = self.configuration.simulation.command_timeout
        if self._driving and not self._drive_ended and now - waiting_since > timeout:
            self.fail(
                f"{self.name}: no command on {topics.WHEEL_COMMAND} for {timeout:g} s "
                f"at {self._robot.time:.2f} s of simulated time"
            )

    def _answer(self, command: tuple[float, ...]) -> None:
        """Drive for a control period in the thread that received the command.

        Waking another thread would take a third as long as the physics.
        """
        self._waiting_since = None
        if not self._driving:
            self._begin()
        factor = self.configuration.simulation.real_time_factor
        with self._lock:
            self._publish_motion(self._robot.drive(*command))
            # The readings are computed while other nodes compute the next command.
            if self._robot.waiting >= BATCH_SIZE or factor > 0.0 or self._has_listeners():
                self._publish_waiting()
        if factor > 0.0:
            lead = self._robot.time / factor
            self._ended.wait(max(0.0, lead - (time.monotonic() - self._began)))
        self._waiting_since = time.monotonic()

    def _begin(self) -> None:
        motion_publishers = (self._clock, self._ground_truth, self._joint_states, self._transforms)
        self.wait_for_subscribers(*self._readings, *motion_publishers)
        with self._lock:
            self._driving = True
            # The samples are repeated for late subscribers, at the latest pose.
            self._publish(self._robot.last)
        self._began = time.monotonic()

    def _has_listeners(self) -> bool:
        """Return whether a node that may respond to readings subscribes to a sensor topic."""
        connected = {node for topic in self._readings for node in connected_nodes(topic)}
        return not connected <= set(_PASSIVE_NODES)

    def _publish(self, samples) -> None:
        """Publish samples, starting with the ground truth, for which other nodes wait."""
        self._publish_motion(samples)
        self._publish_readings(samples)

    def _publish_motion(self, samples) -> None:
        messages, state = self._robot_messages, samples.state
        messages.publish_ground_truth(self._ground_truth, samples.stamps, state)
        self._clock.publish(messages.clock(samples.stamps[-1]))
        if samples.with_wheels:
            self._joint_states.publish(messages.joint_states(state))
        if self._transforms.get_num_connections():
            self._transforms.publish(messages.transforms(state))

    def _publish_waiting(self) -> None:
        """Publish the readings of queued samples; the caller must hold the lock."""
        if self._robot.waiting:
            self._publish_readings(self._robot.measured())

    def _publish_readings(self, samples) -> None:
        """Publish readings; messages without subscribers are not created."""
        messages = self._robot_messages
        if samples.has_magnetic_field and self._imu_mag.get_num_connections():
            publish_packed(self._imu_mag, self._packers.field(*samples.magnetic_rows()))
        if self._gnss is not None:
            for fixes in samples.fixes:
                self._gnss.publish(fixes)
        if self._odometry is not None and samples.odometry:
            messages.publish_odometry(self._odometry, *samples.odometer_rows())
        if self._imu_data.get_num_connections():
            publish_packed(self._imu_data, self._packers.data(*samples.imu_rows()))
        if self._calibration is not None:
            read, rows = samples.imu_rows()
            _, fields = samples.magnetic_rows() or (None, None)
            self._calibration.publish(read, rows[:, 4:7], rows[:, 7:], fields)
        if self._imu_bias.get_num_connections():
            publish_packed(self._imu_bias, self._packers.bias(*samples.bias_rows()))

    def _on_command(self, message):
        problem = describe_command_error(message.data, self._robot.robot.drivetrain.commands)
        if problem:
            self.fail(f"{self.name}: {problem}")
            return
        if not self.ended:
            self._answer(tuple(message.data))

    def _offer_calibration(self) -> None:
        """Advertise the services of Hector's plug-in, which can be called at any time.

        If they are called during a drive, its results depend on the time of the call.
        """

        def offer(name, kind, response, part):
            def answer(request):
                bias = getattr(request, "bias", Vector3())
                with self._lock:
                    self._publish_waiting()
                    try:
                        self._robot.imu.set_drift(**{part: (bias.x, bias.y, bias.z)})
                    except FrameworkError as error:
                        raise rospy.ServiceException(str(error)) from error
                return response()

            rospy.Service(name, kind, answer)

        offer(topics.IMU_CALIBRATE, Empty, EmptyResponse, "angular_velocity")
        offer(topics.IMU_SET_RATE_BIAS, SetBias, SetBiasResponse, "angular_velocity")
        offer(topics.IMU_SET_ACCEL_BIAS, SetBias, SetBiasResponse, "specific_force")

    def _begin_calibration(self) -> None:
        """Publish the calibration status of the IMU, if it has one."""
        mode = self._robot.imu.bno055_mode
        if not mode:
            self._calibration = None
        elif self._calibration is None:
            self._calibration = CalibrationPublisher(topics.IMU_CALIBRATION, mode)
        else:
            self._calibration.restart(mode)

    def _on_end_drive(self, _):
        self._drive_ended = True
        self.wake()  # publishes the queued readings
        return EmptyResponse()

    def close(self):
        with self._lock:
            self._publish_waiting()

    def _on_set_pose(self, request):
        if self._driving:
            return SetPoseResponse(success=False, message=DRIVING)
        pose = request.pose
        if not all(math.isfinite(value) for value in (pose.x, pose.y, pose.theta)):
            return SetPoseResponse(
                success=False, message=f"pose is {pose}, expected finite numbers"
            )
        with self._lock:
            self._robot.set_pose(pose.x, pose.y, pose.theta)
            self._begin_calibration()
        return SetPoseResponse(success=True, message="")

    def _on_set_imu_parameters(self, request):
        if self._driving:
            return SetImuParametersResponse(success=False, message=DRIVING)
        try:
            parameters = load_plain(request.parameters) or {}
            if not isinstance(parameters, dict):
                raise ConfigurationError(
                    f"parameters is {quote(request.parameters)}, expected a mapping"
                )
            with self._lock:
                self._robot.set_imu(request.model, parameters, request.seed)
                self._packers = _packers(self._robot.imu)
                self._begin_calibration()
        except (FrameworkError, *NOT_YAML) as error:
            return SetImuParametersResponse(success=False, message=str(error))
        return SetImuParametersResponse(success=True, message="")


def _packers(imu) -> ImuPackers:
    return ImuPackers(imu.covariances(), imu.magnetic_covariance())
