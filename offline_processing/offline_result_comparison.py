#!/usr/bin/env python3
"""Evaluate the results of an experiment again, with other filter and alignment settings.

See imu_simulation_framework.commands.offline_result_comparison.
"""

import sys

from imu_simulation_framework.commands.offline_result_comparison import main
from imu_simulation_framework.core.programs import run_tool

if __name__ == "__main__":
    sys.exit(run_tool(main))
