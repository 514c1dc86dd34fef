"""Interface to the embedded MuJoCo simulator's node."""

from __future__ import annotations

import rospy
import yaml
from geometry_msgs.msg import Pose2D

from imu_simulation_framework.nodes.simulators.interface import (
    SimulatorInterface,
    call_service,
    wait_for_service,
)
from imu_simulation_framework.srv import SetImuParameters, SetPose

SET_POSE = "embedded_simulator/set_pose"
SET_IMU_PARAMETERS = "embedded_simulator/set_imu_parameters"


class EmbeddedSimulatorInterface(SimulatorInterface):
    """Speaks to ``embedded_simulator.py`` through its two services."""

    lock_step = True
    twist_in_world_frame = False

    def wait_until_ready(self, timeout):
        for name in (SET_POSE, SET_IMU_PARAMETERS):
            wait_for_service(name, timeout)

    def set_pose(self, x, y, yaw):
        call_service(rospy.ServiceProxy(SET_POSE, SetPose), Pose2D(x, y, yaw))

    def set_imu_parameters(self, model, parameters, seed):
        call_service(
            rospy.ServiceProxy(SET_IMU_PARAMETERS, SetImuParameters),
            model,
            yaml.safe_dump(dict(parameters)),
            seed,
        )
