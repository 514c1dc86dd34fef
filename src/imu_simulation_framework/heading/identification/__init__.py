"""Identification of a yaw error model from drives, by maximum likelihood.

The terms are start offset and rate bias; scale factor per net turn and per absolute turn (an IMU
may prefer one direction); angle random walk and rate random walk; Gauss-Markov drift of the rate
and of the yaw; white noise of the reference, and correlated noise for satellite positioning. With
several drives, a check finds a drive that was recorded with a different IMU.

A specification is omitted, and ``yaw_error_model.yaml`` states the reason, if

- a check of the innovations failed: then parameters and intervals are unreliable, and
  ``heading_budget.py`` warns about it,
- a scale factor exceeds 15 %,
- the intervals of all errors of the sensor contain zero, so that the drives only yield upper
  limits.
"""
