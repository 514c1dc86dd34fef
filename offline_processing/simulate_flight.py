#!/usr/bin/env python3
"""Simulate an IMU on the gimbal of an aircraft; write tables, a bag, figures and a report.

See imu_simulation_framework.commands.parsers.simulate_flight.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("simulate_flight"))
