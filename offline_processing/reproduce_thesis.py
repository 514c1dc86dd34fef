#!/usr/bin/env python3
"""Figures 3.9 to 3.11 and all of chapter 4 of the thesis, made with our drives.

See imu_simulation_framework.commands.reproduce_thesis.
"""

import sys

from imu_simulation_framework.commands.reproduce_thesis import main
from imu_simulation_framework.core.programs import run_tool

if __name__ == "__main__":
    sys.exit(run_tool(main))
