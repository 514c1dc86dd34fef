"""Interface to Gazebo 11 through gazebo_ros, gazebo_ros_control and Hector's IMU plug-in."""

from __future__ import annotations

import dataclasses
import time

import rospy
from dynamic_reconfigure import (
    DynamicReconfigureCallbackException,
    DynamicReconfigureParameterException,
)
from dynamic_reconfigure.client import Client
from gazebo_msgs.msg import ModelState
from gazebo_msgs.srv import GetPhysicsProperties, GetWorldProperties, SetModelState
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu

from imu_simulation_framework import topics
from imu_simulation_framework.angles import (
    difference,
    quaternion_from_roll_pitch_yaw,
    yaw_from_quaternion,
)
from imu_simulation_framework.errors import SimulatorError
from imu_simulation_framework.ros.simulators.gazebo_pace import LIMIT_MARGIN, GazeboPace, set_speed
from imu_simulation_framework.ros.simulators.interface import (
    SimulatorInterface,
    call,
)
from imu_simulation_framework.sensors.imu_models import IMU_MODELS, PRESETS

MODEL = "robot"
"""Name of the robot's model in Gazebo."""

READY = "gazebo_robot/ready"
"""Parameter that is true once the robot stands in the world and its controllers run."""

HECTOR_SENSORS = ("accel", "rate", "yaw")
_DRIFTING = ("gaussian_noise", "offset", "drift", "drift_frequency")
HECTOR_KEYS = {
    "rate": (*_DRIFTING, "scale_error"),
    "accel": (*_DRIFTING, "scale_error"),
    # The yaw has a scale error, too, which stays as it was: 1.
    "yaw": _DRIFTING,
}
"""What each sensor of Hector's plug-in is told online."""

REST_SPEED = 1e-3
"""A robot slower than this [m/s, rad/s] stands."""

SETTLED_SAMPLES = 50
"""IMU samples that have to pass, the robot standing, until a jump of its pose has left no trace."""

POLL_PERIOD = 0.05


def plugin_of(model: str) -> str:
    """Return which plug-in simulates an IMU model, or a preset of one: hector or generic.

    Hector's, with all errors zero, is also the ideal IMU: it measures at equal intervals.
    """
    return "generic" if PRESETS[model].model == "generic" else "hector"


class GazeboInterface(SimulatorInterface):
    """Speaks to gzserver, in which ``gazebo_robot`` has spawned the robot."""

    lock_step = False

    _pace = None

    def wait_until_ready(self, timeout):
        deadline = time.monotonic() + timeout
        _wait(
            lambda: rospy.get_param(READY, False),
            deadline,
            "gazebo_robot to put the robot into the world and to start its controllers",
        )
        physics = call(rospy.ServiceProxy("/gazebo/get_physics_properties", GetPhysicsProperties))
        if physics.pause:
            raise SimulatorError("Gazebo's physics is paused: unpause it to run an experiment")
        for topic, message_type, what in (
            (
                topics.GROUND_TRUTH,
                Odometry,
                "the ground truth's plug-in of this package, built where Gazebo is,",
            ),
            (self.imu_topic, Imu, "its IMU plug-in, of hector_gazebo_plugins or gazebo_plugins,"),
        ):
            try:
                rospy.wait_for_message(topic, message_type, timeout=_left(deadline))
            except rospy.ROSException:
                raise SimulatorError(
                    f"Gazebo: nothing on {topic} after {timeout:g} s; {what} is missing"
                ) from None

    def set_pose(self, x, y, yaw):
        state = ModelState(model_name=MODEL, reference_frame="world")
        state.pose.position.x, state.pose.position.y = x, y
        # Gazebo's robot stands a contact layer above the plane.
        state.pose.position.z = 0.001
        q = state.pose.orientation
        q.x, q.y, q.z, q.w = quaternion_from_roll_pitch_yaw((0.0, 0.0, yaw))
        answer = call(rospy.ServiceProxy("/gazebo/set_model_state", SetModelState), state)
        if not answer.success:
            raise SimulatorError(f"Gazebo did not set the robot's pose: {answer.status_message}")
        self._wait_until_settled(x, y, yaw)

    def _wait_until_settled(self, x, y, yaw) -> None:
        """Let pass the IMU samples that the jump has falsified."""
        settled = []

        def on_ground_truth(message):
            p, q = message.pose.pose.position, message.pose.pose.orientation
            v, w = message.twist.twist.linear, message.twist.twist.angular
            speeds = (v.x, v.y, v.z, w.x, w.y, w.z)
            heading = yaw_from_quaternion((q.x, q.y, q.z, q.w))
            there = abs(p.x - x) < 0.05 and abs(p.y - y) < 0.05
            turned = abs(difference(heading, yaw)) < 0.05
            if there and turned and max(map(abs, speeds)) < REST_SPEED:
                settled.append(True)
            else:
                settled.clear()

        subscriber = rospy.Subscriber(topics.GROUND_TRUTH, Odometry, on_ground_truth)
        try:
            _wait(
                lambda: len(settled) >= SETTLED_SAMPLES,
                time.monotonic() + 30.0,
                f"the robot to stand at x = {x:.3f}, y = {y:.3f}, yaw = {yaw:.3f}",
            )
        finally:
            subscriber.unregister()

    def set_imu_parameters(self, model, parameters, seed):
        """Hector's parameters online, read back; the generic plug-in got its at spawning.

        Neither plug-in's random numbers can be seeded.
        """
        preset = PRESETS[model]
        if preset.model != "hector":
            return
        kind = IMU_MODELS["hector"].parameters
        values = dataclasses.asdict(kind(**{**preset.parameters, **parameters}))
        for sensor in HECTOR_SENSORS:
            wanted = {key: values[f"{sensor}_{key}"] for key in HECTOR_KEYS[sensor]}
            server = f"{topics.IMU}/{sensor}"
            try:
                client = Client(server, timeout=10.0)
                got = client.update_configuration(wanted)
                client.close()
            except (
                rospy.ROSException,
                rospy.ServiceException,
                DynamicReconfigureCallbackException,
                DynamicReconfigureParameterException,
            ) as error:
                raise SimulatorError(
                    f"Hector's plug-in does not take parameters on {server}: {error}"
                ) from None
            for key, value in wanted.items():
                if abs(got[key] - value) > 1e-9:
                    raise SimulatorError(
                        f"Hector's plug-in has set {server}/{key} to {got[key]} instead of {value}"
                    )

    def is_imu_regular(self, model):
        # Gazebo's own IMU sensor measures in a thread that now and then comes late.
        return plugin_of(model) != "generic"

    def publishes_imu_bias(self, model):
        return plugin_of(model) == "hector"

    def why_stopped(self):
        physics = rospy.ServiceProxy("/gazebo/get_physics_properties", GetPhysicsProperties)
        world = rospy.ServiceProxy("/gazebo/get_world_properties", GetWorldProperties)
        if call(physics, timeout=2.0).pause:
            return "Gazebo's physics is paused"
        time = call(world, timeout=2.0).sim_time
        pace = self._pace
        known = 0.0 if pace is None else pace.answered_until
        if time < known - LIMIT_MARGIN:  # beyond what is rounded
            return (
                f"simulated time went back from {known:.2f} to {time:.2f} s: was the simulation "
                "reset?"
            )
        return ""

    def why_silent(self):
        try:
            stopped = self.why_stopped()
        except SimulatorError:
            return "gzserver does not answer"
        pace = self._pace
        late = [] if pace is None else pace.waits_for
        return stopped or (f"Gazebo waits for {', '.join(late)}" if late else "")

    def begin_drive(self, control_period, real_time_factor, sampling_period, participants=()):
        set_speed(real_time_factor)
        self._pace = GazeboPace(control_period)
        self._pace.hold(sampling_period, participants, self.silence)

    def commanded(self):
        if self._pace is not None:
            self._pace.go_on()

    def answered(self, stamp):
        pace = self._pace
        if pace is not None:
            pace.answered(stamp)

    def end_drive(self):
        # The drive may end in two threads.
        pace, self._pace = self._pace, None
        if pace is not None:
            pace.end()


def _left(deadline) -> float:
    return max(0.1, deadline - time.monotonic())


def _wait(condition, deadline, what) -> None:
    while not condition():
        if time.monotonic() > deadline or rospy.is_shutdown():
            raise SimulatorError(f"Gazebo: gave up waiting for {what}")
        time.sleep(POLL_PERIOD)
