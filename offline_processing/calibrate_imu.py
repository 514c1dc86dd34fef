#!/usr/bin/env python3
"""Calibrate an IMU from static orientations, complete turns or temperature changes.

See imu_simulation_framework.commands.parsers.calibrate_imu.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("calibrate_imu"))
