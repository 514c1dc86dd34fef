"""The yaw error of a heading: model, budget, statistics, identification and judgement.

Prediction for a sensor and a motion:

- ``model``: the linear Gaussian model of the yaw error, and the sources of IMUs and odometers
- ``answer``: percentiles, time of the first passage of a limit, and causes
- ``improvements``, ``selection``, ``requirements``: better uses and parts, the choice of an IMU,
  and the largest errors that keep a limit
- ``budget``, ``budget_tables``, ``budget_page``: budgets of several sensors, their tables and page

Yaw errors of recorded and simulated drives:

- ``true_yaw_error``: against a true motion, also of streamed samples
- ``yaw_comparison``: against a reference, with alignment and zero
- ``reference_error``, ``error_split``: the reference's own error, and the parts that are the
  reference's and the IMU's (``binned_error``, ``drift_posterior``)
- ``statistics``, ``relative_error``: statistics over time, and over stretches of path or turning
- ``experiment_comparison``, ``wheel_comparison``: all comparisons of an experiment

Models and drives:

- ``identification``: the model of observed yaw errors by maximum likelihood
- ``ensemble``: many simulated drives in few numbers
- ``judgement``, ``several_drives``: tests of a model by one drive, or by several

``figures`` has the figures, and ``explore`` a web page with sliders.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
