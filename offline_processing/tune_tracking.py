#!/usr/bin/env python3
"""Tune controller gains in MuJoCo so that a robot follows a drive more accurately.

See imu_simulation_framework.commands.parsers.tune_tracking.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("tune_tracking"))
