#!/usr/bin/env python3
"""List the bundled IMUs with key figures from their data sheets and their heading drift.

See imu_simulation_framework.commands.parsers.imu_catalogue.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("imu_catalogue"))
