#!/usr/bin/env python3
"""Convert IMU parameters between the formats of simulators and estimators.

See imu_simulation_framework.commands.parsers.convert_imu_parameters.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("convert_imu_parameters"))
