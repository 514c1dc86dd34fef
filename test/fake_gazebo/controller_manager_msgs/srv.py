"""Service types of controller_manager_msgs that this package uses."""

from fake_messages import service

LoadController = service("controller_manager_msgs/LoadController", "string name", "bool ok")
SwitchController = service(
    "controller_manager_msgs/SwitchController",
    """int32 BEST_EFFORT=1
int32 STRICT=2
string[] start_controllers
string[] stop_controllers
int32 strictness
bool start_asap
float64 timeout""",
    "bool ok",
)
SwitchControllerRequest = SwitchController._request_class
