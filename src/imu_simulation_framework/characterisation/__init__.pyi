"""What ``isf.characterisation`` gives, from where it is defined."""

from .allan.analysis import identify as identify
from .calibration.inertial import calibrate_accelerometer as calibrate_accelerometer
from .calibration.inertial import calibrate_gyroscope as calibrate_gyroscope
from .samples_at_rest import prepare_at_rest as prepare_at_rest
