"""Identification of a model of the yaw error from drives, by maximum likelihood.

Terms are start offset and rate bias; scale factor per net turn and per absolute turn (an IMU may
prefer a direction); angle random walk and rate random walk; Gauss-Markov drift of the rate and of
the yaw; white noise of the reference, and correlated noise for satellite positioning. With several
drives, a check names the drive whose IMU differs.

No specification is written, and ``yaw_error_model.yaml`` states the reason, if

- a check of the innovations failed: parameters and intervals are unreliable, and
  ``heading_budget.py`` warns of this,
- a scale factor is beyond 15 %,
- the intervals of all errors of the sensor contain zero, so that the drives give only upper limits.
"""
