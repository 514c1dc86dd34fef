#!/usr/bin/env python3
"""Compare a simulator's IMU plug-in with this package's emulation, on a stationary robot.

See imu_simulation_framework.commands.parsers.compare_plugins.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("compare_plugins"))
