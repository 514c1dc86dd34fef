#!/usr/bin/env python3
"""Generate a synthetic drive: a reference trajectory and an IMU recording.

See imu_simulation_framework.commands.parsers.generate_drive.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("generate_drive"))
