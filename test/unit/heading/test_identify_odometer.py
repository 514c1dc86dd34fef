"""Identification of UMBmark errors from simulated odometers, and rejected inputs."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.signal import lfilter

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.heading.identification.odometer import _walk_variance_factor
from imu_simulation_framework.heading.statistics import TWO_SIDED

RUNS = 20
TRACK = 0.55
TRUE = isf.OdometerSpecification(
    rate=10, track=TRACK, diameter_ratio=1.01, track_ratio=1.04, slip=3e-3
)


def driven(motion, odometer=TRUE, run=0, noise=1e-3):
    readings = isf.simulate_odometer(motion, odometer, run=run)
    yaw = np.interp(readings.index, motion.time, motion.yaw)
    yaw = yaw + noise * np.random.default_rng(run).standard_normal(len(yaw))
    return readings, pd.Series(yaw, readings.index)


@pytest.fixture(scope="module")
def motion():
    return isf.read_drive("a")


@pytest.mark.gate
def test_odometer_error_intervals_contain_simulated_errors(motion):
    found = [isf.heading.identify_odometer(*driven(motion, run=run), TRACK) for run in range(RUNS)]
    ratio_errors, track_errors, slip_errors, halves = np.array(
        [
            (
                (result.specification.diameter_ratio - 1.01)
                / result.specification.diameter_ratio_sigma,
                (result.specification.track_ratio - 1.04) / result.specification.track_ratio_sigma,
                1.96 * math.log(result.specification.slip / 3e-3) / math.log(result.slip_factor),
                (result.prediction.observed - result.prediction.predicted) / result.prediction.std,
            )
            for result in found
        ]
    ).T
    for standardised in (ratio_errors, track_errors, slip_errors, halves):
        assert abs(np.mean(standardised)) < 4.0 / math.sqrt(RUNS)
        assert abs(np.std(standardised) - 1.0) < 4.0 / math.sqrt(2.0 * RUNS)
    noise = np.mean([result.noise for result in found])
    assert noise == pytest.approx(1e-3, rel=0.1)
    assert sum(result.wander > 1.0 for result in found) <= 2  # 1 % is expected by chance


def test_odometer_errors_without_slip_and_noise_are_identified_exactly(motion):
    odometer = isf.OdometerSpecification(
        rate=10, track=TRACK, diameter_ratio=0.98, track_ratio=0.9, wheel_radius=0.2
    )
    found = isf.heading.identify_odometer(*driven(motion, odometer, noise=0.0), TRACK)
    # The odometer measures the distance: turns with unequal wheels lengthen it by (1 - E_d) b / 4
    # per radian, and E_d causes a turn of (1 - E_d) / b per metre.
    assert found.specification.diameter_ratio == pytest.approx(0.98, abs=1e-5)
    assert found.specification.track_ratio == pytest.approx(0.9, abs=0.02**2 / 4.0)
    assert found.specification.slip < 1e-4
    np.testing.assert_allclose(found.explained, found.error, atol=2e-3)


@pytest.mark.gate
def test_prediction_interval_accounts_for_changing_wheel_diameters(motion):
    halves, wander = [], []
    for run in range(RUNS):
        readings, yaw = driven(motion, run=run)
        # E_d varies by 0.003 with a correlation time of one minute.
        kept = math.exp(-0.1 / 60.0)
        random = np.random.default_rng(1000 + run).standard_normal(len(yaw))
        ratio = lfilter([3e-3 * math.sqrt(1.0 - kept**2)], [1.0, -kept], random)
        distance = np.hypot(
            np.diff(readings["x"], prepend=0.0), np.diff(readings["y"], prepend=0.0)
        )
        wandering = yaw + np.cumsum(ratio * distance) / TRACK
        found = isf.heading.identify_odometer(readings, wandering, TRACK)
        predicted, std, observed = found.prediction
        halves.append((observed - predicted) / std)
        wander.append(found.wander)
    assert np.median(wander) > 5.0
    # A prediction with slip alone would yield 4.9. The bound is above 1, because half a drive
    # determines the variation poorly.
    assert np.std(halves) < 2.6


@pytest.mark.parametrize(
    "change, sentence",
    [
        (lambda odo, yaw: (odo, yaw.iloc[:250]), "have 24.9 s in common"),
        (lambda odo, yaw: (odo.assign(x=0.0, y=0.0, yaw=0.0), yaw), "all wheel speeds are zero"),
        (lambda odo, yaw: (odo, -yaw), "the same sign and unit"),
    ],
)
def test_invalid_odometer_recording_is_rejected(motion, change, sentence):
    with pytest.raises(RecordingError, match=sentence):
        isf.heading.identify_odometer(*change(*driven(motion)), TRACK)


def test_odometer_drive_without_turns_is_rejected():
    readings, yaw = driven(isf.straight(300.0), isf.OdometerSpecification(rate=10, slip=1e-3))
    with pytest.raises(RecordingError, match="E_b"):
        isf.heading.identify_odometer(readings, yaw, 0.5)


@pytest.mark.parametrize("mixed", [-1.2, 0.0, 0.5])
def test_confidence_interval_factor_of_slip_matches_inverse_curvature_of_criterion(mixed):
    curvature = np.array([[2.0, mixed], [mixed, 1.5]])
    found = np.array([0.3, -0.2])

    def criterion(at):
        return 0.5 * (at - found) @ curvature @ (at - found)

    variance = np.linalg.inv(curvature)[0, 0]
    factor = _walk_variance_factor(criterion, found)
    assert math.log(factor) == pytest.approx(TWO_SIDED * math.sqrt(variance), rel=1e-6)
