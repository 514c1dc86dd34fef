"""Service types of gazebo_msgs, with only the fields that this package uses."""

from fake_messages import service
from geometry_msgs.msg import Pose, Vector3

from gazebo_msgs.msg import ModelState, ODEPhysics

_DONE = "bool success\nstring status_message"

SpawnModel = service(
    "gazebo_msgs/SpawnModel",
    """string model_name
string model_xml
string robot_namespace
geometry_msgs/Pose initial_pose
string reference_frame""",
    _DONE,
    Pose,
)
SetModelState = service(
    "gazebo_msgs/SetModelState", "gazebo_msgs/ModelState model_state", _DONE, ModelState
)
GetWorldProperties = service("gazebo_msgs/GetWorldProperties", "", f"float64 sim_time\n{_DONE}")
_PHYSICS = """float64 time_step
float64 max_update_rate
geometry_msgs/Vector3 gravity
gazebo_msgs/ODEPhysics ode_config"""
GetPhysicsProperties = service(
    "gazebo_msgs/GetPhysicsProperties",
    "",
    f"bool pause\n{_PHYSICS}\n{_DONE}",
    *(Vector3, ODEPhysics),
)
SetPhysicsProperties = service(
    "gazebo_msgs/SetPhysicsProperties", _PHYSICS, _DONE, *(Vector3, ODEPhysics)
)
