#!/usr/bin/env python3
"""Write the trajectories of a result as TUM files, which evo and others read.

See imu_simulation_framework.commands.export_tum.
"""

import sys

from imu_simulation_framework.commands.command_line import run_tool
from imu_simulation_framework.commands.export_tum import main

if __name__ == "__main__":
    sys.exit(run_tool(main))
