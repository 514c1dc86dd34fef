"""Motion of robots and aircraft, in a flat world or on the rotating Earth."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
