#!/usr/bin/env python3
"""A short experiment with roslaunch: its topics, and the tables and figures that it writes."""

# rostest runs these tests with unittest, whose assertion methods print the compared values.
# ruff: noqa: PT009

import json
import math
import os
import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np
import rospy
import rostest
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu
from std_msgs.msg import Float64MultiArray

from imu_simulation_framework.drive.figures import FIGURES
from imu_simulation_framework.drive.results.files import find_result

LAUNCH_FILE = Path(__file__).with_name("own_experiment.launch")
PNG = b"\x89PNG"
SAMPLES = 401  # 4 s at 100 Hz, including both ends


class Experiment(unittest.TestCase):
    def test_short_drive_produces_topics_tables_and_figures(self):
        messages = {}
        for topic, message_type in (
            ("/wheel_velocity_controller/command", Float64MultiArray),
            ("/ground_truth/state", Odometry),
            ("/imu/data", Imu),
        ):
            rospy.Subscriber(topic, message_type, messages.setdefault(topic, []).append)
        done = subprocess.run(
            ["roslaunch", str(LAUNCH_FILE)], env={**os.environ, "PWD": os.getcwd()},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self.assertNotIn("Traceback", done.stdout)
        # roslaunch would report the exit of a required node in red, as REQUIRED process has died.
        self.assertNotIn("REQUIRED", done.stdout)
        (summary,) = Path("experiment_results").resolve().glob("*/*/*/*_summary.json")
        result = find_result(summary.parent)
        self.assertIn(f"results: {result.folder}", done.stdout.splitlines())
        self.assertIn("\nyaw error, simulated IMU", done.stdout)
        self._check_summary(json.loads(summary.read_text()))
        self._check_tables(result, messages)
        for name in FIGURES:
            self.assertEqual(result.path(f"{name}.png").read_bytes()[:4], PNG, name)

    def _check_summary(self, summary):
        self.assertIs(summary["run"]["completed"], True)
        self.assertEqual(summary["comparison_settings"]["median_window_s"], 3.5)
        for stream in ("imu_simulated", "ground_truth"):
            self.assertEqual(summary["messages"][stream]["received"], SAMPLES)
        self.assertLess(summary["tracking"]["distance_error"]["rms_m"], 0.15)
        for imu in ("simulated", "real"):
            self.assertTrue(0.0 < summary["yaw_error"][imu]["rms_rad"] < math.radians(30.0))

    def _check_tables(self, result, messages):
        # The first command is not published before every subscriber is connected, so all commands
        # are received.
        commands = [m.data for m in messages["/wheel_velocity_controller/command"]]
        table = result.read_table("wheel_velocities").to_numpy()
        np.testing.assert_array_equal(commands[: len(table)], table)
        for topic, name in (
            ("/ground_truth/state", "ground_truth"),
            ("/imu/data", "imu_simulated"),
        ):
            table = result.read_table(name)
            self.assertEqual(len(table), SAMPLES)
            self.assertTrue(np.isfinite(table.to_numpy()).all(), name)
            received = {round(1e2 * message.header.stamp.to_sec()) for message in messages[topic]}
            self.assertTrue(received.intersection(range(SAMPLES)), topic)


if __name__ == "__main__":
    rospy.init_node("experiment_test")
    rostest.rosrun("imu_simulation_framework", "experiment_test", Experiment, sys.argv)
