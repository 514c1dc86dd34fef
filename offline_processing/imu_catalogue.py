#!/usr/bin/env python3
"""The bundled IMUs: their documents' key figures, and how far a heading drifts with them.

See imu_simulation_framework.commands.imu_catalogue.
"""

import sys

from imu_simulation_framework.commands.command_line import run_tool
from imu_simulation_framework.commands.imu_catalogue import main

if __name__ == "__main__":
    sys.exit(run_tool(main))
