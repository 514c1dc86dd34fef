"""Recordings of a drive: reading any file into tables, and checking their plausibility.

A recording is read in four steps, each with one type in and one out:

========  ==================================  ========================  =========================
step      module                              takes                     returns
========  ==================================  ========================  =========================
formats   ``formats``                         path of a file            tables of named columns
columns   :mod:`.columns`,                    tables                    :class:`.ColumnChoice`,
          :mod:`.quantities`                                            :class:`.Samples`
evidence  :mod:`.evidence`                    :class:`.Samples`         :class:`.Evidence`
samples   :mod:`.reading`                     path and conventions      :class:`.Recorded`
========  ==================================  ========================  =========================

``plausibility`` compares reference and IMU of a drive once both are read.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
