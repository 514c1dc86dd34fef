"""Yaw errors of one sensor, judged by ensembles of the same one and of others."""

from pathlib import Path

import numpy as np
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.heading.comparison import ComparisonSettings, compare_yaw
from imu_simulation_framework.heading.judgement import started_at_zero

TIME = np.arange(601.0)
DATA = Path(__file__).resolve().parents[3] / "data"
SLOW = isf.HectorParameters(yaw_drift=1.118, yaw_drift_frequency=0.001)


@pytest.fixture(scope="module")
def motion():
    return isf.straight(600.0)


def errors(imu, motion, runs, seed):
    drawn = isf.yaw_error_model(imu, motion).realisations(runs, seed)
    assert drawn.shape == (runs, len(TIME))
    return started_at_zero(TIME, drawn)


@pytest.fixture(scope="module")
def recorded():
    """Yaw error of drive A's recorded IMU each second [rad]."""
    reference = isf.read_reference(DATA / "drive_a_gps.csv.gz").table["yaw"]
    imu = isf.read_imu(DATA / "drive_a_imu.csv.gz").table["yaw"]
    error = compare_yaw(imu, reference, ComparisonSettings()).error
    times = np.arange(661.0)
    values = np.interp(times, error.index - error.index[0], error)
    return times, started_at_zero(times, values)


@pytest.mark.parametrize(
    "imu, curve, too_little",
    [(isf.HectorParameters(), True, True), (SLOW, False, False)],
    ids=["hector", "hector_slow"],
)
def test_both_of_the_thesis_settings_are_rejected_on_drive_a(recorded, imu, curve, too_little):
    times, observed = recorded
    model = isf.yaw_error_model(imu, isf.read_drive("a"))
    ensemble = started_at_zero(times, model.realisations(2000, 1))
    judgement = isf.judge(times, observed, ensemble)
    looks = {look.name: look for look in judgement.statistics}
    assert judgement.rejected
    # The slow one drifts as far, but is too restless on the way.
    assert (judgement.envelope.p_value <= 0.05) == curve
    assert (looks["rms"].p_value <= 0.05) == too_little
    wander = looks["psd 0.02 to 0.2 Hz"]
    assert (wander.tail, wander.as_extreme) == (-1, 0)
    assert judgement.verdict == ("too little" if too_little else "too much")


def test_a_sensors_own_ensemble_does_not_refute_it_and_that_of_another_does(motion):
    resting = isf.read_imu_specification("bno055")
    for real, model, verdict in (
        (SLOW, SLOW, "not rejected"),
        (SLOW, resting, "too little"),
        (resting, SLOW, "too much"),
    ):
        judgement = isf.judge(TIME, errors(real, motion, 1, 5)[0], errors(model, motion, 1999, 1))
        assert judgement.verdict == verdict
        assert judgement.rejected == (real is not model)
