#!/usr/bin/env python3
"""Guardian process of experiment.launch; see imu_simulation_framework.ros1.launching.guardian."""

import sys

from imu_simulation_framework.ros1.launching.guardian import main

if __name__ == "__main__":
    sys.exit(main())
