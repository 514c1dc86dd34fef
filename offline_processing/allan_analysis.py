#!/usr/bin/env python3
"""Identify an IMU's noise parameters from recordings at rest, by their Allan deviation.

See imu_simulation_framework.commands.allan_analysis.
"""

import sys

from imu_simulation_framework.commands.allan_analysis import main
from imu_simulation_framework.core.programs import run_tool

if __name__ == "__main__":
    sys.exit(run_tool(main))
