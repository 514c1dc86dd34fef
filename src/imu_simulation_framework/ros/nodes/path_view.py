"""The reference path and the path that was driven, for rviz."""

from __future__ import annotations

import math
import time

import rospy
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry, Path

from imu_simulation_framework import topics
from imu_simulation_framework.results.folder import ResultFolder
from imu_simulation_framework.robot_names import WORLD_FRAME
from imu_simulation_framework.ros.node import Node
from imu_simulation_framework.ros.settings import EXPERIMENT_PARAMETERS

POINT_DISTANCE = 0.05
"""Metres from one point of a path to the next."""

PUBLISHING_PERIOD = 0.5
"""Wall-clock seconds between two messages with the driven path."""


class PathView(Node):
    """Publishes ``reference_path`` once and ``driven_path`` as it grows."""

    name = "path_view"

    def __init__(self) -> None:
        super().__init__()
        self._reference = rospy.Publisher(topics.REFERENCE_PATH, Path, latch=True, queue_size=1)
        self._driven = rospy.Publisher(topics.DRIVEN_PATH, Path, latch=True, queue_size=1)
        self._points: list[tuple[float, float]] = []
        self._reference_sent = False
        self._published_at = 0.0
        rospy.Subscriber(topics.GROUND_TRUTH, Odometry, self._on_ground_truth, queue_size=1)

    def _on_ground_truth(self, message):
        position = message.pose.pose.position
        _append(self._points, (position.x, position.y))

    def spin_once(self):
        now = time.monotonic()
        if not self._points or now - self._published_at < PUBLISHING_PERIOD:
            return
        self._published_at = now
        if not self._reference_sent:
            self._send_reference()
        self._driven.publish(_path(list(self._points)))

    def _send_reference(self) -> None:
        prefix = rospy.get_param(f"{EXPERIMENT_PARAMETERS}/result", "")
        if not prefix:
            return
        trajectory = ResultFolder.from_prefix(prefix).read_table("trajectory_data")
        points: list[tuple[float, float]] = []
        for point in zip(trajectory["x"], trajectory["y"]):
            _append(points, point)
        self._reference.publish(_path(points))
        self._reference_sent = True


def _append(points, point) -> None:
    """Add a point that is far enough from the last one."""
    if not points or math.dist(points[-1], point) > POINT_DISTANCE:
        points.append(point)


def _path(points) -> Path:
    path = Path()
    path.header.frame_id = WORLD_FRAME
    for x, y in points:
        pose = PoseStamped(header=path.header)
        pose.pose.position.x, pose.pose.position.y = float(x), float(y)
        pose.pose.orientation.w = 1.0
        path.poses.append(pose)
    return path
