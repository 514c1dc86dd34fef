"""Spawn the robot and its wheel controllers in a running Gazebo."""

from __future__ import annotations

import threading
import time

import rospy
from controller_manager_msgs.srv import LoadController, SwitchController, SwitchControllerRequest
from gazebo_msgs.srv import GetWorldProperties, SpawnModel
from geometry_msgs.msg import Pose, TransformStamped, Vector3
from nav_msgs.msg import Odometry
from std_msgs.msg import Float64, Float64MultiArray
from std_srvs.srv import Empty
from tf2_msgs.msg import TFMessage

from ...core import topics
from ...core.errors import SimulatorError
from ...core.tables import WHEELS
from ...core.topics import (
    JOINT_STATE_CONTROLLER,
    ROBOT_FRAME,
    STEERING_CONTROLLER,
    WHEEL_CONTROLLER,
    WHEEL_GROUP_CONTROLLER,
    WORLD_FRAME,
)
from ...drive.experiment.environment import make_magnetic_environment, make_terrain
from ...drive.experiment.imu import SPECIFICATION, experiment_imu_model
from ...drive.experiment.robot import experiment_robot
from ...drive.gazebo_world import iron_sdf, terrain_sdf
from ...drive.robots.files import robot_description
from ...drive.robots.parameters import RobotParameters
from ...sensors.imu_models.plugins import IMU_MODELS, PRESETS
from ..node import Node, advertise, subscribe
from ..simulators.gazebo import MODEL, READY_PARAMETER, choose_plugin, set_speed
from ..simulators.interface import call, wait_for_service

TRANSFORM_PERIOD = rospy.Duration(0.05)  # simulated time between transforms [s]
UNPAUSE_DELAY = 0.5  # wall-clock seconds until a request has reached controller_manager
CLOCK_CHECK_PERIOD = 1.0  # wall-clock seconds between checks of simulated time
CLOCK_CHECK_TIMEOUT = 2.0  # wall-clock seconds; timeout for Gazebo to report simulated time


STEERING_GAIN = 50.0  # velocity of a steering joint per angle error [rad/s per rad]


def make_controllers(robot: RobotParameters) -> dict[str, dict]:
    """Create the parameters of the robot's controllers.

    Parameters
    ----------
    robot : RobotParameters
        Robot with its joints.

    Returns
    -------
    dict of str to dict
        Parameters by controller name.
    """
    wheels = WHEEL_GROUP_CONTROLLER if _is_relayed(robot) else WHEEL_CONTROLLER
    steering = {
        f"{STEERING_CONTROLLER}_{number}": {
            "type": "velocity_controllers/JointPositionController",
            "joint": joint,
            "pid": {"p": STEERING_GAIN},
        }
        for number, joint in enumerate(robot.steering_joints, 1)
    }
    return {
        JOINT_STATE_CONTROLLER: {
            "type": "joint_state_controller/JointStateController",
            "publish_rate": 20,
        },
        wheels: {
            "type": "velocity_controllers/JointGroupVelocityController",
            "joints": list(robot.wheel_joints),
        },
        **steering,
    }


def _is_relayed(robot: RobotParameters) -> bool:
    """Return whether this node must convert wheel commands for the controllers."""
    return len(robot.wheel_joints) > 2 or bool(robot.steering_joints)


class GazeboRobot(Node):
    """Spawn the robot, start its controllers, and check that simulated time does not decrease."""

    name = "gazebo_robot"

    def __init__(self) -> None:
        super().__init__()
        self._robot = experiment_robot(self.configuration)
        self._transforms = None
        self._wheels = None
        self._steering: list = []
        self._transform_stamp = rospy.Time()
        self._newest = 0.0
        self._checked_at = 0.0

    def run(self):
        rospy.set_param(READY_PARAMETER, False)
        timeout = self.configuration.simulation.startup_timeout
        for service in (
            "spawn_urdf_model",
            "set_physics_properties",
            "pause_physics",
            "unpause_physics",
        ):
            wait_for_service(f"/gazebo/{service}", timeout)
        # At real-time speed, Gazebo leaves processor time for the nodes, which are still starting.
        set_speed(1.0, self.configuration.simulation.gravity)
        # Physics is paused to prevent a deadlock: controller_manager waits for physics steps, and
        # the generic IMU plug-in processes service calls in the physics thread.
        call(rospy.ServiceProxy("/gazebo/pause_physics", Empty))
        terrain = make_terrain(self.configuration)
        if terrain is not None:
            self._spawn("/gazebo/spawn_sdf_model", "bumps", terrain_sdf(terrain), 0.0)
        environment = make_magnetic_environment(self.configuration)
        bodies = () if environment is None else (*environment.ellipsoids, *environment.bars)
        if bodies:
            self._spawn("/gazebo/spawn_sdf_model", "iron", iron_sdf(bodies), 0.0)
        self._spawn_robot()
        self._start_controllers(timeout)
        self._transforms = rospy.Publisher(topics.TRANSFORMS, TFMessage, queue_size=10)
        subscribe(topics.GROUND_TRUTH, Odometry, self._on_ground_truth, queue_size=1)
        if _is_relayed(self._robot):
            self._wheels = advertise(f"{WHEEL_GROUP_CONTROLLER}/command", Float64MultiArray)
            self._steering = [
                advertise(f"{name}/command", Float64)
                for name in make_controllers(self._robot)
                if name.startswith(STEERING_CONTROLLER)
            ]
            subscribe(topics.WHEEL_COMMAND, Float64MultiArray, self._on_command)
        self._checked_at = time.monotonic()
        rospy.set_param(READY_PARAMETER, True)
        return super().run()

    def _spawn(self, service, model, description, height) -> None:
        pose = Pose()
        pose.position.z = height
        pose.orientation.w = 1.0
        answer = call(
            rospy.ServiceProxy(service, SpawnModel),
            *(model, description, rospy.get_namespace(), pose, "world"),
        )
        if not answer.success:
            raise SimulatorError(f"Gazebo did not spawn {model}: {answer.status_message}")

    def _spawn_robot(self) -> None:
        configuration = self.configuration
        name, parameters = experiment_imu_model(configuration)
        model = PRESETS[name].model
        arguments = {
            "simulator": "gazebo",
            "rate": configuration.imu.rate,
            "imu_plugin": choose_plugin(name),
            "imu_topic": topics.IMU_IDEAL if model == SPECIFICATION else topics.IMU,
        }
        if model == "generic":
            kind = IMU_MODELS[model].parameters
            arguments["gaussian_noise"] = kind(**parameters).gaussian_noise
        description = robot_description(self._robot, **arguments)
        rospy.set_param("/robot_description", description)
        self._spawn("/gazebo/spawn_urdf_model", MODEL, description, 0.01)

    def _start_controllers(self, timeout) -> None:
        controllers = make_controllers(self._robot)
        for name, parameters in controllers.items():
            rospy.set_param(name, parameters)
        for service in (
            "controller_manager/load_controller",
            "controller_manager/switch_controller",
        ):
            wait_for_service(service, timeout)
        load = rospy.ServiceProxy("controller_manager/load_controller", LoadController)
        for name in controllers:
            if not call(load, name).ok:
                package, _ = controllers[name]["type"].split("/")
                raise SimulatorError(
                    f"gazebo_ros_control does not load {name}; check that {package} is installed"
                )
        switch = rospy.ServiceProxy("controller_manager/switch_controller", SwitchController)
        request = SwitchControllerRequest(
            start_controllers=list(controllers),
            stop_controllers=[],
            strictness=SwitchControllerRequest.STRICT,
            start_asap=True,
            timeout=timeout,
        )
        # Physics is unpaused after the request, as controller_manager responds after a step.
        unpause = rospy.ServiceProxy("/gazebo/unpause_physics", Empty)
        delayed_unpause = threading.Timer(UNPAUSE_DELAY, unpause)
        delayed_unpause.start()
        answer = call(switch, request)
        delayed_unpause.join()
        if not answer.ok:
            raise SimulatorError(f"gazebo_ros_control does not start {', '.join(controllers)}")

    def _on_command(self, message):
        wheels, angles = message.data[: len(WHEELS)], message.data[len(WHEELS) :]
        if len(wheels) == len(WHEELS) and len(angles) == len(self._steering):
            per_side = len(self._robot.wheel_joints) // len(WHEELS)
            data = [velocity for velocity in wheels for _ in range(per_side)]
            self._wheels.publish(Float64MultiArray(data=data))
            for publisher, angle in zip(self._steering, angles):
                publisher.publish(Float64(angle))

    def _on_ground_truth(self, message):
        """Publish the robot's pose on /tf, like mujoco_simulator."""
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
        # After a reset, gazebo_ros does not publish /clock until the previous time has passed.
        world = rospy.ServiceProxy("/gazebo/get_world_properties", GetWorldProperties)
        try:
            simulated = call(world, timeout=CLOCK_CHECK_TIMEOUT).sim_time
        except SimulatorError:
            return  # path_follower reports if Gazebo has ended or does not respond
        if simulated < self._newest:
            self.fail(
                f"{self.name}: simulated time went back from {self._newest:.2f} to "
                f"{simulated:.2f} s: check whether the simulation was reset"
            )
        self._newest = simulated
