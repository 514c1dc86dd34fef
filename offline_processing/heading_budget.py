#!/usr/bin/env python3
"""How far a heading will have drifted, with what probability, and because of what.

See imu_simulation_framework.commands.heading_budget.
"""

import sys

from imu_simulation_framework.commands.heading_budget import main
from imu_simulation_framework.core.programs import run_tool

if __name__ == "__main__":
    sys.exit(run_tool(main))
