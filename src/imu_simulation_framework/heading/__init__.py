"""The yaw error: its model, budget, statistics, identification and judgement."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
