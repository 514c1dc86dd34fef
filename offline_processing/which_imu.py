#!/usr/bin/env python3
"""Rank IMUs by whether their yaw error stays within a limit.

See imu_simulation_framework.commands.parsers.which_imu.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("which_imu"))
