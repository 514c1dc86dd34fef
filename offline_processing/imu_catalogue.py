#!/usr/bin/env python3
"""The bundled IMUs: their documents' key figures, and how far a heading drifts with them.

See imu_simulation_framework.commands.parsers.imu_catalogue.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("imu_catalogue"))
