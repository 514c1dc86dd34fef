#!/usr/bin/env python3
"""Check a recording for faults that would stop or mislead an experiment.

See imu_simulation_framework.commands.parsers.check_recording.
"""

import sys

from imu_simulation_framework.commands.start import start_program

if __name__ == "__main__":
    sys.exit(start_program("check_recording"))
