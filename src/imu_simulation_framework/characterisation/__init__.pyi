"""What ``isf.characterisation`` gives, from where it is defined."""

from .allan.analysis import identify as identify
from .allan.files import read_at_rest as read_at_rest
from .calibration.correction import ImuCorrection as ImuCorrection
from .calibration.correction import read_imu_correction as read_imu_correction
from .calibration.inertial import calibrate_accelerometer as calibrate_accelerometer
from .calibration.inertial import calibrate_gyroscope as calibrate_gyroscope
from .samples_at_rest import prepare_at_rest as prepare_at_rest
