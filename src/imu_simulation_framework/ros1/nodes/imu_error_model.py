"""Add the errors of a specification to the ideal IMU of the simulator."""

from __future__ import annotations

import math
import threading
from collections import deque
from typing import Any

import numpy as np
import rospy
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu, JointState, MagneticField
from std_srvs.srv import Trigger, TriggerResponse

from ...core import topics
from ...core.stamps import NANOSECONDS
from ...drive.experiment.environment import add_earth_rotation, make_magnetic_environment
from ...drive.experiment.imu import make_experiment_imu
from ...drive.experiment.robot import experiment_robot
from ...drive.session.imu_conditions import ImuConditions
from ...recordings.messages import ImuPackers
from ...sensors.imu_models.base import ImuTruth
from ..messages import CalibrationPublisher, publish_packed
from ..node import advertise, subscribe
from ..participant import Participant
from ..simulators.interface import needs_error_model


class ImuErrorModel(Participant):
    """Convert ``imu/ideal`` to ``imu/data``, with the bias on ``imu/data/bias``.

    A magnetometer on ``imu/mag`` and vibration also require the ground truth, and the magnetic
    fields of motors require their torques. Samples are queued until this input is available.

    The model starts with the robot's first motion, so that its random numbers are used for the same
    samples in every run and its fusion filter starts while stationary. Its first sample is the
    sample that the simulator repeats until the first wheel command. Without lock-step, it is the
    sample that this node repeats when path_follower calls ``imu_error_model/restart`` while
    simulated time is stopped.

    If the simulator applies the specification, the node does nothing; launch files always start
    it, because they cannot read config.ini.
    """

    name = "imu_error_model"

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._waiting: deque[Imu] = deque()
        if not needs_error_model(self.configuration, self._simulator):
            return
        self._imu = make_experiment_imu(self.configuration)
        self._packers = ImuPackers(self._imu.covariances(), self._imu.magnetic_covariance())
        self._conditions: ImuConditions | None = None
        self._torques_known = True
        environment = make_magnetic_environment(self.configuration)
        self._has_field = environment is not None and self._imu.has_magnetometer
        if self._has_field or self._imu.requires_speed:
            robot = experiment_robot(self.configuration)
            self._wheel_joints = robot.wheel_joints
            environment = environment if self._has_field else None
            self._torques_known = environment is None or not environment.motors
            speed, torques = self._imu.requires_speed, not self._torques_known
            self._conditions = ImuConditions(environment, robot.imu_position, speed, torques)
        if self._has_field:
            self._imu_mag = advertise(topics.IMU_MAG, MagneticField)
        mode, topic = self._imu.bno055_mode, topics.IMU_CALIBRATION
        self._calibration = CalibrationPublisher(topic, mode) if mode else None
        self._latitude = self.configuration.simulation.latitude
        self._stamp: int | None = None
        self._truth: Any = None  # ideal signals at the latest stamp
        self._samples = 0
        self._imu_data = advertise(topics.IMU, Imu)
        self._imu_bias = advertise(topics.IMU_BIAS, Imu)
        self.inputs = (self.subscribe(topics.IMU_IDEAL, Imu, self._on_imu),)
        if self._conditions is not None:
            subscribe(topics.GROUND_TRUTH, Odometry, self._on_ground_truth)
        if not self._torques_known:
            subscribe(topics.WHEEL_TORQUES, JointState, self._on_torques)
        rospy.Service(f"{self.name}/restart", Trigger, self._on_restart)
        self.offer_start()

    def prepare(self, start, stop):
        torques = f"the first message on {topics.WHEEL_TORQUES} from the Gazebo plug-in"
        self.wait_until(lambda: self._torques_known, torques)
        measured = f"the first message on {topics.IMU_IDEAL}"
        self.wait_until(lambda: self._stamp is not None, measured)
        self.wait_for_subscribers(self._imu_data, self._imu_bias)

    def _on_restart(self, _):
        """Restart the model with the latest sample, and publish the sample again."""
        with self._lock:
            if self._stamp is None:
                return TriggerResponse(success=False, message=f"{self.name}: no sample yet")
            self._restart()
            self._measure_truth(self._stamp, self._truth)
        return TriggerResponse(success=True, message="")

    def _on_imu(self, message):
        with self._lock:
            if self._conditions is None:
                self._measure(message)
                return
            self._waiting.append(message)
            self._measure_known()

    def _on_ground_truth(self, message):
        assert self._conditions is not None
        with self._lock:
            position, turn = message.pose.pose.position, message.pose.pose.orientation
            velocity = message.twist.twist.linear
            self._conditions.add_state(
                message.header.stamp.to_nsec(),
                (position.x, position.y, position.z),
                (turn.x, turn.y, turn.z, turn.w),
                math.hypot(velocity.x, velocity.y, velocity.z),
            )
            self._measure_known()

    def _on_torques(self, message):
        assert self._conditions is not None
        torques = dict(zip(message.name, message.effort))
        per_side = len(self._wheel_joints) // 2
        sides = (self._wheel_joints[:per_side], self._wheel_joints[per_side:])
        left, right = (sum(torques[joint] for joint in side) for side in sides)
        with self._lock:
            self._torques_known = True
            self._conditions.add_torques(message.header.stamp.to_nsec(), left, right)
            self._measure_known()

    def _measure_known(self) -> None:
        """Add errors to queued samples once pose and motor torques at their stamps are known."""
        conditions = self._conditions
        assert conditions is not None
        while self._waiting and conditions.is_complete(self._waiting[0].header.stamp.to_nsec()):
            self._measure(self._waiting.popleft())

    def _measure(self, message) -> None:
        stamp = message.header.stamp.to_nsec()
        truth = add_earth_rotation(_make_truth(message), self._latitude)
        if self._conditions is not None:
            truth = self._conditions.complete([stamp], [truth])[0]
        if self._samples <= 1 and stamp == self._stamp:
            # The simulator repeats this sample until the first command, possibly at another pose.
            self._restart()
        self._measure_truth(stamp, truth)
        self.report_processed(stamp)

    def _measure_truth(self, stamp, truth) -> None:
        self._stamp, self._truth = stamp, truth
        self._samples += 1
        self._publish(stamp, self._imu.step(truth))

    def _restart(self) -> None:
        self._imu = make_experiment_imu(self.configuration)
        if self._calibration is not None:
            self._calibration.restart(self._imu.bno055_mode)
        self._samples = 0

    def _publish(self, stamp, reading) -> None:
        new, time = np.array([self._imu.has_new_sample]), np.array([stamp / NANOSECONDS])
        emitted = self._imu.emitted(time, new)
        stamps = np.full(1 if emitted is None else len(emitted), stamp)
        if not len(stamps):
            return
        parts = ("orientation", "angular_velocity", "specific_force")
        signals, bias = (
            np.concatenate([getattr(reading, f"{part}{kind}") for part in parts])
            for kind in ("", "_bias")
        )
        publish_packed(self._imu_bias, self._packers.bias(stamps, bias))
        if self._calibration is not None:
            rate, force = reading.angular_velocity[np.newaxis], reading.specific_force[np.newaxis]
            field = reading.magnetic_field[np.newaxis] if self._has_field else None
            self._calibration.publish(stamps[:1], rate, force, field)
        if self._has_field:
            publish_packed(self._imu_mag, self._packers.field(stamps, reading.magnetic_field))
        publish_packed(self._imu_data, self._packers.data(stamps, signals))


def _make_truth(message) -> ImuTruth:
    q, w, a = message.orientation, message.angular_velocity, message.linear_acceleration
    return ImuTruth(
        np.array((q.x, q.y, q.z, q.w)), np.array((w.x, w.y, w.z)), np.array((a.x, a.y, a.z))
    )
