#!/usr/bin/env python3
"""Yaw errors of many experiments in one figure, their spectra, and a table of them all.

See imu_simulation_framework.commands.plot_multiple_errors.
"""

import sys

from imu_simulation_framework.commands.plot_multiple_errors import main
from imu_simulation_framework.core.programs import run_tool

if __name__ == "__main__":
    sys.exit(run_tool(main))
