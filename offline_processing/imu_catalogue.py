#!/usr/bin/env python3
"""The bundled IMUs: their documents' key figures, and how far a heading drifts with them.

See imu_simulation_framework.commands.imu_catalogue.
"""

import sys

from imu_simulation_framework.commands.imu_catalogue import main
from imu_simulation_framework.core.programs import run_tool

if __name__ == "__main__":
    sys.exit(run_tool(main))
