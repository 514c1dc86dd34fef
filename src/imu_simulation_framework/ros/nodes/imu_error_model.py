"""Turns the simulator's ideal IMU into the one that a specification describes."""

from __future__ import annotations

import threading

import numpy as np
from sensor_msgs.msg import Imu
from std_msgs.msg import Float64MultiArray

from imu_simulation_framework import topics
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.experiment.from_configuration import make_experiment_imu
from imu_simulation_framework.ros.node import advertise
from imu_simulation_framework.ros.participant import Participant
from imu_simulation_framework.ros.simulator_messages import ImuMessages
from imu_simulation_framework.ros.simulators import make_simulator_interface, needs_error_model
from imu_simulation_framework.sensors.imu_models import ImuTruth


class ImuErrorModel(Participant):
    """From ``imu/ideal`` to ``imu/data``, with the bias on ``imu/data/bias``.

    The model starts when the robot does, so that its random numbers belong to the same
    samples in every run: in lock-step with the sample that the simulator repeats until the
    first wheel command, otherwise with the first one after that command.

    Where nobody needs it, it does nothing: what starts nodes does not know what config.ini says.
    """

    name = "imu_error_model"

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
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
        self._messages = ImuMessages(self._imu.covariances())
        self._stamp = None
        self._samples = 0
        self._imu_data = advertise(topics.IMU, Imu)
        self._imu_bias = advertise(topics.IMU_BIAS, Imu)
        self.inputs = (
            self.subscribe(topics.IMU_IDEAL, Imu, self._on_imu),
            self.subscribe(topics.WHEEL_COMMAND, Float64MultiArray, self._on_command),
        )
        self._commanded = False
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
            stamp = message.header.stamp.to_nsec()
            if self._samples <= 1 and stamp == self._stamp:
                # Repeated until the first command, perhaps after the robot has been put elsewhere.
                self._restart()
            self._stamp = stamp
            self._samples += 1
            self._publish(stamp, self._imu.step(_truth(message)))

    def _restart(self) -> None:
        self._imu = make_experiment_imu(self.configuration)
        self._samples = 0

    def _publish(self, stamp, reading) -> None:
        if self._imu.drop_repeated and not self._imu.has_new_sample:
            return
        stamps = np.array([stamp])
        bias = (
            reading.orientation_bias,
            reading.angular_velocity_bias,
            reading.specific_force_bias,
        )
        signals = (reading.orientation, reading.angular_velocity, reading.specific_force)
        self._messages.publish_bias(self._imu_bias, stamps, np.concatenate(bias))
        self._messages.publish_data(self._imu_data, stamps, np.concatenate(signals))


def _truth(message) -> ImuTruth:
    q, w, a = message.orientation, message.angular_velocity, message.linear_acceleration
    return ImuTruth(
        np.array((q.x, q.y, q.z, q.w)), np.array((w.x, w.y, w.z)), np.array((a.x, a.y, a.z))
    )
