#!/usr/bin/env python3
"""One web page with all figures, tables and settings of an experiment.

See imu_simulation_framework.commands.report.
"""

import sys

from imu_simulation_framework.commands.report import main
from imu_simulation_framework.core.programs import run_tool

if __name__ == "__main__":
    sys.exit(run_tool(main))
