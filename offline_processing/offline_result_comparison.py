#!/usr/bin/env python3
"""Evaluate the result of an experiment with different filter and alignment settings.

See imu_simulation_framework.commands.parsers.offline_result_comparison.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("offline_result_comparison"))
