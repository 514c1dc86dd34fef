#!/usr/bin/env python3
"""Judge whether a real IMU's yaw error on a drive may be one of a model's.

See imu_simulation_framework.commands.judge_imu.
"""

import sys

from imu_simulation_framework.commands.judge_imu import main
from imu_simulation_framework.core.programs import run_tool

if __name__ == "__main__":
    sys.exit(run_tool(main))
