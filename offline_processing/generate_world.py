#!/usr/bin/env python3
"""Make a Gazebo world file: level ground, or gentle bumps as in the MuJoCo simulator.

See imu_simulation_framework.commands.generate_world.
"""

import sys

from imu_simulation_framework.commands.command_line import run_tool
from imu_simulation_framework.commands.generate_world import main

if __name__ == "__main__":
    sys.exit(run_tool(main))
