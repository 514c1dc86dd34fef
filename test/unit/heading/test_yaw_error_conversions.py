import math
from dataclasses import replace

import numpy as np
import pytest
from refusals import require_refused
from scipy.stats import norm, t

import imu_simulation_framework as isf
from imu_simulation_framework.heading.identification import identify, terms
from imu_simulation_framework.heading.identification.fit import Likelihood, fit, hector_of
from imu_simulation_framework.heading.model.parameters import (
    YawErrorParameters,
    is_yaw_error_model_file,
    read_yaw_error_model,
    specification_from_parameters,
    yaw_error_model_text,
)
from imu_simulation_framework.heading.model.sources import KnownError, YawGaussMarkov, YawNoise

TIME = np.arange(601.0)
REPRESENTABLE = YawErrorParameters(
    rate_bias=2e-4,
    rate_bias_spread=1e-4,
    scale_factor=3e-3,
    angle_random_walk=3e-4,
    rate_random_walk=2e-6,
    rate_drift_sigma=2e-4,
    rate_drift_time=60.0,
    drives=4,
)


def test_specification_from_parameters_has_same_drift():
    # The robot is stationary at the start of the drive, so the filter starts without a tilt.
    motion = isf.read_drive("a", laps=1)
    specification, omissions = specification_from_parameters(REPRESENTABLE, "found", 100.0)
    assert omissions == [] and specification.name == "found"
    converted = isf.yaw_error_model(REPRESENTABLE, motion)
    from_specification = isf.yaw_error_model(specification, motion)
    np.testing.assert_allclose(from_specification.mean(), converted.mean(), atol=1e-9)
    np.testing.assert_allclose(
        from_specification.variance(), converted.variance(), rtol=1e-3, atol=1e-15
    )
    sigma, time = 0.02, 50.0
    parameters = YawErrorParameters(yaw_drift_sigma=sigma, yaw_drift_time=time)
    zero = np.zeros(len(TIME))
    variance = isf.YawErrorModel(TIME, tuple(parameters.sources(TIME, zero, zero))).variance()
    # The expected value is the variance of x(t) - x(0) of a first-order Gauss-Markov process.
    np.testing.assert_allclose(variance, 2.0 * sigma**2 * -np.expm1(-TIME / time), atol=1e-15)


def test_specification_from_parameters_reports_omitted_errors():
    parameters = YawErrorParameters(
        yaw_drift_sigma=0.02, yaw_drift_time=50.0, scale_factor_of_absolute_turn=1e-3
    )
    _, omissions = specification_from_parameters(parameters, "found", 100.0)
    assert (
        "drift of the yaw" in omissions[0]
        and "0.1 %" in omissions[1]
        and "single drive" in omissions[2]
    )
    model = isf.yaw_error_model(YawErrorParameters(rate_bias=1e-4), isf.straight(60.0))
    assert "single drive" in model.limits[0]


RANDOM = (terms.YAW_DRIFT, terms.REFERENCE_NOISE)


def observed(model, count):
    """Return simulated drives without turns, whose yaw errors are realisations of a model."""
    zero = np.zeros(len(model.time))
    return [
        terms.ObservedYawError(f"{index}", model.time, error, zero, zero)
        for index, error in enumerate(model.realisations(count, seed=1))
    ]


def test_hector_parameters_are_identified():
    truth = isf.HectorParameters(yaw_drift=0.5, yaw_drift_frequency=0.05)
    motion = isf.straight(600.0)
    model = isf.yaw_error_model(truth, motion)
    model = replace(model, sources=(*model.sources, YawNoise("noise", 1e-3)))
    drives = observed(model, 4)
    assert "yaw_drift_sigma" in identify.choose(drives[:1], [terms.RATE_BIAS]).fit.values
    chosen = fit(Likelihood(drives, RANDOM, (terms.RATE_BIAS,)))
    hector = hector_of(chosen, motion.period)
    # With n as half the number of correlation times, the relative standard error is about
    # sqrt(2 / n) for the frequency, and half of that for the drift.
    rel = 3.0 * math.sqrt(2.0 / (4.0 * 600.0 * 0.05 / 2.0))
    assert hector.parameters.yaw_drift == pytest.approx(0.5, rel=0.5 * rel)
    assert hector.parameters.yaw_drift_frequency == pytest.approx(0.05, rel=rel)
    assert hector.correlation_time == pytest.approx(1.0 / hector.parameters.yaw_drift_frequency)
    curve = KnownError("bias", -1e-3 * TIME)
    model = isf.YawErrorModel(TIME, (curve, YawGaussMarkov("d", 0.01, 10.0), YawNoise("n", 1e-3)))
    chosen = fit(Likelihood(observed(model, 1), RANDOM, (terms.RATE_BIAS,)))
    hector = hector_of(chosen, 0.01)
    assert hector.loss > 10.0 and hector.more_parameters == 1
    # A ramp is identified as a drift with a very long correlation time.
    assert hector.correlation_time > 1000.0


def test_yaw_error_model_file_round_trips(tmp_path):
    path = tmp_path / "model.yaml"
    entries = {
        name: (value, 0.0, math.inf, terms.UNITS[name])
        for name, value in vars(REPRESENTABLE).items()
        if name in terms.UNITS and value
    }
    path.write_text(yaw_error_model_text("mine", list("abcd"), entries, {"step": 1.0}))
    again = read_yaw_error_model(path)
    defaults = YawErrorParameters()
    # Student's t distribution accounts for the estimation of the bias spread from four drives.
    student = t(3).ppf(0.975) / norm.ppf(0.975)
    more = REPRESENTABLE.rate_bias_spread * math.sqrt(student**2 - 1.0)
    open_ = {"rate_bias_spread_uncertainty": more}
    for name in vars(REPRESENTABLE):
        expected = open_.get(name) or getattr(REPRESENTABLE, name) or getattr(defaults, name)
        assert getattr(again, name) == pytest.approx(expected, rel=1e-4), name
    assert is_yaw_error_model_file(path)


@pytest.mark.parametrize(
    "text, words",
    [
        ("gyroscope: {}", "kind: yaw_error_model"),
        ("kind: yaw_error_model\ndrives: [a]", "parameters is None"),
        ("kind: yaw_error_model\ndrives: [a]\nparameters: {bias: {value: 1}}", "'bias'"),
        ("kind: yaw_error_model\ndrives: [a]\nparameters: {yaw_drift_time: 0}", "time is 0"),
        ("kind: [", "not valid YAML"),
    ],
)
def test_invalid_yaw_error_model_file_is_rejected(tmp_path, text, words):
    require_refused(read_yaw_error_model, tmp_path / "model.yaml", text, words)
