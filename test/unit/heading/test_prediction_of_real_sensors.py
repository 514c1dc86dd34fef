"""Results of test/benchmarks/prediction_real.py for data with known drift and coverage."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import prediction_real

DENSITY = 3e-4


def test_drift_of_linearly_growing_rate_is_measured():
    time = np.arange(0.0, 100.0, 0.1)
    begins, errors = prediction_real.measure_drifts(time, 1e-3 * time, 10.0, 20.0)
    assert begins == pytest.approx([0.0, 30.0, 60.0])
    # In each window, the centres of the standstill and of the following drive are 15 s apart.
    assert errors == pytest.approx(np.full(3, -1e-3 * 15.0 * 20.0), rel=1e-9)


def test_coverage_is_estimated_with_standard_error():
    errors = 0.1 + 2.0 * np.random.default_rng(1).standard_normal(4000)
    begin = 610.0 * np.arange(4000)
    windows = {"recording": "one", "begin": begin, "seen": errors, "mean": 0.1, "std": 2.0}
    for probability in (0.5, 0.95):
        share, error = prediction_real.share_within(pd.DataFrame(windows), probability)
        assert abs(share - probability) < 4.0 * error
        expected = np.sqrt(probability * (1.0 - probability) / 4000)
        assert error == pytest.approx(expected, rel=0.1)


def test_drift_of_identified_white_noise_is_predicted():
    rate = 10.0
    time = np.arange(0.0, 7200.0, 1.0 / rate)
    noise = np.random.default_rng(3).standard_normal((len(time), 3)) * DENSITY * np.sqrt(rate)
    data = {"time": time, "gyro": noise + 0.02}
    rows = pd.DataFrame(prediction_real.rows_at_rest("made", "made", data))
    minute = rows[rows["duration"] == 60.0]
    assert len(minute) == 3 * 51
    # The closed form is N^2 (t + t^2 / Tb); its accuracy is that of N.
    assert minute["std"].to_numpy() == pytest.approx(DENSITY * np.sqrt(60.0 + 360.0), rel=0.03)
    ratio = np.sqrt(np.mean(minute["seen"] ** 2)) / minute["std"].mean()
    assert ratio == pytest.approx(1.0, abs=4.0 / np.sqrt(2 * len(minute)))
