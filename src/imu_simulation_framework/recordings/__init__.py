"""Recordings of a drive, from any file to tables, and whether they can be right."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
