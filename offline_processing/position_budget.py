#!/usr/bin/env python3
"""Compute the distribution of the position error of dead reckoning, and its sources.

See imu_simulation_framework.commands.parsers.position_budget.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("position_budget"))
