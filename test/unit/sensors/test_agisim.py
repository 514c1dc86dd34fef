"""The bundled IMU of AGISim: the paper's table in our axes, and other units of it."""

from operator import attrgetter

import numpy as np
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.imu_specification import AGISIM_SPREAD, UnitSpread, draw_unit

# From forward, right, down to forward, left, up.
TO_OURS = np.diag([1.0, -1.0, -1.0])


def test_biases_and_noise_are_the_papers_in_our_axes():
    imu = isf.read_imu_specification("agisim")
    assert imu.accelerometer.turn_on_bias == pytest.approx(TO_OURS @ [0.009, -0.013, 0.008])
    assert imu.gyroscope.turn_on_bias == pytest.approx(TO_OURS @ [-1.75e-4, 2.52e-4, 1.55e-4])
    assert imu.accelerometer.white_noise == (7.845e-4,) * 3
    assert imu.gyroscope.white_noise == (2.327e-6,) * 3
    for triad in (imu.gyroscope, imu.accelerometer):
        assert not any(triad.turn_on_bias_sigma + triad.random_walk + triad.bias_instability)


def _matrices(imu):
    return (
        imu.gyroscope.scale_factor_and_misalignment,
        imu.accelerometer.scale_factor_and_misalignment,
        imu.gyroscope.g_sensitivity,
    )


def test_its_matrices_are_the_draw_that_its_file_says():
    imu = isf.read_imu_specification("agisim")
    drawn = draw_unit(imu, AGISIM_SPREAD, seed=1, run=0)
    for values, expected in zip(_matrices(imu), _matrices(drawn)):
        np.testing.assert_allclose(values, expected, rtol=1e-4)


def test_in_the_papers_axes_all_elements_are_between_zero_and_its_extent():
    imu = isf.read_imu_specification("agisim")
    extents = (3e-3 * np.triu(np.ones((3, 3))), 5e-3 * np.ones((3, 3)), 1e-5 * np.ones((3, 3)))
    drawn = [_matrices(draw_unit(imu, AGISIM_SPREAD, seed=3, run=run)) for run in range(400)]
    for values, extent in zip(zip(*drawn), extents):
        theirs = TO_OURS @ np.array(values) @ TO_OURS
        assert np.all(theirs >= 0.0) and np.all(theirs <= extent)
        # The mean of 400 evenly drawn numbers, five standard errors.
        standard_error = extent / np.sqrt(12.0 * 400.0)
        assert np.all(np.abs(theirs.mean(axis=0) - 0.5 * extent) <= 5.0 * standard_error)


def test_a_unit_is_the_same_whatever_others_there_are_and_changes_its_response_only():
    imu = isf.read_imu_specification("agisim")
    one, again, other = (draw_unit(imu, AGISIM_SPREAD, 5, run) for run in (2, 2, 3))
    assert one == again != other
    for name in ("accelerometer.turn_on_bias", "gyroscope.white_noise", "output"):
        assert attrgetter(name)(one) == attrgetter(name)(imu)


def test_a_spread_that_is_no_matrix_is_refused():
    with pytest.raises(ConfigurationError, match="gyroscope must have three rows"):
        UnitSpread(gyroscope=((1.0, 2.0), (3.0, 4.0)))
