#!/usr/bin/env python3
"""Twenty seconds of drive A in real Gazebo, with each of its IMU plug-ins."""

# rostest runs these tests with unittest, whose assertion methods print the compared values.
# ruff: noqa: PT009

import contextlib
import json
import math
import os
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import rostest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiment"))
from experiment_process import PATIENCE, ExperimentProcess
from reservations import reserved_port

from imu_simulation_framework.core.angles import wrap
from imu_simulation_framework.core.files import urdf_path
from imu_simulation_framework.drive.robots.files import robot_description
from imu_simulation_framework.drive.turning import load_robot_parameters

DRIVE_LIMIT = 3.0 * PATIENCE
FILTER_TIME_CONSTANT = 3.0  # time constant in config/imus/bno055.yaml [s]


class GazeboExperiment(unittest.TestCase):
    def setUp(self):
        port = contextlib.ExitStack()
        self.addCleanup(port.close)
        os.environ["GAZEBO_MASTER_URI"] = f"http://127.0.0.1:{port.enter_context(reserved_port())}"

    def drive(self, *arguments, settings="{trajectory: {stop: 20.0}}"):
        directory = tempfile.mkdtemp()
        words = ["simulator:=gazebo", f"settings:={settings}", *arguments]
        process = ExperimentProcess(directory, words)
        self.addCleanup(process.end)
        ended = process.wait(DRIVE_LIMIT)
        self.assertEqual(ended.code, 0, ended.output)
        folder = ended.result()
        return folder, json.loads(folder.read_text("summary.json"))

    def check(self, folder, summary):
        """Check results that do not depend on the load (doc/explanation/robot_models.md)."""
        self.assertTrue(summary["run"]["completed"])
        truth = summary["messages"]["ground_truth"]
        self.assertEqual(truth["received"], truth["expected"])
        times = folder.read_table("ground_truth").index.to_numpy()
        self.assertLess(max(abs(np.diff(times) - 0.01)), 1e-9)
        imu = summary["messages"]["imu_simulated"]
        # The generic plug-in's sensor is occasionally late, so samples may be missing.
        least = imu["expected"] if imu["expected_according_to"] == "simulator" else 1900
        self.assertGreaterEqual(imu["received"], least)
        yaw_rms = summary["tracking"]["yaw_error"]["rms_rad"]
        self.assertLess(math.degrees(yaw_rms), 1.0)

    def test_hector_plugin_on_level_ground_loses_no_samples(self):
        folder, summary = self.drive("imu:=hector")
        self.check(folder, summary)
        # The ground truth plug-in and the Hector plug-in measure at the same times.
        truth, imu = (folder.read_table(name).index for name in ("ground_truth", "imu_simulated"))
        self.assertEqual(set(imu.round(6)) - set(truth.round(6)), set())

    def check_first_second(self, folder, heading):
        """Check that an IMU with a specification is stationary at the beginning of the drive.

        Only accelerations of the drive then tilt its fused orientation: a change in speed of v
        tilts it by at most v / (g tau). The accelerometer noise tilts it by a hundredth of a
        degree.
        """
        truth, imu = (
            folder.read_table(name).loc[:1.0] for name in ("ground_truth", "imu_simulated")
        )
        self.assertEqual(imu.index[0], 0.0)
        self.assertEqual(len(imu), 101)
        tilt = truth["v"].abs().max() / (9.81 * FILTER_TIME_CONSTANT) + math.radians(0.2)
        for angle, limit in (("roll", tilt), ("pitch", tilt), ("yaw", math.radians(heading))):
            error = wrap(imu[angle].to_numpy() - truth[angle].to_numpy())
            self.assertLess(np.abs(error).max(), limit, angle)
            if angle != "yaw":
                self.assertLess(abs(error[0]), math.radians(0.2), angle)

    def test_imu_with_specification_starts_stationary(self):
        folder, summary = self.drive("imu:=specification")
        self.check(folder, summary)
        # The angle random walk is 0.003 degrees in one second, and there is no turn-on bias.
        self.check_first_second(folder, heading=0.1)

    def test_imu_with_specification_and_magnetometer_starts_stationary(self):
        named = "{imu_specification: {file: bno055_magnetometer}, trajectory: {stop: 20.0}}"
        folder, summary = self.drive("imu:=specification", settings=named)
        self.check(folder, summary)
        # The limit is four times the standard deviation of the first heading: the noise of 1.9 uT
        # in a horizontal field of 20 uT is 5.4 degrees.
        self.check_first_second(folder, heading=22.0)

    def test_car_with_user_description_follows_steering_commands(self):
        robot = urdf_path("robot_ackermann.yaml")
        folder, summary = self.drive("imu:=hector", "drive:=c", f"robot:={robot}")
        self.check(folder, summary)
        wheels = folder.read_table("wheel_velocities_actual")
        self.assertGreater(wheels["steering_left"].abs().max(), 0.1)

    def test_four_wheeled_robot_with_user_description_follows_path(self):
        bundled = load_robot_parameters(urdf_path("robot_four_wheels.yaml"))
        folder = Path(tempfile.mkdtemp())
        (folder / "others.urdf").write_text(robot_description(bundled))
        sides = [[f"{side}_wheel_{n}_joint" for n in (1, 2)] for side in ("left", "right")]
        keys = f"left_wheel: {sides[0]}\nright_wheel: {sides[1]}\n"
        (folder / "others.yaml").write_text(f"description: others.urdf\n{keys}")
        self.check(*self.drive("imu:=generic", f"robot:={folder / 'others.yaml'}"))

    def test_generic_plugin_on_uneven_ground_measures_pitch(self):
        folder, summary = self.drive("imu:=generic", "terrain:=uneven")
        self.check(folder, summary)
        self.assertEqual(summary["messages"]["imu_simulated"]["expected_according_to"], "stamps")
        self.assertGreater(folder.read_table("ground_truth")["pitch"].abs().max(), 0.001)


if __name__ == "__main__":
    rostest.rosrun(
        "imu_simulation_framework", "gazebo_experiment", GazeboExperiment, sysargs=sys.argv
    )
