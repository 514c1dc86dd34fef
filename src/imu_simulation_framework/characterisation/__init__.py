"""Allan analysis and calibration of a sensor from recordings, and its validation."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
