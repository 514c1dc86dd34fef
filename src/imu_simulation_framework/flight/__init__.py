"""Simulation of an airborne IMU on a gimbal: JSBSim flights, sensors, inertial navigation."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
