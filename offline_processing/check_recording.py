#!/usr/bin/env python3
"""Look at a recording before it is driven: everything that would stop or mislead an experiment.

See imu_simulation_framework.commands.check_recording.
"""

import sys

from imu_simulation_framework.commands.check_recording import main
from imu_simulation_framework.core.programs import run_tool

if __name__ == "__main__":
    sys.exit(run_tool(main))
