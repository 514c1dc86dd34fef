"""Public names of ``isf.characterisation`` and the modules that define them."""

from .allan.analysis import identify as identify
from .calibration.inertial import calibrate_accelerometer as calibrate_accelerometer
from .calibration.inertial import calibrate_gyroscope as calibrate_gyroscope
from .samples_at_rest import prepare_at_rest as prepare_at_rest
