"""Message on the drift of the simulated IMU below the results table of an experiment."""

import math

import pytest

from imu_simulation_framework.drive.summary import drift_sentence

DEGREE_PER_MINUTE = math.radians(1.0) / 60.0  # rad/s


def summarise(simulated, recorded=None, reference=None):
    """Return the part of a summary that contains the given drifts [deg/min]."""
    real = None
    if recorded is not None:
        real = {"drift_rad_per_s": recorded * DEGREE_PER_MINUTE, "reference": reference}
    drift = {"drift_rad_per_s": None if simulated is None else simulated * DEGREE_PER_MINUTE}
    return {"yaw_error": {"simulated": drift, "real": real}}


def test_drift_ratio_is_printed_without_sign():
    sentence = drift_sentence(summarise(2.8, -1.1))
    assert sentence == "the simulated IMU drifts 2.5 times as fast as the recorded IMU"


def test_drift_comparison_reports_error_explained_by_reference():
    reference = {"drift_std_rad_per_s": 0.01 * DEGREE_PER_MINUTE, "rms_rad": math.radians(0.1)}
    sentence = drift_sentence(summarise(2.0, 1.0, reference))
    assert sentence.startswith("the simulated IMU drifts 2 times as fast")
    assert "the reference explains 0.1 deg rms" in sentence


def test_drift_within_reference_uncertainty_is_not_compared():
    reference = {"drift_std_rad_per_s": 1.0 * DEGREE_PER_MINUTE, "rms_rad": math.radians(2.0)}
    sentence = drift_sentence(summarise(2.0, 1.0, reference))
    assert "times" not in sentence
    assert "2 deg/min" in sentence


@pytest.mark.parametrize(("simulated", "words"), [(3.0, "3 deg/min"), (None, "")])
def test_drift_of_simulated_imu_without_recorded_imu_is_reported(simulated, words):
    sentence = drift_sentence(summarise(simulated))
    assert words in sentence
    assert bool(sentence) == bool(words)
