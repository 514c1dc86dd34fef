#!/usr/bin/env python3
"""How far a heading will have drifted, with what probability, and because of what.

See imu_simulation_framework.commands.heading_budget.
"""

import sys

from imu_simulation_framework.commands.command_line import run_tool
from imu_simulation_framework.commands.heading_budget import main

if __name__ == "__main__":
    sys.exit(run_tool(main))
