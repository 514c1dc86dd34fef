"""The reference path and the path that was driven, for rviz."""

from __future__ import annotations

import math
import time

import rospy
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry, Path

from imu_simulation_framework.files.results import ResultFolder
from imu_simulation_framework.nodes import topics
from imu_simulation_framework.nodes.node import Node
from imu_simulation_framework.nodes.settings import EXPERIMENT_PARAMETERS

POINT_DISTANCE = 0.05
"""Metres from one point of a path to the next."""

PUBLISHING_PERIOD = 0.5
"""Wall-clock seconds between two messages with the driven path."""


class PathView(Node):
    """Publishes ``reference_path`` once and ``driven_path`` as it grows."""

    name = "path_view"

    def __init__(self) -> None:
        super().__init__()
        self._reference = rospy.Publisher("reference_path", Path, latch=True, queue_size=1)
        self._driven = rospy.Publisher("driven_path", Path, latch=True, queue_size=1)
        self._path = Path()
        self._reference_sent = False
        self._published_at = 0.0
        rospy.Subscriber(topics.GROUND_TRUTH, Odometry, self._on_ground_truth, queue_size=1)

    def _on_ground_truth(self, message):
        pose = PoseStamped(header=message.header, pose=message.pose.pose)
        self._path.header = message.header
        poses = self._path.poses
        if not poses or _distance(poses[-1], pose) > POINT_DISTANCE:
            poses.append(pose)

    def spin_once(self):
        frame = self._path.header.frame_id
        now = time.monotonic()
        if not frame or now - self._published_at < PUBLISHING_PERIOD:
            return
        self._published_at = now
        if not self._reference_sent:
            self._send_reference(frame)
        self._driven.publish(Path(header=self._path.header, poses=list(self._path.poses)))

    def _send_reference(self, frame: str) -> None:
        prefix = rospy.get_param(f"{EXPERIMENT_PARAMETERS}/result", "")
        if not prefix:
            return
        path = Path()
        path.header.frame_id = frame
        for x, y in (
            ResultFolder.from_prefix(prefix).read_table("trajectory_data")[["x", "y"]].values
        ):
            pose = PoseStamped()
            pose.header.frame_id = frame
            pose.pose.position.x, pose.pose.position.y = float(x), float(y)
            pose.pose.orientation.w = 1.0
            if not path.poses or _distance(path.poses[-1], pose) > POINT_DISTANCE:
                path.poses.append(pose)
        self._reference.publish(path)
        self._reference_sent = True


def _distance(first, second) -> float:
    a, b = first.pose.position, second.pose.position
    return math.hypot(a.x - b.x, a.y - b.y)
