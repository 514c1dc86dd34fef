"""Mahony's filter over a whole series equals the loop over its samples."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from imu_simulation_framework.sensors.fusion import complementary
from imu_simulation_framework.sensors.fusion.complementary import ComplementaryFilter
from imu_simulation_framework.sensors.fusion.series import block_length, fuse_block, running_product

PERIOD = 0.01
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
KINDS = ("standing still", "drive", "accelerating", "tumbling", "free fall")


def _motion(kind, samples):
    generator = np.random.default_rng(5)
    time = PERIOD * np.arange(samples)
    rate = np.sin(np.outer(time, (1.0, 0.7, 0.1))) * (0.02, 0.01, 0.3)
    force = np.tile([0.0, 0.0, 9.81], (samples, 1))
    if kind == "standing still":
        rate[:] = 0.0
    elif kind == "free fall":
        force[samples // 3 : samples // 2] = 0.0
    elif kind == "drive":
        rate += 2e-3 * generator.normal(size=rate.shape)
        force += 0.1 * generator.normal(size=force.shape)
    elif kind == "accelerating":
        force[:, :2] += 3.0 * np.sin(np.outer(time, (0.9, 1.7)))
        rate += 0.05
    elif kind == "tumbling":
        rate = np.cumsum(generator.normal(size=rate.shape), axis=0) * 0.05
        force += 3.0 * generator.normal(size=force.shape)
    return rate, force


def _angles(ours, expected):
    return 2.0 * np.linalg.norm(
        (Rotation.from_quat(ours) * Rotation.from_quat(expected).inv()).as_quat()[:, :3], axis=1
    )


def _started(time_constant=3.0):
    filter = ComplementaryFilter(PERIOD, time_constant)
    filter.start(LEVEL, np.array([0.3, -0.2, 9.7]))
    return filter


def _loop(filter, rate, force):
    return np.array([filter.update(*pair) for pair in zip(rate, force)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("time_constant", [0.2, 3.0, 30.0])
def test_a_series_equals_its_samples_one_by_one(kind, time_constant):
    rate, force = _motion(kind, 12_000)
    at_once, stepped = _started(time_constant), _started(time_constant)
    fused = at_once.update_all(rate, force)
    assert _angles(fused, _loop(stepped, rate, force)).max() < 1e-12
    # It goes on from there.
    more = at_once.update(rate[0], force[0])
    assert _angles([more], [stepped.update(rate[0], force[0])]).max() < 1e-12


def test_a_drive_needs_no_loop():
    rate, force = _motion("drive", 60_000)
    assert block_length(PERIOD, 3.0) > len(rate)
    assert fuse_block(tuple(LEVEL), rate, force, PERIOD, 3.0) is not None


def test_what_does_not_converge_is_looped_over(monkeypatch):
    rate, force = _motion("accelerating", 2000)
    monkeypatch.setattr(complementary, "fuse_block", lambda *_: None)
    found, expected = _started().update_all(rate, force), _loop(_started(), rate, force)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("time_constant", [1e-4, 0.01, 0.1])
def test_a_time_constant_of_few_samples_is_looped_over(time_constant):
    assert block_length(PERIOD, time_constant) == 0
    rate, force = _motion("drive", 1000)
    at_once, stepped = _started(time_constant), _started(time_constant)
    np.testing.assert_array_equal(at_once.update_all(rate, force), _loop(stepped, rate, force))


@pytest.mark.parametrize("count", [1, 2, 3, 10, 99, 100, 101])
def test_running_product_is_that_of_rotations(count):
    turns = Rotation.random(count, random_state=3)
    expected = [turns[0]]
    for index in range(1, count):
        expected.append(expected[-1] * turns[index])
    # Of length one, whatever lengths the others have.
    product = running_product(1.001 * turns.as_quat().T).T
    np.testing.assert_allclose(np.linalg.norm(product, axis=1), 1.0, rtol=0.0, atol=1e-15)
    assert _angles(product, Rotation.concatenate(expected).as_quat()).max() < 1e-13
