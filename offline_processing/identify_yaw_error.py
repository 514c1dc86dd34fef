#!/usr/bin/env python3
"""Identify a model of an IMU's yaw error from drives by maximum likelihood.

See imu_simulation_framework.commands.parsers.identify_yaw_error.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("identify_yaw_error"))
