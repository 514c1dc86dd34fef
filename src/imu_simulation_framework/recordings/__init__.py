"""Readers for drive recordings in many formats, and plausibility checks.

A recording is read in four steps, each with one input type and one output type:

========  ==================================  ========================  =========================
step      module                              accepts                   returns
========  ==================================  ========================  =========================
formats   ``formats``                         path of a file            tables with named columns
columns   :mod:`.columns`,                    tables                    :class:`.ColumnChoice`,
          :mod:`.quantities`                                            :class:`.Samples`
evidence  :mod:`.evidence`                    :class:`.Samples`         :class:`.Evidence`
samples   :mod:`.reading`                     path and conventions      :class:`.Recorded`
========  ==================================  ========================  =========================

After the reference and the IMU of a drive have been read, ``plausibility`` compares them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
