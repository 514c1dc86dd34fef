#!/usr/bin/env python3
"""Simulate many runs of a drive and compute the distribution of the yaw error.

See imu_simulation_framework.commands.parsers.monte_carlo.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("monte_carlo"))
