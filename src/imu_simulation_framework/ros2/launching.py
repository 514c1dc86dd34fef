"""ROS 2 launch descriptions, whose arguments are the parameters of the nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_prefix
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess, Shutdown
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from ..core.files import package_share
from ..core.settings import keys_of
from ..drive.experiment_arguments import documented_arguments
from ..realistic_imu.live import LiveImu
from .node import ShellArguments

_PACKAGE = __package__.partition(".")[0]
_TYPES: dict[Any, type] = {"str": str, "int": int, "float": float, "bool": bool}


def make_session_launch(session_type: type[Any], **topics: str) -> LaunchDescription:
    """Create the launch description of a session node, with its parameters as arguments.

    Parameters
    ----------
    session_type : type of Session
        Class of the session.
    **topics : str
        Arguments that remap a topic, with the name of the topic in the session.

    Returns
    -------
    launch.LaunchDescription
        Launch description, to be returned by ``generate_launch_description``.
    """
    keys = [*keys_of(session_type.arguments_type), *keys_of(ShellArguments)]
    declared = [
        _argument(key.name, key.default, key.metadata["about"], key.metadata.get("choices"))
        for key in keys
    ]
    declared += [_argument(name, topic, f"instead of {topic}") for name, topic in topics.items()]
    declared.append(_argument("use_sim_time", False, "true: use the time on /clock"))
    required = "true: shut down all nodes of the launch file when this node exits"
    declared.append(_argument("required", True, required))
    types = {**{key.name: _TYPES[key.type] for key in keys}, "use_sim_time": bool}
    parameters = {
        name: ParameterValue(LaunchConfiguration(name), value_type=kind)
        for name, kind in types.items()
    }
    node = Node(
        package=_PACKAGE,
        executable=f"{session_type.name}.py",
        name=session_type.name,
        output="screen",
        parameters=[parameters],
        remappings=[(topic, LaunchConfiguration(name)) for name, topic in topics.items()],
        on_exit=[Shutdown(condition=IfCondition(LaunchConfiguration("required")))],
    )
    return LaunchDescription([*declared, node])


def make_experiment_launch(**defaults: str) -> LaunchDescription:
    """Create the launch description of an experiment, with the same arguments as in ROS 1.

    Parameters
    ----------
    **defaults : str
        Default values that differ from ROS 1, by argument.

    Returns
    -------
    launch.LaunchDescription
        Launch description, to be returned by ``generate_launch_description``.
    """
    documented = documented_arguments()
    declared = [
        _argument(name, defaults.get(name, default), meaning)
        for name, (meaning, default) in documented.items()
    ]
    program = Path(get_package_prefix(_PACKAGE)) / "lib" / _PACKAGE / "run_experiment.py"
    run = ExecuteProcess(
        cmd=[str(program), *([f"{name}:=", LaunchConfiguration(name)] for name in documented)],
        output="screen",
        on_exit=[Shutdown()],
    )
    return LaunchDescription([*declared, run])


# Topics in worlds/gz_robot.sdf, in the notation of ros_gz_bridge.
BRIDGED_TOPICS = (
    "/cmd_vel@geometry_msgs/msg/Twist]gz.msgs.Twist",
    "/odom@nav_msgs/msg/Odometry[gz.msgs.Odometry",
    "/imu/ideal@sensor_msgs/msg/Imu[gz.msgs.IMU",
    "/clock@rosgraph_msgs/msg/Clock[gz.msgs.Clock",
)


def make_gz_launch() -> LaunchDescription:
    """Create the launch description of an experiment in gz sim.

    The robot is described in worlds/gz_robot.sdf, and the errors of the specification given by the
    argument ``specification`` are added to its IMU, whose gyroscope is zeroed over ``standstill``.

    Returns
    -------
    launch.LaunchDescription
        Launch description, to be returned by ``generate_launch_description``.
    """
    world = str(package_share() / "worlds" / "gz_robot.sdf")
    specification, standstill, seed = map(
        LaunchConfiguration, ("specification", "standstill", "seed")
    )
    (zeroing,) = (key for key in keys_of(LiveImu.arguments_type) if key.name == "standstill")
    parameters = {
        "input": "imu/ideal",
        "output": "imu",
        "specification": ParameterValue(specification, value_type=str),
        "standstill": ParameterValue(standstill, value_type=float),
        "seed": ParameterValue(seed, value_type=int),
        "qos": "reliable",
    }
    return LaunchDescription(
        [
            # This is the first action, because it declares the argument seed.
            make_experiment_launch(simulator="external", imu="published"),
            _argument("specification", "adis16448", "errors of the robot's IMU"),
            _argument(zeroing.name, zeroing.default, zeroing.metadata["about"]),
            ExecuteProcess(cmd=["gz", "sim", "-s", "-r", world], on_exit=[Shutdown()]),
            Node(
                package="ros_gz_bridge", executable="parameter_bridge", arguments=[*BRIDGED_TOPICS]
            ),
            Node(
                package=_PACKAGE,
                executable="realistic_imu.py",
                name="realistic_imu",
                output="screen",
                parameters=[parameters],
                on_exit=[Shutdown()],
            ),
        ]
    )


def _argument(name, default, meaning, choices=None) -> DeclareLaunchArgument:
    default_text = str(default).lower() if isinstance(default, bool) else str(default)
    return DeclareLaunchArgument(
        name, default_value=default_text, description=meaning, choices=choices
    )
