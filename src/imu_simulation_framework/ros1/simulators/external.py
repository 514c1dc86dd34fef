"""A robot with controllers of its own, in somebody else's simulator or real, as a simulator."""

from __future__ import annotations

import threading

import rospy
from geometry_msgs.msg import Pose2D
from std_msgs.msg import Header

from imu_simulation_framework.core import topics
from imu_simulation_framework.core.errors import SimulatorError
from imu_simulation_framework.drive.experiment_arguments import EXPERIMENT_PARAMETERS
from imu_simulation_framework.drive.from_configuration import SPECIFICATION
from imu_simulation_framework.ros1.simulators.interface import (
    SimulatorInterface,
    call_service,
    wait_for_service,
)
from imu_simulation_framework.srv import SetPose

SET_POSE = "external_robot/set_pose"

PLACED = f"{EXPERIMENT_PARAMETERS}/placed"
"""Parameter with the newest stamp of the ground truth [s] that is of before the pose was set.

The next experiment on this master clears it."""


class ExternalInterface(SimulatorInterface):
    """Speaks to ``external_robot.py``, which speaks to the robot; neither waits for us."""

    lock_step = False
    may_lack = (
        *(topics.CLOCK, topics.TRANSFORMS, topics.STATIC_TRANSFORMS),
        topics.JOINT_STATES,
    )

    def wait_until_ready(self, timeout):
        # A little longer than external_robot waits, which says what is missing.
        wait_for_service(SET_POSE, timeout + 5.0)

    def set_pose(self, x, y, yaw):
        call_service(rospy.ServiceProxy(SET_POSE, SetPose), Pose2D(x, y, yaw), silence=self.silence)

    def begin_drive(self, control_period, real_time_factor, sampling_period, participants=()):
        """Wait until everybody has taken in where the robot stands since its pose was set."""
        placed = rospy.get_param(PLACED)
        reached: dict[str, float] = {}
        reported = threading.Condition()

        def on_progress(report) -> None:
            with reported:
                reached[report.frame_id] = report.stamp.to_sec()
                reported.notify_all()

        def behind() -> list[str]:
            return [name for name in participants if reached.get(name, 0.0) <= placed]

        subscriber = rospy.Subscriber(topics.PROGRESS, Header, on_progress, tcp_nodelay=True)
        try:
            with reported:
                if not reported.wait_for(lambda: not behind(), self.silence):
                    raise SimulatorError(
                        f"gave up waiting for {', '.join(behind())} to take in what was published; "
                        f"or {self.why_silent()}"
                    )
        finally:
            subscriber.unregister()

    def set_imu_parameters(self, model, parameters, seed):
        """Leave the robot's IMU as it is."""

    def irregular(self, model):
        return ("imu_simulated", "ground_truth")

    def publishes_imu_bias(self, model):
        return model == SPECIFICATION

    def why_silent(self):
        return "nothing comes from the robot's odometry: is its simulator paused, or has it ended?"
