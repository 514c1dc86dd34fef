#!/usr/bin/env python3
"""Find gains with which a robot follows a drive more tightly, in MuJoCo.

See imu_simulation_framework.commands.tune_tracking.
"""

import sys

from imu_simulation_framework.commands.tune_tracking import main
from imu_simulation_framework.core.programs import run_tool

if __name__ == "__main__":
    sys.exit(run_tool(main))
