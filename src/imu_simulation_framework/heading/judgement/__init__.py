"""Judgement of a model by an observed yaw error, among simulated errors of the model.

Observed and simulated errors need the same zero: the median of their first three seconds, or the
weights of an estimated zero (``common_zero.zero_where_known``). Results:

- bands: 50, 95 and 99 % of the simulated errors at each time by itself. The error of a right model
  leaves its 95 % band somewhere in far more than 5 % of drives
- ``envelope``: interval that 95 % of the curves never leave, with one p-value for the whole curve
- ``curve_statistics``, ``statistic_tests``: final error, largest error, rms, drift per minute, and
  power in each decade of frequency, with a two-sided p-value each
- ``judge``, ``verdict``: rejected if one of these p-values is at most 0.05 after Holm's correction;
  the model drifts too little, too much, or prefers the other direction

With several drives of one robot, scale factor and misalignment stay with the unit, and each drive
has a bias of its own. The results are a verdict over all drives, a row for each, the number within
the 95 % of the model, the deviations that so few drives cannot detect, and from four drives on a
Kolmogorov-Smirnov test of their percentiles. A specification that stands for any unit, or whose
noise differs between units, has another unit on each drive; it is judged by each drive separately.
"""
