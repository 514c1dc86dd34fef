#!/usr/bin/env python3
"""How far a heading will have drifted, with what probability, and because of what.

See imu_simulation_framework.commands.parsers.heading_budget.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("heading_budget"))
