#!/usr/bin/env python3
"""Plot the yaw errors and spectra of several experiments, and print a table of statistics.

See imu_simulation_framework.commands.parsers.plot_multiple_errors.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("plot_multiple_errors"))
