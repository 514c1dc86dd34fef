#!/usr/bin/env python3
"""A page in the browser on which one plays with heading drift: motion, parts, operation, limit.

See imu_simulation_framework.commands.parsers.explore.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("explore"))
