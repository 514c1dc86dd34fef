"""Public names of ``isf.motion``."""

from .earth_motion import EarthMotion as EarthMotion
from .earth_motion import circling as circling
from .earth_motion import on_earth as on_earth
from .earth_motion import standing as standing
from .motion import Motion as Motion
from .sources import at_rest as at_rest
from .sources import mowing as mowing
from .sources import read_drive as read_drive
from .sources import rounds as rounds
from .sources import straight as straight
from .strapdown import Increments as Increments
from .strapdown import increments_of as increments_of
from .strapdown import integrate as integrate
