#!/usr/bin/env python3
"""Judge whether a real IMU's yaw error on a drive may be one of a model's.

See imu_simulation_framework.commands.parsers.judge_imu.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("judge_imu"))
