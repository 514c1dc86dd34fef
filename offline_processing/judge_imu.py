#!/usr/bin/env python3
"""Test whether a model of an IMU explains the yaw error of a real IMU on a drive.

See imu_simulation_framework.commands.parsers.judge_imu.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("judge_imu"))
