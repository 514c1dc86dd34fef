#!/usr/bin/env python3
"""Add the errors of a realistic IMU to the ideal IMU in a bag.

See imu_simulation_framework.commands.parsers.apply_imu_errors.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("apply_imu_errors"))
