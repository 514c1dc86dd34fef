#!/usr/bin/env python3
"""Make a Gazebo world file: level ground, or gentle bumps as in the MuJoCo simulator.

See imu_simulation_framework.commands.parsers.generate_world.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("generate_world"))
