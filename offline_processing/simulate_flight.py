#!/usr/bin/env python3
"""Simulate an IMU on a gimbal on an aircraft: tables, a bag, figures and a report of a flight.

See imu_simulation_framework.commands.parsers.simulate_flight.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("simulate_flight"))
