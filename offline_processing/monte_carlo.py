#!/usr/bin/env python3
"""Draw very many runs of a drive and say how far the heading drifts, with probabilities.

See imu_simulation_framework.commands.parsers.monte_carlo.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("monte_carlo"))
