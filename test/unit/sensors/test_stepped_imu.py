"""IMU that a user-defined simulation loop steps, alone or as one of many parallel members."""

from dataclasses import replace

import numpy as np
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.sensors.conditions import Vibration
from imu_simulation_framework.sensors.imu_models.base import ImuTruth
from imu_simulation_framework.sensors.imu_models.plugins import make_imu_model
from imu_simulation_framework.sensors.imu_specification import UnitVariation
from imu_simulation_framework.sensors.noise import streams

RATE, SEED = 50.0, 3
PARTS = ("angular_velocity", "specific_force", "magnetic_field")
BIASES = ("angular_velocity_bias", "specific_force_bias")
NOISES = {
    "white_noise": (1e-3, 2e-3, 3e-3),
    "quantisation": 1e-5,
    "bias_instability": (1e-3, 0.0, 2e-3),
    "random_walk": 1e-3,
    "rate_ramp": (1e-3, 0.0, -1e-3),
    "gauss_markov_sigma": 1e-2,
    "gauss_markov_time": (1.0, 20.0, 300.0),
    "turn_on_bias": 1e-2,
    "turn_on_bias_sigma": (0.1, 0.2, 0.3),
}
RESPONSE = {
    "scale_factor_and_misalignment": [[0.01, 0.02, 0.03], [0.0, -0.01, 0.0], [0.0, 0.0, 0.1]],
    "temperature_bias": (1e-3, 0.0, 2e-3),
    "temperature_scale_factor": (0.0, 1e-3, 0.0),
    "supply_scale_factor": 1e-2,
    "nonlinearity": (1e-3, 0.0, 2e-3),
}
G_SENSITIVITY = [[0.0, 0.0, 1e-3], [0.0, 2e-3, 0.0], [0.0, 0.0, 0.0]]
EVERYTHING = isf.ImuSpecification(
    "everything",
    isf.TriadSpecification(**NOISES, **RESPONSE, g_sensitivity=G_SENSITIVITY, bandwidth=10.0),
    isf.TriadSpecification(**NOISES, **RESPONSE, saturation=(1.0, 2.0, 9.0), resolution=1e-2),
    isf.TemperatureProfile(start=20.0, end=40.0, power=((0.0, 0.1), (2.0, 0.3)),
                           thermal_resistance=30.0),
    isf.OutputSpecification(rate=RATE, orientation_reference="truth"),
    isf.MagnetometerSpecification(white_noise=1e-6, hard_iron=(1e-5, 0.0, 2e-5)),
)  # fmt: skip
ANY_UNIT = replace(EVERYTHING, units=UnitVariation(True, 0.3, 0.2, 0.1))


def _signals(members, samples=300):
    """Return different ideal signals for each member, shape (3, members, samples, 3)."""
    numbers = np.random.default_rng(7).standard_normal((3, members, samples, 3))
    return numbers * np.reshape([1.0, 5.0, 5e-5], (3, 1, 1, 1))


def _expected(specification, signals, run, samples=None):
    """Return the output of the model for all samples of one run, by quantity."""
    rate, force, field = signals[:, slice(samples)]
    truth = ImuTruth(np.tile([0.0, 0.0, 0.0, 1.0], (len(rate), 1)), rate, force, field)
    model = make_imu_model("specification", {"specification": specification}, 1.0 / RATE, SEED)
    return model.batch(truth, 1, first_run=run, parts=(*PARTS, *BIASES))


def _stepped(imu, signals):
    """Return the readings of all steps as {quantity: array of shape (members, samples, 3)}."""
    rate, force, field = signals
    samples = range(rate.shape[-2])
    readings = [
        imu.step(rate[..., k, :], force[..., k, :], 1.0 / RATE, field[..., k, :]) for k in samples
    ]
    return {
        name: np.stack([getattr(reading, name) for reading in readings], axis=-2)
        for name in (*PARTS, *BIASES)
    }


@pytest.mark.parametrize("specification", [EVERYTHING, ANY_UNIT], ids=["unit", "any unit"])
@pytest.mark.parametrize("members", [3, 130])
def test_ensemble_members_stepped_together_match_separate_runs(specification, members, monkeypatch):
    # Random numbers are generated in advance in several blocks, which end at different samples.
    monkeypatch.setattr(streams, "_MAX_AHEAD", 30 * 16 * members)
    signals = _signals(members, 60)
    computed = _stepped(isf.Imu(specification, RATE, SEED, members), signals)
    for member in (0, 1, members - 1):
        expected = _expected(specification, signals[:, member], member)
        for name, values in computed.items():
            np.testing.assert_array_equal(values[member], getattr(expected, name)[0], name)


@pytest.mark.parametrize("specification", [EVERYTHING, ANY_UNIT], ids=["unit", "any unit"])
def test_single_stepped_imu_matches_member_and_reset_starts_next_run(specification):
    signals = _signals(1)[:, 0]
    imu = isf.Imu(specification, RATE, SEED, run=4)
    for run in (4, 5):
        computed, expected = _stepped(imu, signals), _expected(specification, signals, run)
        for name, values in computed.items():
            np.testing.assert_array_equal(values, getattr(expected, name)[0], name)
        imu.reset()


@pytest.mark.parametrize("specification", [EVERYTHING, ANY_UNIT], ids=["unit", "any unit"])
def test_reset_members_of_stepped_imu_start_new_runs_and_other_members_continue(specification):
    members, first, second = 130, 25, 40
    signals = _signals(members, first + second)
    imu = isf.Imu(specification, RATE, SEED, members)
    _stepped(imu, signals[:, :, :first])
    imu.reset([2, 100, 2])
    imu.reset(np.arange(members) == 100)
    imu.reset([])
    computed = _stepped(imu, signals[:, :, first:])
    for member, begun in ((2, 1), (100, 2)):
        later = _expected(specification, signals[:, member, first:], member + begun * members)
        for name, values in computed.items():
            np.testing.assert_array_equal(values[member], getattr(later, name)[0], name)
    for member in (1, 3, 129):
        expected = _expected(specification, signals[:, member], member)
        for name, values in computed.items():
            np.testing.assert_array_equal(values[member], getattr(expected, name)[0, first:], name)


def test_stepped_imu_does_not_modify_inputs_and_accepts_plain_numbers():
    members = 2
    signals = np.ones((members, 3)), np.full((members, 3), 2.0)
    reading = isf.Imu(EVERYTHING, RATE, SEED, members).step(*signals)
    assert (signals[0] == 1.0).all() and (signals[1] == 2.0).all()
    plain = isf.Imu(EVERYTHING, RATE, SEED).step([1, 1, 1], (2, 2, 2))
    np.testing.assert_array_equal(plain.angular_velocity, reading.angular_velocity[0])
    assert not hasattr(plain, "magnetic_field") and not hasattr(plain, "orientation")
    ideal = isf.Imu(isf.ImuSpecification(), RATE).step([1, 2, 3], [4, 5, 6])
    assert ideal.angular_velocity.tolist() == [1, 2, 3]
    assert ideal.specific_force.tolist() == [4, 5, 6]


def test_ensemble_members_stepped_together_have_independent_noise_and_bias():
    triad = isf.TriadSpecification(white_noise=1.0, turn_on_bias_sigma=1.0)
    members, still = 2000, np.zeros((2000, 3))
    imu = isf.Imu(isf.ImuSpecification(gyroscope=triad, accelerometer=triad), 1.0, SEED, members)
    readings = [imu.step(still, still) for _ in range(2)]
    columns = [getattr(readings[0], name) for name in BIASES]
    for reading in readings:
        columns += [reading.angular_velocity - reading.angular_velocity_bias,
                    reading.specific_force - reading.specific_force_bias]  # fmt: skip
    values = np.hstack(columns)
    # The correlation is between adjacent members and between quantities of one member.
    for first, other in ((values[:-1], values[1:]), (values[:-64], values[64:])):
        correlation = (first.T @ other) / len(first)
        assert np.abs(correlation).max() < 4.5 / np.sqrt(len(first))
    correlation = np.corrcoef(values.T) - np.eye(values.shape[1])
    assert np.abs(correlation).max() < 4.5 / np.sqrt(members)
    assert np.abs(values.std(axis=0) - 1.0).max() < 4.5 / np.sqrt(2.0 * members)


def _bno055(*step, count=None, reset=None):
    imu = isf.Imu("bno055", RATE, count=count)
    return imu.step(*step) if step else imu.reset(reset)


SHAKEN = replace(EVERYTHING, vibration=Vibration(spectrum=((1.0, 1.0), (2.0, 1.0))))
STILL, LEVEL = (0.0, 0.0, 0.0), (0.0, 0.0, 9.8)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: isf.Imu("bno055", 0.0), "rate is 0.0, expected"),
        (lambda: isf.Imu(SHAKEN, RATE), "specification has vibration"),
        (lambda: _bno055(STILL, LEVEL, 0.01), "dt is 0.01 s, expected 0.02 s"),
        (lambda: _bno055((0.0, 0.0), LEVEL), r"angular_velocity has .* \(2,\), .* \(3,\)"),
        (lambda: _bno055(STILL, (0.0, np.nan, 9.8)), "specific_force has 1 numbers"),
        (lambda: _bno055(STILL, LEVEL, None, STILL), "bno055 has no magnetometer"),
        (lambda: _bno055(count=2, reset=[2]), "indices are out of range"),
    ],
)
def test_invalid_imu_step_is_rejected(call, words):
    with pytest.raises(ValueError, match=words) as refused:
        call()
    assert isinstance(refused.value, isf.FrameworkError)


def test_rejected_imu_step_does_not_change_state():
    signals = _signals(1, 3)[:, 0]
    computed, other = (isf.Imu(EVERYTHING, RATE, SEED) for _ in range(2))
    for field in ([0, 0], [np.inf, 0, 0]):
        with pytest.raises(ValueError, match="magnetic_field"):
            computed.step([0, 0, 0], [0, 0, 9.8], None, field)
    for actual, expected in zip(
        _stepped(computed, signals).values(), _stepped(other, signals).values()
    ):
        np.testing.assert_array_equal(actual, expected)
