#!/usr/bin/env python3
"""One web page with all figures, tables and settings of an experiment.

See imu_simulation_framework.commands.report.
"""

import sys

from imu_simulation_framework.commands.command_line import run_tool
from imu_simulation_framework.commands.report import main

if __name__ == "__main__":
    sys.exit(run_tool(main))
