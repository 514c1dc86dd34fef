"""What readings at rest say of noise."""

import numpy as np

from imu_simulation_framework.characterisation.calibration.rest_times import RestTime
from imu_simulation_framework.characterisation.calibration.text import constant_remarks

RESTS = [RestTime(0, 50), RestTime(80, 100)]


def test_an_axis_that_is_constant_at_rest_is_named():
    readings = np.random.default_rng(1).normal(size=(100, 3))
    assert constant_remarks("gyroscope", readings, RESTS) == []
    readings[:50, 0] = 0.1
    # It has noise in one of the times at rest.
    assert constant_remarks("gyroscope", readings, RESTS) == []
    readings[80:, 0], readings[:, 2] = 0.2, 0.0
    (remark,) = constant_remarks("gyroscope", readings, RESTS)
    assert remark.startswith("gyroscope: readings of x, z do not change at all at rest")
    assert constant_remarks("gyroscope", readings, []) == []
