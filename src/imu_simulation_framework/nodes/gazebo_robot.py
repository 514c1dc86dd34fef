"""Puts the robot into a running Gazebo: description, model, wheel controllers."""

from __future__ import annotations

import time

import rospy
from controller_manager_msgs.srv import LoadController, SwitchController, SwitchControllerRequest
from gazebo_msgs.srv import GetPhysicsProperties, SetPhysicsProperties, SpawnModel
from geometry_msgs.msg import Pose, TransformStamped, Vector3
from nav_msgs.msg import Odometry
from tf2_msgs.msg import TFMessage

from imu_simulation_framework.core.imu_models import IMU_MODELS, PRESETS
from imu_simulation_framework.embedded_simulator.description import expand_xacro
from imu_simulation_framework.embedded_simulator.robot_parameters import load_robot_parameters
from imu_simulation_framework.errors import SimulatorError
from imu_simulation_framework.experiment.parts import (
    SPECIFICATION,
    imu_model_and_parameters,
    make_terrain,
)
from imu_simulation_framework.files.gazebo_world import (
    HIGHEST_UPDATE_RATE,
    PHYSICS_RATE,
    terrain_sdf,
)
from imu_simulation_framework.files.locations import urdf_path
from imu_simulation_framework.nodes import topics
from imu_simulation_framework.nodes.node import Node
from imu_simulation_framework.nodes.simulator_messages import ROBOT_FRAME, WORLD_FRAME
from imu_simulation_framework.nodes.simulators.gazebo import CONTROLLERS, MODEL
from imu_simulation_framework.nodes.simulators.interface import wait_for_service

CONTROLLER_PARAMETERS = {
    "joint_state_controller": {
        "type": "joint_state_controller/JointStateController",
        "publish_rate": 20,
    },
    "wheel_velocity_controller": {
        "type": "velocity_controllers/JointGroupVelocityController",
        "joints": ["left_wheel_joint", "right_wheel_joint"],
    },
}

TRANSFORM_PERIOD = rospy.Duration(0.05)
"""Simulated time between two transforms."""

CLOCK_CHECK_PERIOD = 1.0
"""Wall-clock seconds between two looks at simulated time."""


class GazeboRobot(Node):
    """Spawns the robot, starts its controllers, and watches that time goes on."""

    name = "gazebo_robot"

    def __init__(self) -> None:
        super().__init__()
        self._transforms = None
        self._transform_stamp = rospy.Time()
        self._newest = rospy.Time()
        self._checked_at = 0.0

    def run(self):
        timeout = self.configuration.simulation.startup_timeout
        for service in ("/gazebo/spawn_urdf_model", "/gazebo/set_physics_properties"):
            wait_for_service(service, timeout)
        self._set_speed()
        self._spawn_terrain()
        self._spawn_robot()
        self._start_controllers(timeout)
        self._transforms = rospy.Publisher("/tf", TFMessage, queue_size=10)
        rospy.Subscriber(topics.GROUND_TRUTH, Odometry, self._on_ground_truth, queue_size=1)
        self._checked_at = time.monotonic()
        self._newest = rospy.get_rostime()
        return super().run()

    def _set_speed(self) -> None:
        """As many physics steps per second of wall clock as the real-time factor wants."""
        factor = self.configuration.simulation.real_time_factor
        current = rospy.ServiceProxy("/gazebo/get_physics_properties", GetPhysicsProperties)()
        answer = rospy.ServiceProxy("/gazebo/set_physics_properties", SetPhysicsProperties)(
            current.time_step,
            factor * PHYSICS_RATE if factor > 0.0 else HIGHEST_UPDATE_RATE,
            current.gravity,
            current.ode_config,
        )
        if not answer.success:
            raise SimulatorError(f"Gazebo did not take its update rate: {answer.status_message}")

    def _spawn_terrain(self) -> None:
        terrain = make_terrain(self.configuration)
        if terrain is not None:
            self._spawn("/gazebo/spawn_sdf_model", "bumps", terrain_sdf(terrain), 0.0)

    def _spawn(self, service, model, description, height) -> None:
        pose = Pose()
        pose.position.z = height
        pose.orientation.w = 1.0
        answer = rospy.ServiceProxy(service, SpawnModel)(
            model, description, rospy.get_namespace(), pose, "world"
        )
        if not answer.success:
            raise SimulatorError(f"Gazebo did not spawn {model}: {answer.status_message}")

    def _spawn_robot(self) -> None:
        configuration = self.configuration
        robot = load_robot_parameters(configuration.robot.parameters or None)
        name, parameters = imu_model_and_parameters(configuration)
        model = PRESETS[name].model
        arguments = {
            "parameters": robot.path,
            "simulator": "gazebo",
            "rate": configuration.imu.rate,
            "imu_plugin": "hector" if model == "hector" else "generic",
            "imu_topic": topics.IMU_IDEAL if model == SPECIFICATION else topics.IMU,
        }
        if model == "generic":
            kind = IMU_MODELS[model].parameters
            arguments["gaussian_noise"] = kind(**parameters).gaussian_noise
        description = expand_xacro(urdf_path("robot.xacro"), arguments)
        rospy.set_param("/robot_description", description)
        self._spawn("/gazebo/spawn_urdf_model", MODEL, description, 0.01)

    def _start_controllers(self, timeout) -> None:
        for name, parameters in CONTROLLER_PARAMETERS.items():
            rospy.set_param(name, parameters)
        for service in (
            "controller_manager/load_controller",
            "controller_manager/switch_controller",
        ):
            wait_for_service(service, timeout)
        load = rospy.ServiceProxy("controller_manager/load_controller", LoadController)
        for name in CONTROLLERS:
            if not load(name).ok:
                raise SimulatorError(
                    f"gazebo_ros_control does not load {name}: is {name.split('_')[0]} installed?"
                )
        switch = rospy.ServiceProxy("controller_manager/switch_controller", SwitchController)
        answer = switch(
            start_controllers=list(CONTROLLERS),
            stop_controllers=[],
            strictness=SwitchControllerRequest.STRICT,
            start_asap=True,
            timeout=timeout,
        )
        if not answer.ok:
            raise SimulatorError(f"gazebo_ros_control does not start {', '.join(CONTROLLERS)}")

    def _on_ground_truth(self, message):
        """Say on /tf where the robot is, as the embedded simulator does."""
        if message.header.stamp - self._transform_stamp < TRANSFORM_PERIOD:
            return
        self._transform_stamp = message.header.stamp
        transform = TransformStamped(child_frame_id=ROBOT_FRAME)
        transform.header.stamp = message.header.stamp
        transform.header.frame_id = WORLD_FRAME
        pose = message.pose.pose
        transform.transform.translation = Vector3(pose.position.x, pose.position.y, pose.position.z)
        transform.transform.rotation = pose.orientation
        self._transforms.publish(TFMessage(transforms=[transform]))

    def spin_once(self):
        now = time.monotonic()
        if now - self._checked_at < CLOCK_CHECK_PERIOD:
            return
        self._checked_at = now
        simulated = rospy.get_rostime()
        if simulated < self._newest:
            self.fail(
                f"{self.name}: simulated time went back from {self._newest.to_sec():.2f} to "
                f"{simulated.to_sec():.2f} s: was the simulation reset?"
            )
        self._newest = simulated
