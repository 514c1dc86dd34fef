"""What ``isf.recordings`` gives, from where it is defined."""

from .reading import read_imu as read_imu
from .reading import read_reference as read_reference
