"""What ``isf.recordings`` gives, from where it is defined."""

from .at_rest import read_at_rest as read_at_rest
from .reading import read_imu as read_imu
from .reading import read_reference as read_reference
