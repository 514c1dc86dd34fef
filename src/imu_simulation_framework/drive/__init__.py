"""A robot that replays a recorded drive, what its IMU says, and how that compares."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
