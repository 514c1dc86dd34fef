"""Motion along parallel mowing lanes, compared with closed forms."""

import math

import numpy as np
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.motion.motion import absolute_turn


@pytest.mark.parametrize(
    "lanes, length, width, radius, speed", [(5, 20.0, 2.0, None, 1.0), (4, 3.0, 2.5, 0.5, 0.4)]
)
def test_mowing_length_turns_and_positions_match_pattern(lanes, length, width, radius, speed):
    rate = 200.0
    motion = isf.mowing(lanes, length, width, speed, radius, rate)
    turning = 0.5 * width if radius is None else radius
    across = width - 2.0 * turning
    distance = lanes * length + (lanes - 1) * (math.pi * turning + across)
    assert motion.duration == pytest.approx(distance / speed, abs=1.0 / rate)
    steps = np.linalg.norm(np.diff(motion.position, axis=0), axis=1)
    # A chord is shorter than its arc by the fraction (turn per step)^2 / 24.
    assert steps.sum() == pytest.approx(speed * motion.duration, rel=(speed / rate / turning) ** 2)
    # Each lane except the last ends with a 180 degree turn, to alternating sides.
    assert absolute_turn(motion.yaw)[-1] == pytest.approx((lanes - 1) * math.pi)
    net = math.pi if lanes % 2 == 0 else 0.0
    assert motion.yaw[-1] - motion.yaw[0] == pytest.approx(net, abs=1e-9)
    end = [length if lanes % 2 else 0.0, (lanes - 1) * width, 0.0]
    np.testing.assert_allclose(motion.position[-1], end, atol=1.1 * speed / rate)
    assert motion.position[:, 0].max() == pytest.approx(length + turning, abs=1e-3)
    assert motion.position[:, 0].min() == pytest.approx(-turning, abs=1e-3)


def test_mowing_velocity_rate_and_force_are_derivatives_of_pose():
    motion = isf.mowing(3, 5.0, 2.0, 0.8, 0.7, rate=1000.0)
    step = motion.period
    changes = np.diff(motion.position, axis=0) / step
    middle = 0.5 * (motion.velocity[1:] + motion.velocity[:-1])
    np.testing.assert_allclose(changes, middle, atol=1e-3)
    rate = motion.angular_velocity[:, 2]
    bends = np.flatnonzero(np.diff(rate))
    inside = np.ones(len(rate) - 1, dtype=bool)
    inside[bends] = False
    np.testing.assert_allclose(np.diff(motion.yaw)[inside] / step, rate[1:][inside], atol=1e-9)
    np.testing.assert_allclose(motion.specific_force[:, 1], 0.8 * rate)
    # A turn has a straight line between two 90 degree arcs, so its curvature jumps four times.
    assert len(bends) == 8


@pytest.mark.parametrize(
    "arguments, words",
    [
        ((0, 20.0, 2.0), "number of lanes is 0"),
        ((2, 20.0, math.nan), "width of a lane is nan"),
        ((2, 20.0, 2.0, 1.0, 1.5), "width of a lane is 2 m, expected at least 3 m"),
        ((10**15, 20.0, 2.0), "samples, expected at most"),
    ],
)
def test_invalid_mowing_pattern_is_rejected(arguments, words):
    with pytest.raises(isf.FrameworkError, match=words):
        isf.mowing(*arguments)
