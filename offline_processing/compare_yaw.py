#!/usr/bin/env python3
"""Compare yaws of any recordings and results: how far apart they are, and how late each is.

See imu_simulation_framework.commands.parsers.compare_yaw.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("compare_yaw"))
