#!/usr/bin/env python3
"""Write the trajectories of a result as TUM files, for evo and other tools.

See imu_simulation_framework.commands.parsers.export_tum.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("export_tum"))
