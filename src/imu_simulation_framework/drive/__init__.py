"""Replay of recorded drives by a simulated robot, and comparison of its IMU to the recorded IMU."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
