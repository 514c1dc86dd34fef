import numpy as np
import pytest

from imu_simulation_framework.characterisation.samples_at_rest import RestSettings, prepare_at_rest
from imu_simulation_framework.core.errors import RecordingError

NAMES = ("gyro_x", "accel_z")
PERIOD = 0.01


def made(length=20_000, seed=1):
    generator = np.random.default_rng(seed)
    return np.arange(length) * PERIOD, generator.standard_normal((length, 2))


def test_late_samples_are_no_gap_but_a_missing_one_is():
    times, values = made()
    generator = np.random.default_rng(2)
    times = times + generator.uniform(0.0, 0.003, len(times))
    times[5000] += 0.0065
    assert prepare_at_rest(times, values, NAMES, "made").parts == ((0, 20_000),)
    kept = np.arange(len(times)) != 8000
    samples = prepare_at_rest(times[kept], values[kept], NAMES, "made")
    assert samples.parts == ((0, 8000), (8000, 19_999))
    assert samples.gaps.count == 1
    assert "nothing is averaged across" in samples.remarks[0]
    assert samples.rate == pytest.approx(100.0, rel=1e-4)


def test_parts_too_short_to_help_are_left_out_and_counted():
    times, values = made()
    kept = ~np.isin(np.arange(len(times)), [15_000, 15_500])
    samples = prepare_at_rest(times[kept], values[kept], NAMES, "made")
    assert samples.parts == ((0, 15_000),)
    assert samples.unused == 4998
    assert "4998 samples" in samples.remarks[0]


def test_outliers_are_replaced_and_told():
    times, values = made()
    values[[300, 700], 0] = 50.0
    samples = prepare_at_rest(times, values, NAMES, "made")
    assert samples.outliers["gyro_x"].count >= 2
    assert samples.outliers["gyro_x"].first_time == pytest.approx(3.0)
    assert np.abs(samples.values[0]).max() < 6.0
    kept = prepare_at_rest(times, values, NAMES, "made", RestSettings(outlier_range=0.0))
    assert kept.values[0, 300] == 50.0


def test_noise_with_heavy_tails_is_kept_as_it_is():
    times, values = made()
    generator = np.random.default_rng(4)
    values[:, 0] = generator.standard_normal(len(times)) * np.where(
        generator.uniform(size=len(times)) < 0.2, 6.0, 1.0
    )
    samples = prepare_at_rest(times, values, NAMES, "made")
    assert not samples.outliers["gyro_x"]
    np.testing.assert_array_equal(samples.values[0], values[:, 0])
    assert "gyro_x are far from the rest: too many to be outliers" in samples.remarks[0]


def test_a_wandering_bias_makes_no_outliers():
    times, values = made()
    values[:, 0] += 30.0 * np.sin(2.0 * np.pi * times / 200.0)
    assert prepare_at_rest(times, values, NAMES, "made").outliers["gyro_x"].count <= 2


def test_a_coarse_reading_that_seldom_changes_is_no_outlier():
    times, values = made()
    generator = np.random.default_rng(3)
    values[:, 0] = 0.01 * generator.choice([-1.0, 0.0, 1.0], len(times), p=[0.05, 0.9, 0.05])
    assert not prepare_at_rest(times, values, NAMES, "made").outliers["gyro_x"]


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda t, v: (t[:500], v[:500]), ["lasts 5.0 s", "at least 60 s"]),
        (lambda t, v: (t, v * [1.0, 0.0]), ["accel_z is 0 in all 20000 samples"]),
        (
            lambda t, v: (np.concatenate([t[:9000], 90.0 + 2.0 * (t[9000:] - 90.0)]), v),
            ["rate changes from 100.00 Hz to 50.00 Hz"],
        ),
        (
            lambda t, v: (t[np.arange(len(t)) % 2000 != 0], v[np.arange(len(t)) % 2000 != 0]),
            ["missing at 9 places", "at least 60 s"],
        ),
        (
            lambda t, v: (np.cumsum(np.where(np.arange(len(t)) % 5 < 2, 0.03, 0.01)), v),
            ["40 % of the steps"],
        ),
    ],
)
def test_what_cannot_serve_is_refused_in_a_sentence(change, words):
    with pytest.raises(RecordingError) as caught:
        prepare_at_rest(*change(*made()), NAMES, "file.bag")
    assert str(caught.value).startswith("file.bag: ")
    for word in words:
        assert word in str(caught.value)
