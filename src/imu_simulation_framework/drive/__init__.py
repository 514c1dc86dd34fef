"""A robot that replays a recorded drive, its simulated IMU, and the comparison of both IMUs."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
