#!/usr/bin/env python3
"""Simulate a static recording of an IMU from its specification, to test other tools.

See imu_simulation_framework.commands.parsers.simulate_static.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("simulate_static"))
