"""Interface to the MuJoCo simulator's node."""

from __future__ import annotations

import contextlib

import rospy
import yaml
from geometry_msgs.msg import Pose2D
from std_srvs.srv import Empty

from imu_simulation_framework.core.errors import SimulatorError
from imu_simulation_framework.core.settings import to_mapping
from imu_simulation_framework.ros1.simulators.interface import (
    SimulatorInterface,
    call,
    call_service,
    wait_for_service,
)
from imu_simulation_framework.sensors.imu_specification import ImuSpecification
from imu_simulation_framework.srv import SetImuParameters, SetPose

SET_POSE = "mujoco_simulator/set_pose"
SET_IMU_PARAMETERS = "mujoco_simulator/set_imu_parameters"
END_DRIVE = "mujoco_simulator/end_drive"

END_DRIVE_TIMEOUT = 2.0
"""Wall-clock seconds that the simulator has to learn that no command follows."""


class MujocoSimulatorInterface(SimulatorInterface):
    """Speaks to ``mujoco_simulator.py`` through its services."""

    lock_step = True
    applies_specification = True

    _drives = False

    def wait_until_ready(self, timeout):
        for name in (SET_POSE, SET_IMU_PARAMETERS):
            wait_for_service(name, timeout)

    def set_pose(self, x, y, yaw):
        proxy = rospy.ServiceProxy(SET_POSE, SetPose)
        call_service(proxy, Pose2D(x, y, yaw), silence=self.silence)

    def set_imu_parameters(self, model, parameters, seed):
        call_service(
            rospy.ServiceProxy(SET_IMU_PARAMETERS, SetImuParameters),
            model,
            yaml.safe_dump(_plain(parameters)),
            seed,
            silence=self.silence,
        )

    def begin_drive(self, control_period, real_time_factor, sampling_period, participants=()):
        self._drives = True

    def end_drive(self):
        # A simulator that is silent is not waited for.
        if self._drives:
            self._drives = False
            with contextlib.suppress(SimulatorError):
                call(rospy.ServiceProxy(END_DRIVE, Empty), timeout=END_DRIVE_TIMEOUT)


def _plain(parameters):
    """Parameters as values that YAML knows; numbers are written so that they read back equal."""
    return {
        name: to_mapping(value) if isinstance(value, ImuSpecification) else value
        for name, value in parameters.items()
    }
