"""What an IMU, a magnetometer and a GNSS receiver say of a motion: errors and formats."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
