"""What a node does with messages that cannot be; without a master."""

import math
from types import SimpleNamespace

import pytest
from nav_msgs.msg import Odometry

from imu_simulation_framework.errors import SimulatorError
from imu_simulation_framework.msg import ErrorCoordinates2
from imu_simulation_framework.ros.nodes.error_publisher import ErrorPublisher
from imu_simulation_framework.ros.nodes.path_follower import PathFollower


def ensure_usable(previous=10.0, **fields):
    """What path_follower does before it takes an error."""
    follower = SimpleNamespace(name="path_follower", _time=previous)
    fields = {"time_from_start": 10.05, **fields}
    PathFollower._ensure_usable(follower, ErrorCoordinates2(**fields))


def test_an_ordinary_error_is_taken():
    ensure_usable(yaw_error=0.1, distance_error=0.2)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    "field",
    ["time_from_start", "yaw_error", "distance_error", "along_track_error", "cross_track_error"],
)
def test_an_error_that_is_no_number_is_refused(field, value):
    with pytest.raises(SimulatorError, match="trajectory_error: expected finite numbers"):
        ensure_usable(**{field: value})


@pytest.mark.parametrize("time", [1e9, 15.1, 4.9])
def test_an_error_of_another_time_is_refused(time):
    with pytest.raises(SimulatorError, match="its time jumped by .* after 10.00 s"):
        ensure_usable(time_from_start=time)


def drive(*samples):
    """Let error_publisher see the robot at these (time, x, speed), 20 times a second."""
    publisher = SimpleNamespace(name="error_publisher", _last=None, _zero=0.0, _period=0.05)
    for stamp, x, speed in samples:
        message = Odometry()
        message.pose.pose.position.x, message.twist.twist.linear.x = x, speed
        ErrorPublisher._ensure_driven(publisher, stamp, message)


def test_a_robot_that_drives_and_brakes_hard_was_not_moved():
    drive((0.0, 0.0, 10.0), (0.05, 0.5, 10.0), (0.1, 0.75, 0.0), (0.6, 0.8, 0.2))


@pytest.mark.parametrize("step", [0.01, 0.05])
def test_a_robot_that_was_put_elsewhere_is_noticed(step):
    with pytest.raises(SimulatorError, match=r"was moved 1\.00 m .* somebody has set its pose"):
        drive((0.0, 0.0, 1.0), (step, 1.0, 1.0))
