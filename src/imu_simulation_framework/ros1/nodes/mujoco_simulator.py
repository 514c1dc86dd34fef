"""The MuJoCo simulator as a ROS node, in lock-step with whoever commands the wheels."""

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

from imu_simulation_framework.core import topics
from imu_simulation_framework.core.errors import ConfigurationError, FrameworkError
from imu_simulation_framework.core.sentences import shown
from imu_simulation_framework.core.yaml_files import NOT_YAML, load_plain
from imu_simulation_framework.drive.session.driving import wrong_command
from imu_simulation_framework.drive.session.simulation import SimulatedRobot
from imu_simulation_framework.recordings.messages import ImuPackers
from imu_simulation_framework.ros1.messages import (
    CalibrationPublisher,
    GnssPublisher,
    RobotMessages,
    publish_packed,
)
from imu_simulation_framework.ros1.node import Node, advertise
from imu_simulation_framework.ros1.simulators.interface import (
    END_DRIVE,
    SET_IMU_PARAMETERS,
    SET_POSE,
)
from imu_simulation_framework.srv import (
    SetBias,
    SetBiasResponse,
    SetImuParameters,
    SetImuParametersResponse,
    SetPose,
    SetPoseResponse,
)

DRIVING = "the robot drives already, and the experiment would mean nothing any more"
"""Why a pose and parameters are refused after the first command."""

WAKE_PERIOD = 0.2  # wall-clock seconds after which a wait looks whether the experiment has ended


class MujocoSimulatorNode(Node):
    """Publishes each control period's samples, then waits for the command that answers them.

    Until the first command, time stands still and the first tick is repeated, so that
    whoever joins late sees it. After that, a command that does not come within the
    configured time ends the node with an error.
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
        self._commands = 0
        self._command: tuple[float, ...] = ()
        self._drive_ended = False
        self._command_given = threading.Condition()
        rospy.Service(SET_POSE, SetPose, self._on_set_pose)
        rospy.Service(SET_IMU_PARAMETERS, SetImuParameters, self._on_set_imu_parameters)
        rospy.Service(END_DRIVE, Empty, self._on_end_drive)
        self._offer_calibration()
        self.subscribe(topics.WHEEL_COMMAND, Float64MultiArray, self._on_command)

    def run(self):
        """Simulate tick by tick until the experiment ends."""
        self._hold()
        if not self.ended:
            of_imu = (self._imu_data, self._imu_bias, self._imu_mag)
            of_robot = (self._clock, self._ground_truth, self._joint_states, self._transforms)
            of_gnss = () if self._gnss is None else self._gnss.publishers
            of_odometer = () if self._odometry is None else (self._odometry,)
            self.wait_for_subscribers(*of_imu, *of_robot, *of_gnss, *of_odometer)
            # Once more for those who were not there before, or before the pose was set.
            with self._lock:
                self._publish(self._robot.last)
        factor = self.configuration.simulation.real_time_factor
        started = time.monotonic()
        while not self.ended:
            answered = self._commands
            # Published all at the end: a subscriber that wakes up then finds several messages at
            # once, which costs it, and this node, less than one at a time.
            with self._lock:
                driven = self._robot.drive(*self._command)
                self._publish_motion(driven.stamps, driven.state)
                # While the others work on their answer, the IMU measures.
                self._publish_readings(self._robot.measured())
            if factor > 0.0:
                ahead = self._robot.time / factor
                self._ended.wait(max(0.0, ahead - (time.monotonic() - started)))
            self._wait_for_command(answered)
        return super().run()

    def _hold(self) -> None:
        reported = time.monotonic()
        while not self.ended:
            with self._lock:
                self._publish(self._robot.last)
            if self._command_within(0.1, 0):
                return
            reported = self._report_waiting(reported)

    def _wait_for_command(self, answered: int) -> None:
        """Wait until there are more than ``answered`` commands; fail after the time-out."""
        timeout = self.configuration.simulation.command_timeout
        started = reported = time.monotonic()
        while not self.ended and not self._command_within(WAKE_PERIOD, answered):
            reported = self._report_waiting(reported)
            if self.ended or self._drive_ended:
                continue
            if time.monotonic() - started > timeout:
                self.fail(
                    f"{self.name}: no command on {topics.WHEEL_COMMAND} for {timeout:g} s "
                    f"at {self._robot.time:.2f} s of simulated time"
                )

    def _command_within(self, period: float, answered: int) -> bool:
        with self._command_given:
            return self._command_given.wait_for(lambda: self._commands > answered, period)

    def _report_waiting(self, reported: float) -> float:
        """Say now and then what is waited for; return when that was said last."""
        now = time.monotonic()
        if now - reported < 5.0:
            return reported
        rospy.loginfo("waiting for a command on %s", topics.WHEEL_COMMAND)
        return now

    def _publish(self, samples) -> None:
        """Publish samples, the ground truth first, which is what the others work on."""
        self._publish_motion(samples.stamps, samples.state)
        self._publish_readings(samples)

    def _publish_motion(self, stamps, state) -> None:
        messages = self._robot_messages
        messages.publish_ground_truth(self._ground_truth, stamps, state)
        self._clock.publish(messages.clock(stamps[-1]))

    def _publish_readings(self, samples) -> None:
        """Publish what sensors say, and once what belongs to the last sample.

        What has no subscriber is not filled.
        """
        state, messages = samples.state, self._robot_messages
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
        if len(samples.wheels):
            self._joint_states.publish(messages.joint_states(state))
        if self._transforms.get_num_connections():
            self._transforms.publish(messages.transforms(state))

    def _on_command(self, message):
        wrong = wrong_command(message.data, self._robot.robot.drivetrain.commands)
        if wrong:
            self.fail(f"{self.name}: {wrong}")
            return
        with self._command_given:
            self._command = tuple(message.data)
            self._commands += 1
            self._command_given.notify()

    def _offer_calibration(self) -> None:
        """Offer the services of Hector's plug-in, which are answered at any time.

        A drive in which they are called depends on the moment of the call.
        """

        def offer(name, kind, response, part):
            def answer(request):
                bias = getattr(request, "bias", Vector3())
                with self._lock:
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
        """Say from now on how far this IMU is calibrated, if it does."""
        mode = self._robot.imu.bno055_mode
        if not mode:
            self._calibration = None
        elif self._calibration is None:
            self._calibration = CalibrationPublisher(topics.IMU_CALIBRATION, mode)
        else:
            self._calibration.restart(mode)

    def _on_end_drive(self, _):
        self._drive_ended = True
        return EmptyResponse()

    def _on_set_pose(self, request):
        if self._commands:
            return SetPoseResponse(success=False, message=DRIVING)
        pose = request.pose
        if not all(math.isfinite(value) for value in (pose.x, pose.y, pose.theta)):
            return SetPoseResponse(success=False, message=f"expected finite numbers, got {pose}")
        with self._lock:
            self._robot.set_pose(pose.x, pose.y, pose.theta)
            self._begin_calibration()
        return SetPoseResponse(success=True, message="")

    def _on_set_imu_parameters(self, request):
        if self._commands:
            return SetImuParametersResponse(success=False, message=DRIVING)
        try:
            parameters = load_plain(request.parameters) or {}
            if not isinstance(parameters, dict):
                raise ConfigurationError(f"expected a mapping, got {shown(request.parameters)}")
            with self._lock:
                self._robot.set_imu(request.model, parameters, request.seed)
                self._packers = _packers(self._robot.imu)
                self._begin_calibration()
        except (FrameworkError, *NOT_YAML) as error:
            return SetImuParametersResponse(success=False, message=str(error))
        return SetImuParametersResponse(success=True, message="")


def _packers(imu) -> ImuPackers:
    return ImuPackers(imu.covariances(), imu.magnetic_covariance())
