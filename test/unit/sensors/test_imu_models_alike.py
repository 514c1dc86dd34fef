"""Common behaviour of IMU models: single samples or blocks, single runs or batches."""

from operator import itemgetter

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from true_signals import GRAVITY, PERIOD, turned

from imu_simulation_framework.sensors.imu_models import base
from imu_simulation_framework.sensors.imu_models.plugins import PRESETS, make_imu_model

TRIAD = {
    "quantisation": 1e-5,
    "white_noise": 1e-3,
    "bias_instability": 1e-4,
    "random_walk": 1e-4,
    "rate_ramp": 1e-5,
    "gauss_markov_sigma": 1e-3,
    "gauss_markov_time": 2.0,
    "turn_on_bias_sigma": 0.01,
}
MOVING_TRIAD = {
    **TRIAD,
    "bandwidth": 8.0,
    "nonlinearity": 1e-3,
    "vibration_rectification": 1e-3,
    "supply_bias": 0.01,
    "supply_scale_factor": 0.1,
    "temperature_bias": 1e-3,
    "temperature_scale_factor": 1e-3,
    "scale_factor_and_misalignment": (np.arange(9.0) / 100.0).reshape(3, 3),
    "saturation": [2.0, 3.0, 19.6],
    "resolution": [1e-3, 0.0, 2e-3],
}
MAGNETOMETER = {
    **TRIAD,
    "hard_iron": [0.1, 0.2, -0.3],
    "soft_iron": [[1.1, 0.1, 0.0], [0.0, 0.9, 0.2], [0.1, 0.0, 1.0]],
    "temperature_bias": 1e-3,
}
WARMING = {"start": 20.0, "end": 40.0, "time_constant": 2.0}
HECTOR = {"offset": 0.02, "drift": 0.3, "drift_frequency": 0.05, "gaussian_noise": 0.01}


def specified(output, **parts):
    return "specification", {"specification": {**parts, "output": output}}


NORTH = {"magnetic_heading": True}
LATE = {"rate": 20.0, "start_offset": 0.13}
PLAIN = {"gyroscope": TRIAD, "accelerometer": TRIAD, "temperature": WARMING}
MAGNETIC = {"gyroscope": TRIAD, "magnetometer": MAGNETOMETER, "temperature": WARMING}
IN_MOTION = {
    "gyroscope": {**MOVING_TRIAD, "g_sensitivity": np.full((3, 3), 0.01)},
    "accelerometer": MOVING_TRIAD,
    "magnetometer": {**TRIAD, "bandwidth": 5.0},
    "temperature": {"power": [[0.0, 1.0], [1.0, 3.0]], "thermal_resistance": 9.0},
    "supply": {"table": [[0.0, 3.3], [2.0, 3.0]]},
    "vibration": {"spectrum": [[1.0, 0.1], [90.0, 0.2]], "idle": 0.1},
}
OUTPUTS = {
    "specification": (
        PLAIN,
        [
            {"rate": 100.0},
            {"filter": "vqf"},
            {"filter_rate_bias": True},
            {"orientation_reference": "truth"},
            LATE,
            {"rate": 20.0, "start_offset": 2.9},
            {"rate": 1000.0, "start_offset": 0.02},
        ],
    ),
    "magnetometer": (
        MAGNETIC,
        [
            {"rate": 100.0},
            LATE,
            NORTH,
            {**NORTH, "filter_rate_bias": True, "rate": 50.0},
            {**NORTH, "magnetic_disturbance_rejection": True},
            {**NORTH, "filter": "vqf"},
            {"filter": "compass", "filter_time_constant": 0.1, "rate": 50.0},
            {**NORTH, "filter": "compass", "start_offset": 0.407},
        ],
    ),
    "in motion": (IN_MOTION, [{"rate": 100.0}, LATE]),
}
MODELS = {
    **{name: (name, {}) for name in PRESETS},
    "hector with all errors": (
        "hector",
        {f"{part}_{name}": HECTOR[name] for part in ("rate", "accel", "yaw") for name in HECTOR},
    ),
    **{
        f"{kind} {output}": specified(output, **parts)
        for kind, (parts, outputs) in OUTPUTS.items()
        for output in outputs
    },
}


EXACT = ("ideal", "specification")  # models without random errors by default


@pytest.fixture(params=MODELS)
def make(request):
    """Return a function that creates an instance of the model for a seed."""
    name, parameters = MODELS[request.param]
    return lambda seed=1: make_imu_model(name, parameters, PERIOD, seed)


@pytest.fixture(scope="module")
def truth(samples=300):
    """Return the signals of a tumbling IMU, so that each component has an effect."""
    generator = np.random.default_rng(5)
    rate = np.cumsum(generator.normal(size=(samples, 3)), axis=0) * 0.1
    return base.ImuTruth(
        turned(Rotation.from_rotvec([0.3, 0.2, 0.1]), rate).as_quat(),
        rate,
        generator.normal(size=(samples, 3)) + [0.0, 0.0, GRAVITY],
        generator.normal(size=(samples, 3)),
        np.abs(generator.normal(size=samples)),
    )


def parts_of(model):
    """Return the names of all quantities in a model's readings."""
    return (*base.PARTS, *(base.MAGNETIC_PARTS if model.has_magnetometer else ()))


def step_all(model, truth):
    """Compute readings step by step and return one array per quantity, as for a run of a batch."""
    readings = [model.step(sample) for sample in truth.samples()]
    return [np.array([getattr(reading, name) for reading in readings]) for name in parts_of(model)]


def all_of(reading, run):
    """Return all quantities of one run of a batch."""
    return [values[run] for values in reading.parts().values()]


def test_imu_run_computed_stepwise_matches_run_in_batch(make, truth):
    stepped = make()
    batch = stepped.batch(truth, 3, parts=parts_of(stepped))
    for run in range(3):
        early = step_all(stepped, truth.each(itemgetter(slice(100))))
        stepped.batch(truth, 2, parts=base.PARTS)
        late = step_all(stepped, truth.each(itemgetter(slice(100, None))))
        for first, second, desired in zip(early, late, all_of(batch, run)):
            actual = np.concatenate([first, second])
            np.testing.assert_allclose(actual, desired, rtol=0.0, atol=1e-11)
        stepped.reset()


def test_imu_steps_computed_at_once_match_single_steps(make, truth):
    model, alone, first = make(), make(), 0
    for count in (1, 5, 2, 30):
        some = truth.each(itemgetter(slice(first, first + count)))
        reading, new = model.steps(some)
        expected, news = [], []
        for sample in some.samples():
            expected.append(alone.step(sample))
            news.append(alone.has_new_sample)
        for name in parts_of(model):
            values = [getattr(each, name) for each in expected]
            np.testing.assert_array_equal(getattr(reading, name), values)
        assert new.tolist() == news
        first += count


def test_imu_run_does_not_depend_on_number_of_runs_in_batch(make, truth):
    parts = parts_of(make())
    together = make().batch(truth, 5, parts=parts)
    apart = [make().batch(truth, 2, parts=parts), make().batch(truth, 3, first_run=2, parts=parts)]
    # Runs computed in the opposite order by the same model are identical.
    model = make()
    later = model.batch(truth, 3, first_run=2, parts=parts)
    earlier = model.batch(truth, 2, parts=parts)
    for batches in (apart, [earlier, later]):
        for name in parts:
            values = np.concatenate([getattr(batch, name) for batch in batches])
            np.testing.assert_array_equal(values, getattr(together, name))


def test_different_runs_or_seeds_of_random_imu_model_differ(make, truth, request):
    parts = parts_of(make())
    both, other_seed = make().batch(truth, 2, parts=parts), make(2).batch(truth, parts=parts)
    random = request.node.callspec.params["make"] not in EXACT
    for other in (all_of(both, 1), all_of(other_seed, 0)):
        assert all(map(np.array_equal, all_of(both, 0), other)) is not random


@pytest.mark.parametrize("parts", [("yaw",), ("orientation_bias", "yaw_bias"), base.SIGNALS, ()])
def test_imu_batch_contains_only_requested_quantities(make, truth, parts):
    everything = make().batch(truth, 2, parts=base.PARTS)
    reading = make().batch(truth, 2, parts=parts)
    assert list(reading.parts()) == list(parts)
    for name in parts:
        np.testing.assert_array_equal(getattr(reading, name), getattr(everything, name))
        assert getattr(reading, name).shape == (2, len(truth.orientation), *base.PARTS[name])
    with pytest.raises(AttributeError, match="specific_force_bias"):
        _ = reading.specific_force_bias
    with pytest.raises(ValueError, match="gyro"):
        make().batch(truth, parts=("gyro",))


@pytest.mark.parametrize(
    "make",
    ["hector with all errors", "in motion {'rate': 100.0}", "magnetometer {'rate': 100.0}"],
    indirect=True,
)
def test_orientation_bias_rotates_true_to_simulated_orientation(make, truth):
    reading = make().batch(truth, 1, parts=base.PARTS)
    led = Rotation.from_quat(reading.orientation_bias[0]) * Rotation.from_quat(truth.orientation)
    left = (led * Rotation.from_quat(reading.orientation[0]).inv()).magnitude()
    assert left.max() < 1e-12
