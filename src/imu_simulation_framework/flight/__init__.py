"""An IMU on a gimbal on an aircraft: JSBSim, gimbal, navigation, and all that is measured of it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
