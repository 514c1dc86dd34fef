"""Statistical tests of a yaw error model: an observed error against simulated errors.

Observed and simulated errors must have the same zero point: the median over their first three
seconds, or a weighted mean (``common_zero.zero_where_known``). The results are:

- bands: 50, 95 and 99 % of the simulated errors, separately at each time. The error of a correct
  model leaves its 95 % band at some time in far more than 5 % of drives
- ``envelope``: region that 95 % of the curves never leave, with one p-value for the complete curve
- ``curve_statistics``, ``statistic_tests``: final error, maximum error, rms, drift per minute, and
  power in each decade of frequency, each with a two-sided p-value
- ``judge``, ``verdict``: the model is rejected if one of these p-values is at most 0.05 after
  Holm's correction; the model then drifts too little or too much, or prefers the other direction

On several drives of one robot, the sensor has the same scale factor and misalignment, while its
bias differs between drives. The results are an overall test result; a row per drive; the number of
drives within the 95 % interval of the model; the deviations that so few drives cannot detect; and
with four or more drives, a Kolmogorov-Smirnov test of their percentiles. A specification that
describes any sensor of a type, or whose noise differs between sensors, is simulated as a different
individual sensor on each drive, and is tested by each drive separately.
"""
