"""Turns the simulator's ideal IMU into the one that a specification describes."""

from __future__ import annotations

import threading
from collections import deque

import numpy as np
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu, MagneticField
from std_msgs.msg import Float64MultiArray

from imu_simulation_framework import topics
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.experiment.from_configuration import (
    make_experiment_imu,
    make_magnetic_environment,
)
from imu_simulation_framework.experiment.session.magnetic_field import FieldAlongTheWay
from imu_simulation_framework.motion.stamps import NANOSECONDS
from imu_simulation_framework.robot.parameters import load_robot_parameters
from imu_simulation_framework.ros.node import advertise, subscribe
from imu_simulation_framework.ros.participant import Participant
from imu_simulation_framework.ros.simulator_messages import ImuMessages
from imu_simulation_framework.ros.simulators import make_simulator_interface, needs_error_model
from imu_simulation_framework.sensors.imu_models import AnyTruth, ImuTruth, MagneticTruth


class ImuErrorModel(Participant):
    """From ``imu/ideal`` to ``imu/data``, with the bias on ``imu/data/bias``.

    A magnetometer, on ``imu/mag``, needs the robot's true place as well: a sample waits until that
    is known. The motors' own fields are left out, as Gazebo does not say what they pull.

    The model starts when the robot does, so that its random numbers belong to the same
    samples in every run: in lock-step with the sample that the simulator repeats until the
    first wheel command, otherwise with the first one after that command.

    Where nobody needs it, it does nothing: what starts nodes does not know what config.ini says.
    """

    name = "imu_error_model"

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._waiting: deque[Imu] = deque()
        simulator = make_simulator_interface(self.configuration)
        if not needs_error_model(self.configuration, simulator):
            return
        self._lock_step = simulator.lock_step
        self._imu = make_experiment_imu(self.configuration)
        if self._imu.feels_speed:
            raise ConfigurationError(
                f"{self.name}: vibration depends on the speed, which is not known beside Gazebo; "
                "leave the specification's vibration out, or take simulator:=mujoco"
            )
        self._messages = ImuMessages(self._imu.covariances(), self._imu.magnetic_covariance())
        self._field: FieldAlongTheWay | None = None
        environment = make_magnetic_environment(self.configuration)
        if environment is not None and self._imu.has_magnetometer:
            robot = load_robot_parameters(self.configuration.robot.parameters or None)
            self._field = FieldAlongTheWay(environment, robot.imu_position)
            self._imu_mag = advertise(topics.IMU_MAG, MagneticField)
        self._stamp = None
        self._samples = 0
        self._imu_data = advertise(topics.IMU, Imu)
        self._imu_bias = advertise(topics.IMU_BIAS, Imu)
        self.inputs = (
            self.subscribe(topics.IMU_IDEAL, Imu, self._on_imu),
            self.subscribe(topics.WHEEL_COMMAND, Float64MultiArray, self._on_command),
        )
        self._commanded = False
        if self._field is not None:
            subscribe(topics.GROUND_TRUTH, Odometry, self._on_ground_truth)
        self.offer_start()

    def prepare(self, start, stop):
        self.wait_until(
            lambda: self._stamp is not None,
            self.configuration.simulation.startup_timeout,
            f"the first message on {topics.IMU_IDEAL}",
        )
        self.wait_for_subscribers(self._imu_data, self._imu_bias)

    def _on_command(self, _):
        with self._lock:
            if not self._commanded:
                self._commanded = True
                if not self._lock_step:
                    self._restart()

    def _on_imu(self, message):
        with self._lock:
            if self._field is None:
                self._measure(message)
                return
            self._waiting.append(message)
            self._measure_known()

    def _on_ground_truth(self, message):
        assert self._field is not None
        with self._lock:
            position, turn = message.pose.pose.position, message.pose.pose.orientation
            self._field.add(
                message.header.stamp.to_nsec(),
                (position.x, position.y, position.z),
                (turn.x, turn.y, turn.z, turn.w),
            )
            self._measure_known()

    def _measure_known(self) -> None:
        """Measure all samples that are waiting at whose time it is known where the robot was."""
        field = self._field
        assert field is not None
        while self._waiting and field.knows(self._waiting[0].header.stamp.to_nsec()):
            self._measure(self._waiting.popleft())

    def _measure(self, message) -> None:
        stamp = message.header.stamp.to_nsec()
        if self._samples <= 1 and stamp == self._stamp:
            # Repeated until the first command, perhaps after the robot has been put elsewhere.
            self._restart()
        self._stamp = stamp
        self._samples += 1
        truth: AnyTruth = _truth(message)
        if self._field is not None:
            field = self._field.at(stamp, truth.orientation)
            rate, force = truth.angular_velocity, truth.specific_force
            truth = MagneticTruth(truth.orientation, rate, force, field)
        self._publish(stamp, self._imu.step(truth))

    def _restart(self) -> None:
        self._imu = make_experiment_imu(self.configuration)
        self._samples = 0

    def _publish(self, stamp, reading) -> None:
        new, time = np.array([self._imu.has_new_sample]), np.array([stamp / NANOSECONDS])
        given = self._imu.given_away(time, new)
        stamps = np.full(1 if given is None else len(given), stamp)
        if not len(stamps):
            return
        bias = (
            reading.orientation_bias,
            reading.angular_velocity_bias,
            reading.specific_force_bias,
        )
        signals = (reading.orientation, reading.angular_velocity, reading.specific_force)
        self._messages.publish_bias(self._imu_bias, stamps, np.concatenate(bias))
        if self._field is not None:
            self._messages.publish_field(self._imu_mag, stamps, reading.magnetic_field)
        self._messages.publish_data(self._imu_data, stamps, np.concatenate(signals))


def _truth(message) -> ImuTruth:
    q, w, a = message.orientation, message.angular_velocity, message.linear_acceleration
    return ImuTruth(
        np.array((q.x, q.y, q.z, q.w)), np.array((w.x, w.y, w.z)), np.array((a.x, a.y, a.z))
    )
