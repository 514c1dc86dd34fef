#!/usr/bin/env python3
"""Generate a Gazebo world with level ground, or with the same bumps as in the MuJoCo simulator.

See imu_simulation_framework.commands.parsers.generate_world.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("generate_world"))
