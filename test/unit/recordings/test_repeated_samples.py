"""Repeated samples, which are counted and excluded from noise analyses."""

import numpy as np
import pandas as pd
import pytest

from imu_simulation_framework.core.tables import GYRO
from imu_simulation_framework.recordings.at_rest import read_at_rest
from imu_simulation_framework.recordings.cleaning import repeated_samples
from imu_simulation_framework.recordings.reading import read_imu

RATE = 10.0  # Hz
COUNT = 300


@pytest.fixture(scope="module")
def rates():
    return 0.01 * np.random.default_rng(1).normal(size=(COUNT, 3))


def write_table(path, times, rates):
    pd.DataFrame({"time": times, **dict(zip(GYRO, rates.T))}).to_csv(path, index=False)
    return path


def read_gyro(path, **options):
    recorded = read_at_rest(path, **options)
    axes = np.column_stack([recorded.axes[place] for place in range(3)])
    return recorded.times, axes, recorded.report.remarks


@pytest.mark.parametrize("rate", [None, RATE])
def test_duplicate_messages_are_read_once(tmp_path, rates, rate):
    times = np.arange(COUNT) / RATE
    path = write_table(tmp_path / "twice.csv", np.repeat(times, 2), np.repeat(rates, 2, axis=0))
    found, axes, remarks = read_gyro(path, rate=rate)
    np.testing.assert_allclose(found, times, atol=1e-9)
    np.testing.assert_allclose(axes, rates)
    assert any(f"{COUNT} of {2 * COUNT} samples repeat" in remark for remark in remarks)
    table = read_imu(path, require=(), rate=rate).table
    np.testing.assert_allclose(table.index, times, atol=1e-9)
    np.testing.assert_allclose(table[list(GYRO)], rates)


def test_readings_repeated_by_faster_logger_are_read_once(tmp_path, rates):
    times = np.arange(3 * COUNT) / (3.0 * RATE)
    path = write_table(tmp_path / "held.csv", times, np.repeat(rates, 3, axis=0))
    found, axes, _ = read_gyro(path)
    np.testing.assert_allclose(np.diff(found), 1.0 / RATE, atol=1e-9)
    np.testing.assert_allclose(axes, rates)


def test_coarse_readings_that_coincide_by_chance_are_not_dropped(rates):
    coarse = np.round(rates[:, :1] / 0.02) * 0.02
    assert np.mean(np.diff(coarse[:, 0]) == 0.0) > 0.3
    assert not repeated_samples(coarse.T).any()
    # Even if all stamps are zero, these readings are not treated as repeated.
    assert not repeated_samples(coarse.T, np.zeros(COUNT)).any()
    assert repeated_samples(coarse.T, np.repeat(np.arange(COUNT // 2), 2)).sum() > 0.1 * COUNT
