#!/usr/bin/env python3
"""Which IMU is good enough for a heading, of the bundled ones or of others.

See imu_simulation_framework.commands.parsers.which_imu.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("which_imu"))
