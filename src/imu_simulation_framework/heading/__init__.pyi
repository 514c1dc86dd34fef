"""Public names of ``isf.heading``."""

from .answer import HeadingAnswer as HeadingAnswer
from .answer import heading_answer as heading_answer
from .identification.identify import identify_yaw_error as identify_yaw_error
from .identification.odometer import identify_odometer as identify_odometer
from .judgement.judge import judge as judge
from .model.imu_error_sources import yaw_error_model as yaw_error_model
from .model.model import YawErrorModel as YawErrorModel
from .model.odometer import FusedYawError as FusedYawError
from .position.fixes import PositionFix as PositionFix
from .position.model import PositionErrorModel as PositionErrorModel
from .position.model import StartUncertainty as StartUncertainty
from .position.prediction import DeadReckoning as DeadReckoning
from .position.prediction import position_error_model as position_error_model
from .selection import which_imu as which_imu
from .true_yaw_error import yaw_error as yaw_error
