#!/usr/bin/env python3
"""Write the report of an experiment: a web page with all figures, tables and settings.

See imu_simulation_framework.commands.parsers.report.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("report"))
