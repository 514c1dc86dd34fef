#!/usr/bin/env python3
"""Start the guardian, which terminates an experiment's nodes if their launcher was killed.

See imu_simulation_framework.ros1.launching.guardian.
"""

import sys

from imu_simulation_framework.ros1.launching.guardian import main

if __name__ == "__main__":
    sys.exit(main())
