#!/usr/bin/env python3
"""Write the trajectories of a result as TUM files, which evo and others read.

See imu_simulation_framework.commands.export_tum.
"""

import sys

from imu_simulation_framework.commands.export_tum import main
from imu_simulation_framework.core.programs import run_tool

if __name__ == "__main__":
    sys.exit(run_tool(main))
