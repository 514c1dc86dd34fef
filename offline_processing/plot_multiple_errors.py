#!/usr/bin/env python3
"""Yaw errors of many experiments in one figure, their spectra, and a table of them all.

See imu_simulation_framework.commands.parsers.plot_multiple_errors.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("plot_multiple_errors"))
