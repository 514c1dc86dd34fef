#!/usr/bin/env python3
"""Find gains with which a robot follows a drive more tightly, in MuJoCo.

See imu_simulation_framework.commands.parsers.tune_tracking.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("tune_tracking"))
