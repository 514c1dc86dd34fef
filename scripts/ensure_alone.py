#!/usr/bin/env python3
"""Part of experiment.launch; see imu_simulation_framework.ros1.launching.alone."""

import sys

from imu_simulation_framework.ros1.launching.alone import main

if __name__ == "__main__":
    sys.exit(main())
