#!/usr/bin/env python3
"""Judge whether a real IMU's yaw error on a drive may be one of a model's.

See imu_simulation_framework.commands.judge_imu.
"""

import sys

from imu_simulation_framework.commands.command_line import run_tool
from imu_simulation_framework.commands.judge_imu import main

if __name__ == "__main__":
    sys.exit(run_tool(main))
