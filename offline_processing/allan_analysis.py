#!/usr/bin/env python3
"""Identify an IMU's noise parameters from recordings at rest, by their Allan deviation.

See imu_simulation_framework.commands.parsers.allan_analysis.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("allan_analysis"))
