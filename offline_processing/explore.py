#!/usr/bin/env python3
"""Show heading drift on a web page with sliders for motion, IMUs, operation and error limit.

See imu_simulation_framework.commands.parsers.explore.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("explore"))
