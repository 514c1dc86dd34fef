#!/usr/bin/env python3
"""Identify the errors of a wheel odometer from a drive: wheel diameters, track and slip.

See imu_simulation_framework.commands.parsers.identify_odometer.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("identify_odometer"))
