"""Message types of gazebo_msgs, with only the fields that this package uses."""

from fake_messages import message
from geometry_msgs.msg import Pose, Twist

ModelState = message(
    "gazebo_msgs/ModelState",
    """string model_name
geometry_msgs/Pose pose
geometry_msgs/Twist twist
string reference_frame""",
    Pose,
    Twist,
)
ODEPhysics = message("gazebo_msgs/ODEPhysics", "uint32 sor_pgs_iters")
