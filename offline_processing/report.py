#!/usr/bin/env python3
"""One web page with all figures, tables and settings of an experiment.

See imu_simulation_framework.commands.parsers.report.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("report"))
