"""What holds for every IMU model: sample by sample or many at once, run by run or all together."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from imu_simulation_framework.sensors.imu_models import PRESETS, ImuTruth, make_imu_model

PERIOD = 0.01
GRAVITY = 9.81
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
HECTOR = {
    f"{quantity}_{name}": value
    for quantity in ("rate", "accel", "yaw")
    for name, value in (
        ("offset", 0.02),
        ("drift", 0.3),
        ("drift_frequency", 0.05),
        ("gaussian_noise", 0.01),
    )
}
MODELS = {
    **{name: (name, {}) for name in PRESETS},
    "hector with all errors": ("hector", HECTOR),
    **{
        f"specification {output}": (
            "specification",
            {
                "specification": {
                    "gyroscope": TRIAD,
                    "accelerometer": TRIAD,
                    "temperature": {"start": 20.0, "end": 40.0, "time_constant": 2.0},
                    "output": output,
                }
            },
        )
        for output in (
            {"rate": 100.0},
            {"filter": "vqf"},
            {"filter_rate_bias": True},
            {"orientation_reference": "truth"},
            {"rate": 20.0, "start_offset": 0.13},
        )
    },
}


EXACT = ("ideal", "specification")
"""Those that have no error unless they are told one."""


@pytest.fixture(params=MODELS)
def make(request):
    """Make the model anew, with a seed."""
    name, parameters = MODELS[request.param]
    return lambda seed=1: make_imu_model(name, parameters, PERIOD, seed)


@pytest.fixture(scope="module")
def truth(samples=300):
    """A tumbling IMU: nothing that a component could hide behind."""
    generator = np.random.default_rng(5)
    rate = np.cumsum(generator.normal(size=(samples, 3)), axis=0) * 0.1
    turns = [Rotation.from_rotvec([0.3, 0.2, 0.1])]
    for step in Rotation.from_rotvec(rate[1:] * PERIOD):
        turns.append(turns[-1] * step)
    return ImuTruth(
        np.array([turn.as_quat() for turn in turns]),
        rate,
        generator.normal(size=(samples, 3)) + [0.0, 0.0, GRAVITY],
    )


def step_all(model, truth):
    """The readings of all samples, stepped; as a batch of one run has them."""
    samples = zip(*truth)
    readings = [model.step(ImuTruth(*sample)) for sample in samples]
    return [
        np.array([getattr(reading, name) for reading in readings]) for name in readings[0]._fields
    ]


def assert_equal(ours, expected, **tolerance):
    for values, wanted in zip(ours, expected):
        np.testing.assert_allclose(values, wanted, **{"rtol": 0.0, "atol": 1e-11, **tolerance})


def test_a_stepped_run_is_that_run_of_a_batch(make, truth):
    batch = make().batch(truth, 3)
    stepped = make()
    for run in range(3):
        assert_equal(step_all(stepped, truth), [values[run] for values in batch])
        stepped.reset()


def test_runs_do_not_depend_on_how_many_are_drawn_together(make, truth):
    together = make().batch(truth, 5)
    apart = [make().batch(truth, 2), make().batch(truth, 3, first_run=2)]
    # Later before earlier, from one model, is the same again.
    model = make()
    turned = [model.batch(truth, 3, first_run=2), model.batch(truth, 2)][::-1]
    for parts in (apart, turned):
        for index, values in enumerate(together):
            np.testing.assert_array_equal(np.concatenate([part[index] for part in parts]), values)


def test_runs_and_seeds_differ_where_anything_is_random(make, truth, request):
    both, other_seed = make().batch(truth, 2), make(2).batch(truth)
    random = request.node.callspec.params["make"] not in EXACT
    for first, second in (
        ([values[0] for values in both], [values[1] for values in both]),
        ([values[0] for values in both], [values[0] for values in other_seed]),
    ):
        assert all(map(np.array_equal, first, second)) is not random


def test_a_batch_leaves_the_stepped_state_alone(make, truth):
    expected = step_all(make(), truth)
    model = make()
    early = step_all(model, ImuTruth(*(values[:100] for values in truth)))
    model.batch(truth, 2)
    late = step_all(model, ImuTruth(*(values[100:] for values in truth)))
    for first, second, wanted in zip(early, late, expected):
        np.testing.assert_array_equal(np.concatenate([first, second]), wanted)


def test_one_more_error_does_not_change_the_others_random_numbers(truth):
    def gyroscope_noise(**parameters):
        model = make_imu_model("hector", {"rate_gaussian_noise": 0.01, **parameters}, PERIOD, 1)
        return model.batch(truth).angular_velocity

    np.testing.assert_array_equal(
        gyroscope_noise(), gyroscope_noise(accel_gaussian_noise=0.3, yaw_drift=0.0)
    )

    def specified(**parameters):
        gyroscope = {"white_noise": 1e-3, **parameters}
        specification = {"gyroscope": gyroscope, "accelerometer": TRIAD}
        model = make_imu_model("specification", {"specification": specification}, PERIOD, 1)
        return model.batch(truth).angular_velocity

    walk = specified(random_walk=1e-3) - specified()
    # What the random walk adds, it adds to any white noise.
    other = specified(random_walk=1e-3, white_noise=5e-3) - specified(white_noise=5e-3)
    np.testing.assert_allclose(walk, other, rtol=0.0, atol=1e-12)
    assert np.ptp(walk) > 0.0


def test_several_steps_at_once_are_those_steps(make, truth):
    one_by_one = step_all(make(), truth)
    model, parts, begin = make(), [], 0
    for count in (1, 5, 5, 40):
        part = ImuTruth(*(values[begin : begin + count] for values in truth))
        reading, new = model.steps(part)
        assert new.shape == (count,)
        parts.append(reading)
        begin += count
    for name, expected in zip(parts[0]._fields, one_by_one):
        got = np.concatenate([getattr(part, name) for part in parts])
        np.testing.assert_array_equal(got, expected[:begin], err_msg=name)
