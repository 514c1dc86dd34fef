#!/usr/bin/env python3
"""Compute the distribution of the yaw error for a motion, and its error sources.

See imu_simulation_framework.commands.parsers.heading_budget.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("heading_budget"))
