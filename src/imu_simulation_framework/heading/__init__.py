"""Yaw errors: prediction models, budgets, statistics, identification and model tests.

Prediction for a sensor and a motion:

- ``model``: the linear Gaussian model of the yaw error, and the sources of IMUs and odometers
- ``answer``: percentiles, time at which a limit is first exceeded, and causes
- ``improvements``, ``selection``, ``requirements``: calibrations and better sensors, the choice of
  an IMU, and the largest sensor errors that keep the heading within a limit
- ``budget``, ``budget_tables``, ``budget_page``: budgets of several sensors, their tables and web
  page

Yaw errors of recorded and simulated drives:

- ``true_yaw_error``: error relative to the true motion, for complete tables and for streamed
  samples
- ``yaw_comparison``: error relative to a reference, after aligning the times and setting the zero
- ``reference_error``, ``error_split``: error of the reference, and the shares of the reference and
  of the IMU in a yaw error (``binned_error``, ``drift_posterior``)
- ``statistics``, ``relative_error``: statistics over time, and over intervals of distance or
  turning
- ``experiment_comparison``, ``wheel_comparison``: all comparisons of an experiment

Models and drives:

- ``identification``: maximum-likelihood estimate of the model from observed yaw errors
- ``ensemble``: reduction of many simulated drives to a few statistics
- ``judgement``, ``several_drives``: tests of a model against one drive, or against several

``figures`` creates the figures, and ``explore`` is a web page with sliders.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
