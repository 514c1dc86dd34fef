#!/usr/bin/env python3
"""Evaluate the results of an experiment again, with other filter and alignment settings.

See imu_simulation_framework.commands.offline_result_comparison.
"""

import sys

from imu_simulation_framework.commands.command_line import run_tool
from imu_simulation_framework.commands.offline_result_comparison import main

if __name__ == "__main__":
    sys.exit(run_tool(main))
