#!/usr/bin/env python3
"""Start the Gazebo server for experiment.launch."""

import sys

from imu_simulation_framework.ros1.simulators.gazebo_server import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
