"""Errors that vary between individual sensors of a part, in the linear model and simulations."""

import math

import numpy as np
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.heading.model.model import YawErrorModel
from imu_simulation_framework.heading.model.sources import AngleRandomWalk
from imu_simulation_framework.sensors.conditions import TemperatureProfile
from imu_simulation_framework.sensors.imu_specification import UnitVariation
from imu_simulation_framework.sensors.measured import estimates, part_of
from imu_simulation_framework.sensors.noise.streams import run_seed
from imu_simulation_framework.sensors.simulation import imu_model, imu_truth, operated

RUNS = 800
RATE = 10.0
PART = isf.ImuSpecification(
    gyroscope=isf.TriadSpecification(
        white_noise=1e-4,
        bias_instability=1e-4,
        bias_instability_band=(0.1, 1e3),
        random_walk=2e-6,
        scale_factor_and_misalignment=[[0.02, 0.01, 0.01]] * 3,
        g_sensitivity=[[2e-5] * 3] * 3,
        temperature_bias=(0.0, 0.0, 2e-5),
    ),
    temperature=TemperatureProfile(start=20.0, end=40.0, time_constant=20.0),
    output=isf.OutputSpecification(rate=RATE),
    units=UnitVariation(True, white_noise=0.4, bias_instability=0.7, random_walk=0.8),
)


@pytest.fixture(scope="module")
def motion():
    return isf.rounds(1, radius=2.5, speed=0.6, rate=RATE)


@pytest.mark.parametrize("standstill", [5.0, pytest.param(0.0, marks=pytest.mark.gate)])
def test_yaw_error_bands_for_random_individual_sensor_match_full_simulations(motion, standstill):
    operation = isf.Operation(standstill=standstill)
    model = isf.yaw_error_model(PART, motion, operation=operation)
    full = imu_model(operated(PART, operation, motion), motion.period, 3)
    yaw = full.batch(imu_truth(motion), RUNS, parts=("yaw",)).yaw
    errors = np.unwrap(motion.yaw - yaw, axis=1)[:, :: int(RATE)]
    bands, drawn = model.bands(), model.realisations(RUNS, seed=5)
    for sample in (errors, drawn):
        for place in (8, 16, -1):
            row = bands.iloc[place]
            # Noise strengths are lognormal, so squared errors vary more than those of a normal
            # variable, and the standard deviation has a standard error of up to 4 %.
            assert np.std(sample[:, place]) == pytest.approx(row["std"], rel=0.12)
            for percent in (50, 95):
                low, high = row[f"lower_{percent}"], row[f"upper_{percent}"]
                inside = (sample[:, place] > low) & (sample[:, place] < high)
                p = percent / 100
                assert np.mean(inside) == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / RUNS))


def test_yaw_error_band_with_lognormal_noise_strength_matches_numerical_integration():
    model = YawErrorModel(np.arange(11.0), (AngleRandomWalk("noise", 2.0, spread=0.5),))
    z = np.linspace(-8.0, 8.0, 20001)
    weights = np.exp(-0.5 * z**2)
    weights /= weights.sum()
    std = 2.0 * np.sqrt(10.0) * np.exp(0.5 * z)
    assert model.variance()[-1] == pytest.approx(weights @ std**2, rel=1e-6)
    half = model.bands((0.95,))["upper_95"].iloc[-1]
    inside = weights @ np.vectorize(math.erf)(half / std / math.sqrt(2.0))
    assert inside == pytest.approx(0.95, abs=1e-3)
    assert model.probability_within(half)[-1] == pytest.approx(0.95, abs=1e-3)


def test_sampled_individual_sensors_are_within_tolerances_and_differ_between_runs():
    units = [PART.draw_unit(run_seed(1, run)) for run in range(400)]
    scale = np.array([unit.gyroscope.scale_factor_and_misalignment for unit in units])
    assert np.std(scale[:, 2, 0]) == pytest.approx(0.02, rel=4 / math.sqrt(800))
    assert np.max(np.abs(scale[:, :, 0])) <= 0.06
    logarithms = np.log([unit.gyroscope.random_walk[0] / 2e-6 for unit in units])
    assert np.std(logarithms) == pytest.approx(0.8, rel=4 / math.sqrt(800))
    assert not units[0].is_any_unit and units[0].draw_unit(run_seed(1, 5)) is units[0]
    assert PART.this_unit().gyroscope == PART.gyroscope


def test_individual_sensor_of_run_is_identical_in_steps_and_batches(motion):
    truth = imu_truth(motion)
    together = imu_model(PART, motion.period, 2).batch(truth, 2, parts=("angular_velocity",))
    for run in range(2):
        alone = isf.simulate_imu(motion, PART, seed=2, run=run)
        gyro = alone[["gyro_x", "gyro_y", "gyro_z"]].to_numpy()
        np.testing.assert_array_equal(gyro, together.angular_velocity[run])
    model = imu_model(PART, motion.period, 2)
    model.reset()
    stepped = np.array([model.step(sample).angular_velocity for sample in truth.samples()])
    np.testing.assert_array_equal(stepped, together.angular_velocity[1])


def test_measured_parameters_take_precedence_over_data_sheet_and_part_class():
    sheet = isf.read_imu_specification("mti300")
    known = estimates("mti300")
    part = part_of(sheet)
    gyroscope = part.specification.gyroscope
    for name in ("white_noise", "bias_instability", "random_walk"):
        estimate = known["gyroscope", name]
        assert getattr(gyroscope, name) == (estimate.median,) * 3
        assert getattr(part.specification.units, name) == estimate.spread
        assert part.origins[name] == estimate.origin
    # Neither the data sheet nor a measurement of this part states the scale factor.
    assert part.origins["scale_factor"] == "class of part"
    assert gyroscope.scale_factor_and_misalignment[2][2] > 0.0
    unmeasured = part_of(isf.read_imu_specification("icm20602"))
    assert unmeasured.origins["white_noise"] == unmeasured.origins["scale_factor"] == "data sheet"
    assert unmeasured.specification.gyroscope.white_noise == pytest.approx(
        (math.radians(0.004) / math.sqrt(2.0),) * 3
    )
    assert "random walk: class of part" in unmeasured.sentence().replace("bias instability, ", "")
    this = isf.read_imu_specification("bno055")
    assert part_of(this).specification is this
