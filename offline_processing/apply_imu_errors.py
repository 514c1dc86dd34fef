#!/usr/bin/env python3
"""Give the ideal IMU in a bag the errors of a real one.

See imu_simulation_framework.commands.parsers.apply_imu_errors.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("apply_imu_errors"))
