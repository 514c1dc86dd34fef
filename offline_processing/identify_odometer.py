#!/usr/bin/env python3
"""Identify a wheel odometer's errors from a drive: unequal wheels, track and slip.

See imu_simulation_framework.commands.identify_odometer.
"""

import sys

from imu_simulation_framework.commands.identify_odometer import main
from imu_simulation_framework.core.programs import run_tool

if __name__ == "__main__":
    sys.exit(run_tool(main))
