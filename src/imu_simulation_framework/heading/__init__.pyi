"""What ``isf.heading`` gives, from where it is defined."""

from .answer import HeadingAnswer as HeadingAnswer
from .answer import heading_answer as heading_answer
from .answer import which_imu as which_imu
from .identification.identify import identify_yaw_error as identify_yaw_error
from .identification.odometer import identify_odometer as identify_odometer
from .judgement import judge as judge
from .model.model import YawErrorModel as YawErrorModel
from .model.odometer import FusedYawError as FusedYawError
from .model.of_imu import yaw_error_model as yaw_error_model
from .statistics import yaw_error as yaw_error
