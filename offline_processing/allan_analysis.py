#!/usr/bin/env python3
"""Identify the noise parameters of an IMU from the Allan deviation of static recordings.

See imu_simulation_framework.commands.parsers.allan_analysis.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("allan_analysis"))
