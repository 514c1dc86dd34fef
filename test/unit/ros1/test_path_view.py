"""The paths for rviz: their points, and when the reference is sent; the rostest has the node."""

from types import SimpleNamespace

import numpy as np
import pytest
import rospy
from geometry_msgs.msg import Point, Pose, PoseWithCovariance
from nav_msgs.msg import Odometry

from imu_simulation_framework.core.robot_names import WORLD_FRAME
from imu_simulation_framework.msg import ReferenceTrajectory
from imu_simulation_framework.ros1.node import Node
from imu_simulation_framework.ros1.nodes import path_view


class Publisher:
    def __init__(self):
        self.sent = []

    def publish(self, path):
        self.sent.append([(pose.pose.position.x, pose.pose.position.y) for pose in path.poses])


@pytest.fixture
def parameters(monkeypatch):
    publishers = {}

    def advertise(name, *_, **__):
        return publishers.setdefault(name, Publisher())

    monkeypatch.setattr(Node, "__init__", lambda self: None)
    fake = SimpleNamespace(Publisher=advertise, Subscriber=lambda *_, **__: None)
    monkeypatch.setattr(path_view, "rospy", fake)
    monkeypatch.setattr(path_view, "PUBLISHING_PERIOD", 0.0)
    return SimpleNamespace(publishers=publishers)


@pytest.fixture
def view(parameters):
    return path_view.PathView()


def stand(view, x, y=0.0):
    pose = Pose(position=Point(x=x, y=y))
    view._on_ground_truth(Odometry(pose=PoseWithCovariance(pose=pose)))


def test_the_driven_path_has_a_point_every_five_centimetres(view, parameters):
    for x in np.arange(0.0, 1.0, 0.02):
        stand(view, x)
    view.spin_once()
    (path,) = parameters.publishers["driven_path"].sent
    steps = np.diff([x for x, _ in path])
    assert len(path) == 17
    assert steps == pytest.approx(np.full(16, 0.06))


def test_the_reference_path_is_the_trajectory_with_fewer_points(view, parameters):
    view.spin_once()
    assert not any(publisher.sent for publisher in parameters.publishers.values())
    stand(view, 0.0)
    view.spin_once()
    sent = parameters.publishers["reference_path"].sent
    assert not sent
    view._on_trajectory(ReferenceTrajectory(x=[0.0, 0.02, 1.0, 2.0], y=[0.5] * 4))
    view.spin_once()
    view.spin_once()
    assert sent == [[(0.0, 0.5), (1.0, 0.5), (2.0, 0.5)]]
    assert len(parameters.publishers["driven_path"].sent) == 3


def test_paths_lie_in_the_world():
    path = path_view._path([(1.0, 2.0)])
    assert path.header.frame_id == path.poses[0].header.frame_id == WORLD_FRAME
    # Of no time: rviz takes the newest transform.
    assert path.header.stamp == rospy.Time(0)
    assert path.poses[0].pose.orientation.w == 1.0
