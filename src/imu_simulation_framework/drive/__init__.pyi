"""What ``isf.drive`` gives, from where it is defined."""

from .configuration import Configuration as Configuration
from .configuration import load_configuration as load_configuration
from .in_process import robot_motion as robot_motion
from .in_process import run_in_process as run_in_process
from .recorded_drive.path import read_motion as read_motion
