"""Plausibility measures: relations between headings, path directions, and clock offsets."""

import numpy as np
import pandas as pd
import pytest
from drive_recordings import yaw_at

from imu_simulation_framework.recordings.plausibility.observations import observe
from imu_simulation_framework.recordings.plausibility.relation import (
    Heading,
    clock_offset,
    path_direction,
    relate,
)

RATE = 8.0  # Hz; window ends, which are an eighth of a second apart, coincide with samples
TIMES = np.arange(0.0, 400.0, 1.0 / RATE)


def heading(angle, times=TIMES, name="a heading"):
    return Heading(name, times, angle)


def related(first, second, times=TIMES):
    return relate(heading(first), heading(second, times))


def test_identical_headings_agree_even_with_bias():
    relation = related(yaw_at(TIMES), yaw_at(TIMES) + 1.0)
    assert relation.conclusive
    assert relation.agree
    assert not relation.opposed
    assert relation.correlation == pytest.approx(1.0, abs=1e-12)
    assert relation.scale == pytest.approx(1.0, abs=1e-12)
    assert (relation.delay, relation.disagreement) == (0.0, pytest.approx(0.0, abs=1e-9))
    start, stop = TIMES[0], TIMES[-1]
    assert relation.net == pytest.approx((yaw_at(stop) - yaw_at(start),) * 2)
    relation = related(yaw_at(TIMES), yaw_at(TIMES) + 0.05 * TIMES)
    assert relation.correlation == pytest.approx(1.0, abs=1e-9)
    assert relation.scale == pytest.approx(1.0, abs=1e-9)


def meandering(degrees_per_second, generator):
    """Simulate an angle whose rate has a given rms value and a correlation time of 3 s."""
    rate = np.zeros(len(TIMES))
    kept = np.exp(-1.0 / (3.0 * RATE))
    for k in range(1, len(TIMES)):
        rate[k] = kept * rate[k - 1] + np.sqrt(1.0 - kept**2) * generator.standard_normal()
    return np.radians(degrees_per_second) * np.cumsum(rate) / RATE


@pytest.mark.parametrize(
    ("turning", "noise", "conclusive"),
    [(0.05, 2.0, False), (0.1, 1.0, False), (0.2, 1.0, False), (0.6, 1.0, True), (2.0, 3.0, True)],
)
def test_headings_with_turns_hidden_by_noise_are_inconclusive(turning, noise, conclusive):
    """The turn rate is in deg/s, and the noise of the reference in deg."""
    generator = np.random.default_rng(1)
    angle = meandering(turning, generator)
    noisy = angle + np.radians(noise) * generator.standard_normal(len(angle))
    relation = related(noisy, angle)
    assert relation.conclusive == conclusive
    assert relation.related or not conclusive
    other = related(noisy, meandering(5.0, generator))
    assert other.conclusive and not other.related


@pytest.mark.parametrize("period", [4.0, 8.0, 16.0])
def test_headings_with_different_oscillations_are_unrelated(period):
    """Over long windows, neither heading has a net turn."""
    noise = np.radians(0.5) * np.random.default_rng(4).standard_normal(len(TIMES))
    weaving = np.radians(6.0) * np.sin(2.0 * np.pi * TIMES / period) + noise
    for other in (noise[::-1], np.radians(6.0) * np.sin(np.sqrt(5.0) * TIMES)):
        relation = related(weaving, other)
        assert relation.conclusive and not relation.related


@pytest.mark.parametrize("scale", [1.25, -1.0, 57.3, 0.01745])
def test_heading_scale_factor_is_estimated_with_sign(scale):
    relation = related(scale * yaw_at(TIMES), yaw_at(TIMES))
    assert relation.scale == pytest.approx(scale, rel=1e-9)
    assert relation.correlation == pytest.approx(np.sign(scale), abs=1e-9)
    assert relation.opposed == (scale < 0.0)
    assert not relation.agree


@pytest.mark.parametrize("delay", [-3.2, -0.37, 0.4, 2.55])
def test_heading_delay_is_estimated(delay):
    relation = related(yaw_at(TIMES), yaw_at(TIMES - delay))
    # The tolerance is a tenth of the step of the time grid, which is an eighth of a second.
    assert relation.delay == pytest.approx(delay, abs=0.0125)
    assert relation.correlation > 0.999
    assert relation.correlation_as_recorded < relation.correlation


def test_heading_delay_without_clear_improvement_is_zero():
    # A periodic heading also matches with a delay of one period.
    angle = np.sin(2.0 * np.pi * TIMES / 5.0)
    assert related(angle, angle + 1e-3 * np.sin(TIMES)).delay == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_heading_noise_reduces_correlation_and_scale_factor_as_expected(seed):
    noise = 0.1
    generator = np.random.default_rng(seed)
    true = yaw_at(TIMES)
    relation = related(true, true + noise * generator.standard_normal(len(TIMES)))
    turns = true[int(RATE) :] - true[: -int(RATE)]
    # The difference of two values has twice their variance.
    share = np.var(turns) / (np.var(turns) + 2.0 * noise**2)
    expected = np.sqrt(share)
    deviation = (1.0 - share) / np.sqrt(relation.windows)
    assert relation.correlation == pytest.approx(expected, abs=4.0 * deviation)
    # The variance of a regression coefficient is residual variance / (n variance of the regressor).
    deviation = np.sqrt(share * (1.0 - share) / relation.windows)
    assert relation.scale == pytest.approx(share, abs=4.0 * deviation)


def test_no_relation_is_found_between_nearly_constant_headings():
    generator = np.random.default_rng(1)
    drift = np.radians(0.5) * TIMES
    relation = related(1e-4 * generator.standard_normal(len(TIMES)), drift)
    assert not relation.conclusive
    assert not relation.related
    relation = related(yaw_at(TIMES), np.zeros(len(TIMES)))
    assert relation.conclusive
    assert relation.correlation == 0.0
    assert not (relation.related or relation.agree or relation.opposed)


def test_steady_rotations_are_compared_only_by_direction():
    generator = np.random.default_rng(1)
    circle = np.radians(20.0) * TIMES + 0.01 * generator.standard_normal(len(TIMES))
    undelayed = related(circle, np.radians(20.0) * TIMES)
    assert undelayed.agree
    assert undelayed.scale == 1.0
    # A bias of 2 deg/s must not be reported as a scale factor error of 10 %.
    assert related(circle, np.radians(22.0) * TIMES).agree
    opposite = related(circle, -np.radians(20.0) * TIMES)
    assert opposite.opposed
    assert opposite.scale == -1.0
    degrees = related(circle, 20.0 * TIMES)
    assert degrees.scale == pytest.approx(np.pi / 180.0, rel=1e-3)


@pytest.mark.parametrize(
    "times", [TIMES + 500.0, TIMES[:40], TIMES[-2:], TIMES[:1]], ids=["apart", "5 s", "2", "1"]
)
def test_headings_with_short_overlap_have_no_relation(times):
    assert related(yaw_at(TIMES), yaw_at(times), times) is None


def test_heading_relation_uses_only_common_interval():
    times = TIMES[800:2400]
    relation = related(yaw_at(TIMES), yaw_at(times), times)
    assert relation.agree
    assert relation.net[0] == pytest.approx(yaw_at(times[-1]) - yaw_at(times[0]), abs=1e-9)


# Directions of paths


def poses(yaw, times, speed, course=None):
    course = yaw if course is None else course
    steps = speed * np.gradient(times)
    x, y = np.cumsum(steps * np.cos(course)), np.cumsum(steps * np.sin(course))
    return pd.DataFrame({"x": x, "y": y, "yaw": yaw}, index=pd.Index(times, name="time"))


DRIVE = np.arange(0.0, 120.0, 0.05)


@pytest.mark.parametrize("speed", [0.6, -0.6, 15.0])
def test_path_direction_matches_yaw_forwards_and_backwards(speed):
    path = path_direction(poses(yaw_at(DRIVE), DRIVE, speed))
    assert path.concentration > 0.98
    # In curves, the direction of a displacement of half a metre or 20 ms differs from the yaw.
    assert abs(path.offset) < np.radians(2.0)
    assert path.conclusive
    assert not path.mirrored


def test_path_with_mirrored_yaw_is_detected():
    path = path_direction(poses(-yaw_at(DRIVE), DRIVE, 0.6, course=yaw_at(DRIVE)))
    assert path.mirrored
    assert path.mirrored_concentration > 0.98


@pytest.mark.parametrize("turn", [-1.2, 0.5, 1.5])
def test_offset_between_path_direction_and_rotated_yaw_is_estimated(turn):
    path = path_direction(poses(yaw_at(DRIVE) - turn, DRIVE, 0.6, course=yaw_at(DRIVE)))
    assert path.offset == pytest.approx(turn, abs=np.radians(2.0))
    assert not path.mirrored


def test_distant_outlier_hardly_changes_path_direction():
    good = poses(yaw_at(DRIVE), DRIVE, 0.6)
    wrong = good.copy()
    wrong.iloc[len(wrong) // 2, wrong.columns.get_loc("x")] = 1e9
    found, expected = path_direction(wrong), path_direction(good)
    assert abs(found.steps - expected.steps) <= 3
    assert found.concentration == pytest.approx(expected.concentration, abs=0.1)


def test_paths_without_clear_direction_are_inconclusive():
    # Four directions at right angles are the same after mirroring.
    yaw = 0.5 * np.pi * (DRIVE // 30.0)
    path = path_direction(poses(yaw, DRIVE, 0.6))
    assert path.concentrated
    assert not path.conclusive
    assert not path.mirrored
    course = np.random.default_rng(1).uniform(-np.pi, np.pi, 61)[(DRIVE // 2.0).astype(int)]
    path = path_direction(poses(yaw_at(DRIVE), DRIVE, 0.6, course=course))
    assert not path.concentrated
    # For 60 random directions, the mean resultant length stays below four standard errors.
    assert path.concentration < 4.0 / np.sqrt(60.0)
    table = poses(yaw_at(DRIVE), DRIVE, 0.0)
    table[["x", "y"]] += 0.01 * np.random.default_rng(1).standard_normal((len(DRIVE), 2))
    assert path_direction(table).steps == 0


# Offsets between clocks


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    "part", [slice(None), slice(1000, 2000), slice(0, 800)], ids=["all", "middle", "beginning"]
)
def test_clock_offset_between_different_epochs_is_estimated(part, sign):
    times = TIMES[part]
    second = heading(sign * yaw_at(times), times - 1.5e9 + 0.33)
    offset, correlation = clock_offset(heading(yaw_at(TIMES)), second)
    assert offset == pytest.approx(1.5e9 - 0.33, abs=0.0125)
    assert correlation == pytest.approx(sign, abs=0.01)


def test_independent_headings_do_not_correlate():
    generator = np.random.default_rng(1)
    walks = np.cumsum(generator.standard_normal((2, len(TIMES))), axis=1)
    _, correlation = clock_offset(heading(walks[0]), heading(walks[1]))
    # White noise: the largest of 3200 coefficients with standard errors of at most 1/40.
    assert abs(correlation) < 0.2


@pytest.mark.parametrize("order", [1, -1])
def test_clock_offset_is_zero_if_heading_series_is_too_short(order):
    short = heading(yaw_at(np.array([0.0, 0.1, 0.2])), np.array([0.0, 0.1, 0.2]))
    slow = heading(yaw_at(np.arange(100.0, 200.0, 5.0)), np.arange(100.0, 200.0, 5.0))
    assert clock_offset(*(short, slow)[::order]) == (0.0, 0.0)


def test_net_turn_excludes_intervals_with_unknown_yaw():
    times = np.arange(0.0, 100.0, 0.1)
    true = yaw_at(times)
    known = (times < 40.0) | (times > 60.0)
    guessed = np.where(known, true, true + 2.0 * np.sin(0.05 * np.pi * (times - 40.0)))
    reference = poses(guessed, times, 1.0)
    reference["yaw_known"] = known * 1.0
    imu = pd.DataFrame({"yaw": true}, index=times)
    seen = observe(reference, imu, course_is_yaw=True)
    expected = true[-1] - true[0] - (true[known & (times > 50)][0] - true[known & (times < 50)][-1])
    np.testing.assert_allclose(seen.reference_imu.net, expected, atol=1e-9)
    assert seen.known == pytest.approx(797 / 999)
    everywhere = observe(reference.drop(columns="yaw_known"), imu, course_is_yaw=True)
    assert everywhere.known == 1.0
    np.testing.assert_allclose(everywhere.reference_imu.net, true[-1] - true[0], atol=1e-9)
