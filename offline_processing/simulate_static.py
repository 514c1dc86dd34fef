#!/usr/bin/env python3
"""Simulate an IMU at rest from its specification, to check one's own tools against it.

See imu_simulation_framework.commands.parsers.simulate_static.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("simulate_static"))
