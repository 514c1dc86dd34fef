#!/usr/bin/env python3
"""Compare yaw signals from recordings and results: differences and delays.

See imu_simulation_framework.commands.parsers.compare_yaw.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("compare_yaw"))
