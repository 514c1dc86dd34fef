"""What test/benchmarks/prediction_real.py computes, on data whose drift and coverage are known."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.transform import Rotation

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import prediction_real

DENSITY = 3e-4


def test_the_drift_of_a_rate_that_grows():
    time = np.arange(0.0, 100.0, 0.1)
    begins, errors = prediction_real.drifts(time, 1e-3 * time, 10.0, 20.0)
    assert begins == pytest.approx([0.0, 30.0, 60.0])
    # From the middle of the standstill to that of the rest: 15 s, in each window alike.
    assert errors == pytest.approx(np.full(3, -1e-3 * 15.0 * 20.0), rel=1e-9)


def test_windows_in_which_samples_are_missing_are_left_out():
    time = np.delete(np.arange(0.0, 100.0, 0.1), slice(400, 410))
    begins, _ = prediction_real.drifts(time, np.zeros(len(time)), 10.0, 20.0)
    assert begins == pytest.approx([0.0, 61.0])
    begins, errors = prediction_real.drifts(time[:50], time[:50], 10.0, 20.0)
    assert len(begins) == len(errors) == 0


def windows(errors, recording="one", stretch=None):
    begin = 610.0 * (np.arange(len(errors)) if stretch is None else stretch)
    said = {"recording": recording, "begin": begin, "seen": errors, "mean": 0.1, "std": 2.0}
    return pd.DataFrame(said)


def test_the_share_within_a_band_and_its_standard_error():
    errors = 0.1 + 2.0 * np.random.default_rng(1).standard_normal(4000)
    for probability in (0.5, 0.95):
        share, error = prediction_real.within(windows(errors), probability)
        assert abs(share - probability) < 4.0 * error
        expected = np.sqrt(probability * (1.0 - probability) / 4000)
        assert error == pytest.approx(expected, rel=0.1)


def test_windows_that_share_a_stretch_count_as_one():
    errors = np.repeat(0.1 + 2.0 * np.random.default_rng(2).standard_normal(500), 9)
    stretch = np.repeat(np.arange(500), 9)
    _, error = prediction_real.within(windows(errors, stretch=stretch), 0.5)
    assert error == pytest.approx(np.sqrt(0.25 / 500), rel=0.1)
    # So do those of a recording where there are many of them.
    names = [f"unit {number // 50}" for number in stretch]
    _, error = prediction_real.within(windows(errors, names, np.arange(4500)), 0.5)
    assert 0.5 < error / np.sqrt(0.25 / 500) < 1.7


def test_white_noise_that_is_identified_is_predicted():
    rate = 10.0
    time = np.arange(0.0, 7200.0, 1.0 / rate)
    noise = np.random.default_rng(3).standard_normal((len(time), 3)) * DENSITY * np.sqrt(rate)
    data = {"time": time, "gyro": noise + 0.02}
    rows = pd.DataFrame(prediction_real.at_rest_windows("made", "made", data))
    minute = rows[rows["duration"] == 60.0]
    assert len(minute) == 3 * 51
    # By the closed form N^2 (t + t^2 / Tb), as well as N is known.
    assert minute["std"].to_numpy() == pytest.approx(DENSITY * np.sqrt(60.0 + 360.0), rel=0.03)
    ratio = np.sqrt(np.mean(minute["seen"] ** 2)) / minute["std"].mean()
    assert ratio == pytest.approx(1.0, abs=4.0 / np.sqrt(2 * len(minute)))


@pytest.fixture
def tumbling():
    """Times, rates and true orientations of ten seconds at rest and two minutes of tumbling."""
    time = np.arange(0.0, 130.0, 0.01)
    driven = np.clip(time - 10.0, 0.0, None)
    turning = 0.5 * np.clip(driven, 0.0, 1.0) - 0.4 * np.sin(1.1 * driven)
    rate = np.stack([0.5 * np.sin(0.7 * driven), 0.3 * np.sin(0.5 * driven), turning], axis=1)
    start = Rotation.from_euler("x", 20.0, degrees=True)
    return time, rate, start * prediction_real.integrated(time, rate)


def moving(tumbling, folder, gyro, gyroscope, **about):
    time, _, orientation = tumbling
    (folder / "made.yaml").write_text(f"gyroscope: {gyroscope}\noutput: {{rate: 100.0}}\n")
    data = {"time": time, "gyro": gyro}
    data.update(truth_time=time[::10], truth_quaternion=orientation[::10].as_quat())
    about = {"imu": "made.yaml", "rest": [0.0, 9.9], **about}
    return pd.DataFrame(prediction_real.moving_windows("made", about, data, folder))


def test_a_scale_factor_of_one_axis_leads_to_one_standard_deviation(tumbling, tmp_path):
    rate = tumbling[1]
    gyroscope = "{scale_factor_and_misalignment: [[0, 0, 0], [0, 0, 0], [0, 0, 0.001]]}"
    rows = moving(tumbling, tmp_path, rate * [1.0, 1.0, 1.001], gyroscope)
    assert list(rows["window"]) == ["60 s", "drive"]
    assert np.all(np.abs(rows["seen"]) > 3e-3)
    assert np.abs(rows["seen"]).to_numpy() == pytest.approx(rows["std"].to_numpy(), rel=0.02)
    assert np.all(rows["mean"] == 0.0)


def test_a_turned_mounting_is_within_what_is_predicted_of_it(tumbling, tmp_path):
    mounting = Rotation.from_rotvec([0.0, np.radians(0.5), 0.0])
    rows = moving(tumbling, tmp_path, mounting.apply(tumbling[1]), "{}", mounting=0.5)
    assert np.all(np.abs(rows["seen"]) > 1e-4)
    assert np.all(np.abs(rows["seen"]) < 2.0 * rows["std"])
    # It turns what is drawn for it about, and no further.
    assert np.all(rows["std"] < np.radians(0.5) * 2.0)


def test_windows_across_missing_samples_are_left_out(tumbling, tmp_path):
    time, rate, orientation = tumbling
    keep = np.abs(time - 100.0) > 0.3
    truth = time[keep], rate[keep], orientation[keep]
    assert list(moving(truth, tmp_path, rate[keep], "{}", truth=0.2)["window"]) == ["60 s"]
