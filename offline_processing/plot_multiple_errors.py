#!/usr/bin/env python3
"""Yaw errors of many experiments in one figure, their spectra, and a table of them all.

See imu_simulation_framework.commands.plot_multiple_errors.
"""

import sys

from imu_simulation_framework.commands.command_line import run_tool
from imu_simulation_framework.commands.plot_multiple_errors import main

if __name__ == "__main__":
    sys.exit(run_tool(main))
