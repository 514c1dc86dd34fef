#!/usr/bin/env python3
"""Draw very many runs of a drive and say how far the heading drifts, with probabilities.

See imu_simulation_framework.commands.monte_carlo.
"""

import sys

from imu_simulation_framework.commands.monte_carlo import main
from imu_simulation_framework.core.programs import run_tool

if __name__ == "__main__":
    sys.exit(run_tool(main))
