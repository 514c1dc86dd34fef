"""Identification of a sensor's specification from recordings: Allan variance and calibration."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
