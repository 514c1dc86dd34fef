"""Readers for recordings of a drive in any format, and checks of their plausibility.

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

After both have been read, ``plausibility`` compares the reference and the IMU of a drive.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
