#!/usr/bin/env python3
"""Simulate an IMU at rest from its specification, to check one's own tools against it.

See imu_simulation_framework.commands.simulate_static.
"""

import sys

from imu_simulation_framework.commands.simulate_static import main
from imu_simulation_framework.core.programs import run_tool

if __name__ == "__main__":
    sys.exit(run_tool(main))
