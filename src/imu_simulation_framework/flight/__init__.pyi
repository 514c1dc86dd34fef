"""Public names of ``isf.flight`` and the modules that define them."""

from .gimbal.geometry import GimbalGeometry as GimbalGeometry
from .gimbal.simulation import simulate_gimbal as simulate_gimbal
from .gimbal.specification import FixedJoints as FixedJoints
from .gimbal.specification import GimbalSpecification as GimbalSpecification
from .gimbal.specification import SinusoidalJoints as SinusoidalJoints
from .gimbal.specification import TabulatedJoints as TabulatedJoints
from .gimbal.specification import read_gimbal as read_gimbal
from .gimbal.stabilisation import HeldAttitude as HeldAttitude
from .gimbal.stabilisation import PointAhead as PointAhead
from .gimbal.stabilisation import PointOnEarth as PointOnEarth
from .gimbal.stabilisation import Stabilisation as Stabilisation
from .jsbsim import fly as fly
from .navigation.runs import navigate_runs as navigate_runs
from .navigation.tuning import FilterTuning as FilterTuning
from .navigation.tuning import InitialUncertainty as InitialUncertainty
from .recording import read_flight as read_flight
from .udp import PacketReceiver as PacketReceiver
from .udp import receive_flight as receive_flight
