#!/usr/bin/env python3
"""Reproduce figures 3.9 to 3.11 and all chapter 4 figures of the thesis with bundled drives.

See imu_simulation_framework.commands.parsers.reproduce_thesis.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("reproduce_thesis"))
