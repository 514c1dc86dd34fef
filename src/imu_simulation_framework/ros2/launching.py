"""What the launch files of ROS 2 describe: a node whose parameters are the launch's arguments."""

from __future__ import annotations

from typing import Any

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, Shutdown
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from imu_simulation_framework.core.settings import keys_of
from imu_simulation_framework.ros2.node import ShellArguments

_TYPES: dict[Any, type] = {"str": str, "int": int, "float": float, "bool": bool}


def session_launch(session_type: type[Any], **topics: str) -> LaunchDescription:
    """Return what starts the node of a session, with its parameters as arguments.

    ``topics``: arguments that remap a topic, and its name in the session.
    """
    keys = [*keys_of(session_type.arguments_type), *keys_of(ShellArguments)]
    declared = [
        DeclareLaunchArgument(
            key.name,
            default_value=_written(key.default),
            description=key.metadata["about"],
            choices=key.metadata.get("choices"),
        )
        for key in keys
    ]
    declared += [
        DeclareLaunchArgument(name, default_value=topic, description=f"instead of {topic}")
        for name, topic in topics.items()
    ]
    declared += [
        DeclareLaunchArgument("use_sim_time", default_value="false", description="as usual"),
        DeclareLaunchArgument(
            "required",
            default_value="true",
            description="whether all that was launched with it ends when it ends",
        ),
    ]
    types = {**{key.name: _TYPES[key.type] for key in keys}, "use_sim_time": bool}
    node = Node(
        package=__package__.partition(".")[0],
        executable=f"{session_type.name}.py",
        name=session_type.name,
        output="screen",
        parameters=[
            {
                name: ParameterValue(LaunchConfiguration(name), value_type=kind)
                for name, kind in types.items()
            }
        ],
        remappings=[(topic, LaunchConfiguration(name)) for name, topic in topics.items()],
        on_exit=[Shutdown(condition=IfCondition(LaunchConfiguration("required")))],
    )
    return LaunchDescription([*declared, node])


def _written(value):
    return str(value).lower() if isinstance(value, bool) else str(value)
