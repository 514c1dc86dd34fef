"""The command lines, a module for each program."""

from imu_simulation_framework.core.programs import use_one_thread

use_one_thread()
