"""Yaw errors of streamed samples, compared with yaw errors of complete tables."""

import numpy as np
import pandas as pd
import pytest

from imu_simulation_framework.core.angles import unwrap, wrap
from imu_simulation_framework.heading import true_yaw_error
from imu_simulation_framework.heading.true_yaw_error import StreamedYawError
from imu_simulation_framework.heading.yaw_comparison import ComparisonSettings, compare_yaw

PERIOD = 10_000_000


def turning(stamps):
    """Return the yaw of a robot that makes several full turns to either side [rad]."""
    return 7.0 * np.sin(0.4 * np.asarray(stamps) * 1e-9)


def streams(phase, count=2000):
    """Return stamps and wrapped yaws of the ground truth and of a drifting IMU."""
    truth = PERIOD * np.arange(count)
    imu = truth + phase
    drifted = wrap(turning(imu) - 0.3 - 0.02 * imu * 1e-9)
    return list(zip(truth, wrap(turning(truth)))), list(zip(imu, drifted))


@pytest.mark.parametrize("phase", [0, 1, 4_000_000, 9_999_999])
@pytest.mark.parametrize("lag", [0, 1, 300])
def test_streamed_yaw_errors_match_those_of_complete_tables(phase, lag):
    truth, imu = streams(phase)
    pairs = StreamedYawError()
    known = []
    # One stream lags by a number of samples.
    for k in range(len(truth) + lag):
        if k < len(truth):
            known += pairs.add_imu(*imu[k])
        if k >= lag:
            known += pairs.add_truth(*truth[k - lag])
    stamps, errors = zip(*known)
    whole = compare_yaw(
        *(
            pd.Series([yaw for _, yaw in samples], [stamp * 1e-9 for stamp, _ in samples])
            for samples in (imu, truth)
        ),
        ComparisonSettings(),
    )
    np.testing.assert_allclose(np.array(stamps) * 1e-9, whole.error.index, atol=1e-9)
    # The last sample is later than the last ground truth, unless their stamps are the same.
    assert len(errors) == len(imu) - (phase > 0)
    errors = unwrap(errors)
    np.testing.assert_allclose(errors - errors[0], whole.error - whole.error.iloc[0], atol=1e-9)


def test_streamed_imu_sample_before_first_truth_has_no_error():
    pairs = StreamedYawError()
    pairs.add_imu(5, 0.0)
    assert pairs.add_truth(10, 1.0) == []
    assert pairs.add_imu(10, 0.25) == [(10, 0.75)]


def test_number_of_waiting_streamed_samples_is_limited(monkeypatch):
    monkeypatch.setattr(true_yaw_error, "MAX_WAITING", 5)
    pairs = StreamedYawError()
    for k in range(100):
        assert pairs.add_imu(k, 0.0) == []
    assert pairs.add_truth(0, 1.0) == []
    assert pairs.add_truth(200, 1.0) == [(k, 1.0) for k in range(95, 100)]


def test_decreasing_streamed_stamp_discards_all_previous_samples():
    pairs = StreamedYawError()
    for stamp in (100, 200):
        pairs.add_truth(stamp, 1.0)
    assert pairs.add_imu(150, 0.0) == [(150, 1.0)]
    assert pairs.add_truth(50, 2.0) == []
    assert pairs.add_imu(60, 0.0) == []
    assert pairs.add_truth(70, 2.0) == [(60, 2.0)]


def test_repeated_streamed_stamp_replaces_previous_value():
    pairs = StreamedYawError()
    pairs.add_truth(10, 1.0)
    pairs.add_truth(10, 3.0)
    pairs.add_truth(20, 3.0)
    assert pairs.add_imu(15, 0.0) == [(15, 3.0)]
