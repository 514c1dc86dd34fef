"""Preparation of stationary recordings: reading in blocks, gaps, outliers, and motion."""

import numpy as np
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.characterisation import samples_at_rest
from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.core.tables import ACCEL, GYRO
from imu_simulation_framework.recordings import at_rest as reading_at_rest

RATE = 100.0
NAMES = ("gyro_x", "gyro_z", "accel_x", "accel_z")


def resting_sensor(seconds=600.0, seed=1):
    """Return times and readings of a stationary low-grade sensor, shapes (n,) and (axes, n)."""
    generator = np.random.default_rng(seed)
    times = np.arange(round(seconds * RATE)) / RATE
    sigmas = np.array([0.02, 0.02, 0.1, 0.1])[:, None]
    values = sigmas * generator.standard_normal((len(NAMES), len(times)))
    values[3] += 9.81
    return times, values


def check(times, values):
    return samples_at_rest.check_at_rest(times, values, NAMES, RATE, "file.bag")


@pytest.mark.parametrize(
    "change",
    [
        # The readings are unchanged, show warm-up, are coarse with spikes, or are in degrees.
        lambda times, values: values,
        lambda times, values: values + np.outer([1, 1, -10, -10], 0.05 * np.exp(-times / 60.0)),
        lambda times, values: np.round(values / 0.05) * 0.05 + 100.0 * (times % 50.0 == 0.0),
        lambda times, values: values * np.degrees([[1.0], [1.0], [np.pi / 180], [np.pi / 180]]),
    ],
)
def test_sensor_without_motion_is_accepted_as_stationary(change):
    times, values = resting_sensor()
    assert check(times, change(times, values)) == []


@pytest.mark.parametrize(
    "axis, amplitude, period",
    # The robot turns alternately to both sides, or it pitches.
    [(1, 0.3, 15.0), (2, 1.5, 10.0)],
)
def test_moving_sensor_is_rejected(axis, amplitude, period):
    times, values = resting_sensor()
    swing = amplitude * np.sin(2.0 * np.pi * times / period)
    values[axis] += np.where(times > 300.0, swing, 0.0)
    with pytest.raises(RecordingError, match=rf"^file\.bag: .* first at 30.*{NAMES[axis]}"):
        check(times, values)


def test_two_second_offset_is_reported_and_motion_in_two_second_recording_is_rejected():
    times, values = resting_sensor()
    values[1, (times > 100.0) & (times < 102.0)] += 0.5
    (remark,) = check(times, values)
    assert "2 of 599 seconds" in remark and "100 s" in remark
    times, values = (some[..., :200] for some in resting_sensor())
    values[1, 100:] += 0.5
    assert check(times[:199], values[:, :199]) == []
    with pytest.raises(RecordingError, match="in 1 of 1 seconds"):
        check(times, values)


TWO = ("gyro_x", "accel_z")
PERIOD = 0.01


def sampled(length=20_000, seed=1):
    generator = np.random.default_rng(seed)
    return np.arange(length) * PERIOD, generator.standard_normal((length, 2))


def prepared(times, values, name="made", **settings):
    settings = samples_at_rest.RestSettings(**settings)
    return samples_at_rest.prepare_at_rest(times, values, TWO, name, settings)


def test_gap_splits_recording_and_short_segments_are_excluded():
    times, values = sampled()
    generator = np.random.default_rng(2)
    times = times + generator.uniform(0.0, 0.003, len(times))
    times[5000] += 0.0065
    assert prepared(times, values).parts == ((0, 20_000),)
    kept = np.arange(len(times)) != 8000
    samples = prepared(times[kept], values[kept])
    assert samples.parts == ((0, 8000), (8000, 19_999))
    assert samples.gaps.count == 1
    assert "averages do not span gaps" in samples.remarks[0]
    assert samples.rate == pytest.approx(100.0, rel=1e-4)
    times, values = sampled()
    kept = ~np.isin(np.arange(len(times)), [15_000, 15_500])
    samples = prepared(times[kept], values[kept])
    assert samples.parts == ((0, 15_000),)
    assert samples.unused == 4998
    assert "4998 samples" in samples.remarks[0]


def test_outliers_are_replaced_and_reported():
    times, values = sampled()
    values[[300, 700], 0] = 50.0
    samples = prepared(times, values)
    assert samples.outliers["gyro_x"].count >= 2
    assert samples.outliers["gyro_x"].first_time == pytest.approx(3.0)
    assert np.abs(samples.values[0]).max() < 6.0
    assert prepared(times, values, outlier_range=0.0).values[0, 300] == 50.0


def test_heavy_tails_bias_drift_and_coarse_resolution_are_not_outliers():
    times, values = sampled()
    generator = np.random.default_rng(4)
    heavy = generator.standard_normal(len(times))
    values[:, 0] = heavy * np.where(generator.uniform(size=len(times)) < 0.2, 6.0, 1.0)
    samples = prepared(times, values)
    assert not samples.outliers["gyro_x"]
    np.testing.assert_array_equal(samples.values[0], values[:, 0])
    assert "gyro_x" in samples.remarks[0] and "outlier limits" in samples.remarks[0]
    times, values = sampled()
    values[:, 0] += 30.0 * np.sin(2.0 * np.pi * times / 200.0)
    assert prepared(times, values).outliers["gyro_x"].count <= 2
    times, values = sampled()
    generator = np.random.default_rng(3)
    values[:, 0] = 0.01 * generator.choice([-1.0, 0.0, 1.0], len(times), p=[0.05, 0.9, 0.05])
    assert not prepared(times, values).outliers["gyro_x"]


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda t, v: (t[:500], v[:500]), ["lasts 5.0 s", "at least 60 s"]),
        (lambda t, v: (t, v * [1.0, 0.0]), ["accel_z is 0 in all 20000 samples"]),
        (
            lambda t, v: (np.concatenate([t[:9000], 90.0 + 2.0 * (t[9000:] - 90.0)]), v),
            ["rate changes from 100.00 Hz to 50.00 Hz"],
        ),
        (lambda t, v: (np.cumsum(1 + (np.arange(len(t)) % 5 < 2)), v), ["40 % of the steps"]),
    ],
)
def test_unusable_stationary_samples_are_rejected(change, words):
    with pytest.raises(RecordingError, match="^file.bag: ") as caught:
        prepared(*change(*sampled()), "file.bag")
    assert all(word in str(caught.value) for word in words)


ALL_AXES = (*GYRO, *ACCEL)


def written(path, count, spoil=lambda lines: lines):
    """Write a CSV file of a stationary IMU at 100 Hz."""
    values = np.random.default_rng(1).standard_normal((count, 6)) + [0, 0, 0, 0, 0, 9.81]
    lines = [
        f"{0.01 * place:.2f}," + ",".join(f"{value:.9f}" for value in row)
        for place, row in enumerate(values.tolist())
    ]
    path.write_text("\n".join(["time," + ",".join(ALL_AXES), *spoil(lines)]) + "\n")
    return path


def spoilt(lines):
    """Corrupt a table with a missing number, swapped and duplicate samples, and a comment."""
    lines[40] = lines[40].rpartition(",")[0] + ","
    lines[70], lines[71] = lines[71], lines[70]
    lines[90] = lines[89]
    return [*lines[:20], "# a comment", *lines[20:]]


@pytest.mark.parametrize("spoil", [spoilt, lambda lines: lines])
@pytest.mark.parametrize("rows", [7, 100_000])
def test_recording_read_in_blocks_matches_recording_read_at_once(
    tmp_path, monkeypatch, rows, spoil
):
    path = written(tmp_path / "static.csv", 200, spoil)
    monkeypatch.setattr(reading_at_rest, "_ROWS_AT_ONCE", rows)
    parts, whole = isf.recordings.read_at_rest(path), isf.read_imu(path, require=())
    np.testing.assert_array_equal(parts.times, whole.table.index)
    assert parts.axes.names == ALL_AXES
    for place, name in enumerate(ALL_AXES):
        np.testing.assert_array_equal(parts.axes[place], whole.table[name])
    assert parts.report.stamps == whole.report.stamps
    assert parts.report.nan == whole.report.nan


def test_units_dates_and_line_numbers_are_correct_in_all_blocks(tmp_path, monkeypatch):
    path = tmp_path / "static.csv"
    rows = [f"2020-01-01T00:00:{place:02d}Z,{180.0 * place}" for place in range(30)]
    path.write_text("\n".join(["when,w", *rows]))
    monkeypatch.setattr(reading_at_rest, "_ROWS_AT_ONCE", 4)
    recorded = isf.recordings.read_at_rest(path, columns={"time": "when", "gyro_z": "w [deg/s]"})
    np.testing.assert_allclose(np.diff(recorded.times), 1.0)
    np.testing.assert_allclose(recorded.axes[0], np.pi * np.arange(30))

    def spoil(lines):
        lines[150] = lines[150].rpartition(",")[0] + ",much"
        return lines

    monkeypatch.setattr(reading_at_rest, "_ROWS_AT_ONCE", 50)
    with pytest.raises(RecordingError, match="line 152, column 'accel_z': 'much' is not valid"):
        isf.recordings.read_at_rest(written(tmp_path / "static.csv", 200, spoil))
