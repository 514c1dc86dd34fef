#!/usr/bin/env python3
"""Draw very many runs of a drive and say how far the heading drifts, with probabilities.

See imu_simulation_framework.commands.monte_carlo.
"""

import sys

from imu_simulation_framework.commands.command_line import run_tool
from imu_simulation_framework.commands.monte_carlo import main

if __name__ == "__main__":
    sys.exit(run_tool(main))
