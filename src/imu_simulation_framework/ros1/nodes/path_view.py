"""Publish the reference path, the driven path and the magnetic field for rviz."""

from __future__ import annotations

import math
import time

import rospy
from geometry_msgs.msg import PoseStamped, WrenchStamped
from nav_msgs.msg import Odometry, Path
from sensor_msgs.msg import MagneticField

from ...core import topics
from ...msg import ReferenceTrajectory
from ..node import Node

POINT_DISTANCE = 0.05  # distance between points of a path [m]

# Scale of the magnetic field arrow, which rviz draws as a force [N/T]: 5 N for the Earth's 5e-5 T.
ARROW_SCALE = 1e5

PUBLISHING_PERIOD = 0.5  # wall-clock seconds between messages with the driven path


class PathView(Node):
    """Publish ``reference_path`` once, ``driven_path`` periodically, ``imu/mag`` as an arrow."""

    name = "path_view"

    def __init__(self) -> None:
        super().__init__()
        self._reference = rospy.Publisher(topics.REFERENCE_PATH, Path, latch=True, queue_size=1)
        self._driven = rospy.Publisher(topics.DRIVEN_PATH, Path, latch=True, queue_size=1)
        self._arrow = rospy.Publisher(topics.MAGNETIC_ARROW, WrenchStamped, queue_size=1)
        self._points: list[tuple[float, float]] = []
        self._published_at = 0.0
        rospy.Subscriber(topics.REFERENCE_TRAJECTORY, ReferenceTrajectory, self._on_trajectory)
        rospy.Subscriber(topics.IMU_MAG, MagneticField, self._on_magnetic_field, queue_size=1)
        rospy.Subscriber(topics.GROUND_TRUTH, Odometry, self._on_ground_truth, queue_size=1)

    def _on_magnetic_field(self, message):
        arrow = WrenchStamped(header=message.header)
        field, force = message.magnetic_field, arrow.wrench.force
        force.x, force.y, force.z = (ARROW_SCALE * value for value in (field.x, field.y, field.z))
        self._arrow.publish(arrow)

    def _on_ground_truth(self, message):
        position = message.pose.pose.position
        _append_distant(self._points, (position.x, position.y))

    def spin_once(self):
        now = time.monotonic()
        if not self._points or now - self._published_at < PUBLISHING_PERIOD:
            return
        self._published_at = now
        self._driven.publish(_make_path(list(self._points)))

    def _on_trajectory(self, message):
        points: list[tuple[float, float]] = []
        for point in zip(message.x, message.y):
            _append_distant(points, point)
        self._reference.publish(_make_path(points))


def _append_distant(points, point) -> None:
    if not points or math.dist(points[-1], point) > POINT_DISTANCE:
        points.append(point)


def _make_path(points) -> Path:
    path = Path()
    path.header.frame_id = topics.WORLD_FRAME
    for x, y in points:
        pose = PoseStamped(header=path.header)
        pose.pose.position.x, pose.pose.position.y = float(x), float(y)
        pose.pose.orientation.w = 1.0
        path.poses.append(pose)
    return path
