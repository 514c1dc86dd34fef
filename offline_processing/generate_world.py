#!/usr/bin/env python3
"""Make a Gazebo world file: level ground, or gentle bumps as in the MuJoCo simulator.

See imu_simulation_framework.commands.generate_world.
"""

import sys

from imu_simulation_framework.commands.generate_world import main
from imu_simulation_framework.core.programs import run_tool

if __name__ == "__main__":
    sys.exit(run_tool(main))
