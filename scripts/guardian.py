#!/usr/bin/env python3
"""Part of experiment.launch; see imu_simulation_framework.nodes.guardian."""

import sys

from imu_simulation_framework.nodes.guardian import main

if __name__ == "__main__":
    sys.exit(main())
