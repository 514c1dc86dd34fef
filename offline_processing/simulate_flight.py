#!/usr/bin/env python3
"""Simulate an IMU on a gimbal on an aircraft: tables, a bag, figures and a report of a flight.

See imu_simulation_framework.commands.simulate_flight.
"""

import sys

from imu_simulation_framework.commands.simulate_flight import main
from imu_simulation_framework.core.programs import run_tool

if __name__ == "__main__":
    sys.exit(run_tool(main))
