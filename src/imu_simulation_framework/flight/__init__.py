"""Airborne IMU on a gimbal: flights with JSBSim, gimbal, sensors and inertial navigation."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
