"""Choosing an IMU model by name and checking its parameters."""

import math

import pytest

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.imu_models.registry import IMU_MODELS, PRESETS, make_imu_model


def _make(name, parameters=None, period=0.01):
    return make_imu_model(name, parameters or {}, period, 0)


def test_every_preset_can_be_made_under_a_label_of_its_own():
    labels = {_make(name).label for name in PRESETS}
    assert len(labels) == len(PRESETS)
    assert set(IMU_MODELS) <= set(PRESETS)


def test_given_parameters_go_before_those_of_the_preset():
    parameters = _make("hector_slow", {"yaw_drift": 2.0}).parameters
    assert (parameters.yaw_drift, parameters.yaw_drift_frequency) == (2.0, 0.001)


def test_unknown_model_is_told_which_there_are():
    with pytest.raises(ConfigurationError, match="'perfect'; there are generic, hector, "):
        _make("perfect")


@pytest.mark.parametrize("name", ["ideal", "generic", "hector"])
def test_unknown_parameter_is_named(name):
    with pytest.raises(ConfigurationError, match=f"{name} has no parameter 'yaw_drfit'"):
        _make(name, {"yaw_drfit": 0.1})


@pytest.mark.parametrize(
    "name, key, value",
    [
        ("generic", "gaussian_noise", -0.1),
        ("hector", "rate_scale_error", None),
    ],
)
def test_impossible_value_is_named(name, key, value):
    with pytest.raises(ConfigurationError, match=f"{key} is {value!r}, but it must"):
        _make(name, {key: value})


@pytest.mark.parametrize("period", [0.0, -0.01, math.nan, math.inf])
def test_period_must_be_positive(period):
    with pytest.raises(ConfigurationError, match="period"):
        _make("ideal", period=period)


@pytest.mark.parametrize("value", [1e7, 1e30, -1e308])
def test_a_parameter_that_no_imu_has_is_refused_by_name(value):
    for name in ("yaw_drift_frequency", "rate_offset", "accel_gaussian_noise"):
        with pytest.raises(ConfigurationError, match=f"{name} is .* at most 1e"):
            make_imu_model("hector", {name: value}, 0.01, 1)
