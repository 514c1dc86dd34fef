"""Statistics of a stationary IMU, and detection of a plug-in with other parameters."""

import numpy as np
import pytest
from true_signals import PERIOD, still

from imu_simulation_framework.sensors import statistics_at_rest as at_rest
from imu_simulation_framework.sensors.imu_models.base import SIGNALS, SLOW_ERRORS, ImuReading
from imu_simulation_framework.sensors.imu_models.plugins import make_imu_model

SAMPLES = 6000
TURNED = np.array([0.0, 0.0, np.sin(0.2), np.cos(0.2)])
HECTOR = {"rate_drift": 0.05, "rate_drift_frequency": 1.0, "rate_offset": 0.01}
HECTOR.update(accel_drift=0.5, accel_drift_frequency=2.0, yaw_drift=0.5, yaw_drift_frequency=0.5)
HECTOR.update(rate_gaussian_noise=0.001, accel_gaussian_noise=0.02)


def model(name="hector", parameters=None, seed=0):
    parameters = {"hector": HECTOR, "generic": {}}[name] if parameters is None else parameters
    return make_imu_model(name, parameters, PERIOD, seed)


class CachedModel:
    """Model that simulates its stationary runs only once, for comparison with all recordings."""

    def __init__(self, name):
        self._model, self._runs = model(name), {}

    def batch(self, truth, first_run, parts):
        if first_run not in self._runs:
            self._runs[first_run] = self._model.batch(truth, first_run=first_run, parts=parts)
        return self._runs[first_run]


@pytest.fixture(scope="module")
def models():
    return {name: CachedModel(name) for name in ("hector", "generic")}


def recording(imu):
    reading = imu.batch(still(SAMPLES, 0.4), parts=(*SIGNALS, *SLOW_ERRORS))[0]
    return at_rest.ImuAtRest(reading, TURNED, np.ones(SAMPLES - 1, dtype=bool))


def late(imu, samples):
    """Delay the biases of a recording by a number of samples, during which they are zero."""
    reading, later = imu.reading, {}
    for name in ("yaw_bias", "angular_velocity_bias", "specific_force_bias"):
        bias = getattr(reading, name)
        later[name] = np.concatenate([np.zeros_like(bias[:samples]), bias[:-samples]])
        if name != "yaw_bias":
            signal = name.replace("_bias", "")
            later[signal] = getattr(reading, signal) - bias + later[name]
    start = reading.orientation[:1].repeat(samples, axis=0)
    later["orientation"] = np.concatenate([start, reading.orientation[:-samples]])
    starts = dict.fromkeys(at_rest.BIASES, samples)
    return at_rest.ImuAtRest(reading.replaced(**later), TURNED, imu.consecutive, samples, starts)


def outside(table):
    return set(table.index[table["deviation"].abs() > at_rest.DEVIATION_LIMIT])


@pytest.mark.parametrize("name", ["hector", "generic", "late"])
@pytest.mark.parametrize("seed", [11, *(pytest.param(k, marks=pytest.mark.gate) for k in (12, 13))])
def test_stationary_recording_of_same_model_agrees_even_with_delayed_drift(name, seed, models):
    kind = "hector" if name == "late" else name
    imu = recording(model(kind, seed=seed))
    table = at_rest.compare_with_model(late(imu, 1500) if name == "late" else imu, models[kind], 60)
    # By chance, one of fifteen statistics may exceed its limits, but hardly any exceeds 4.5 sigma.
    assert len(outside(table)) <= 1, table
    assert table["deviation"].abs().max() < 4.5


@pytest.mark.parametrize(
    ("change", "statistic"),
    [
        # A larger drift increases the standard deviation of the Gauss-Markov bias.
        ({"rate_drift": 0.5}, ("gyroscope bias", "standard deviation")),
        ({"accel_drift_frequency": 4.0}, ("accelerometer bias", "lag-1 correlation")),
        ({"yaw_drift": 0.55}, ("yaw bias", "standard deviation of the innovation")),
        ({"rate_offset": 0.02}, ("gyroscope bias", "mean")),
        ({"rate_gaussian_noise": 0.0011}, ("gyroscope noise", "standard deviation")),
        ({"accel_scale_error": 1.02}, ("accelerometer", "magnitude of the mean")),
        ({"accel_drift": 1.5}, ("orientation", "RMS error of roll and pitch")),
    ],
)
def test_wrong_plugin_parameter_is_detected_by_corresponding_statistic(change, statistic, models):
    imu = recording(model(parameters={**HECTOR, **change}, seed=31))
    assert statistic in outside(at_rest.compare_with_model(imu, models["hector"], 60))


def test_renormalised_quaternion_is_detected_and_lost_messages_do_not_bias_statistics():
    imu = recording(model("generic", {"gaussian_noise": 0.05}, seed=41))
    orientation = imu.reading.orientation
    unit = orientation / np.linalg.norm(orientation, axis=1, keepdims=True)
    imu = at_rest.ImuAtRest(imu.reading.replaced(orientation=unit), TURNED, imu.consecutive)
    actual = outside(
        at_rest.compare_with_model(imu, model("generic", {"gaussian_noise": 0.05}), 60)
    )
    assert ("orientation", "mean norm minus 1") in actual
    whole = recording(model(seed=51))
    kept = np.arange(SAMPLES) % 10 != 3
    stamps = np.flatnonzero(kept)
    gappy = at_rest.ImuAtRest(whole.reading[kept], TURNED, np.diff(stamps) == 1)
    row = ("gyroscope bias", "standard deviation of the innovation")
    expected = at_rest.statistics_at_rest(whole)["value"][row]
    # A fifth of the sample pairs is missing.
    relative_error = 1.0 / np.sqrt(2.0 * 3.0 * 0.2 * SAMPLES)
    got = at_rest.statistics_at_rest(gappy)["value"][row]
    assert got == pytest.approx(expected, rel=4.0 * relative_error)


def test_stationary_statistics_match_expected_values():
    zero = np.zeros((4, 3))
    reading = ImuReading(
        orientation=np.tile(TURNED, (4, 1)),
        angular_velocity=zero + np.array([[1.0], [-1.0], [1.0], [-1.0]]),
        specific_force=zero + np.array([0.0, 0.0, 9.0]),
        angular_velocity_bias=zero,
        specific_force_bias=zero,
        yaw_bias=np.array([0.0, 1.0, 1.0, 2.0]),
        orientation_bias=np.tile((0.0, 0.0, 0.0, 1.0), (4, 1)),
    )
    imu = at_rest.ImuAtRest(reading, TURNED, np.ones(3, dtype=bool))
    value = at_rest.statistics_at_rest(imu)["value"]
    assert value["gyroscope noise", "standard deviation"] == 1.0
    assert value["gyroscope noise", "lag-1 correlation"] == -1.0
    assert value["accelerometer", "magnitude of the mean"] == 9.0
    assert value["yaw bias", "mean"] == 1.0
    assert value["yaw bias", "standard deviation"] == pytest.approx(np.sqrt(6.0 / 4.0))
    # The pairs are (0, 1), (1, 1), (1, 2).
    assert value["yaw bias", "lag-1 correlation"] == pytest.approx(1.5)
    assert value["orientation", "RMS error of yaw"] == pytest.approx(0.0, abs=1e-12)
    assert "gyroscope bias" not in value.index.get_level_values("quantity")
