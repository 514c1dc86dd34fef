#!/usr/bin/env python3
"""Compare a simulated IMU with ground truth, and check its errors against limits.

See imu_simulation_framework.commands.parsers.validate_imu.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("validate_imu"))
