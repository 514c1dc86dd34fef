import math

import numpy as np
import pytest

from imu_simulation_framework.motion.kinematics import REVERSAL, absolute_turn

TIME = np.arange(0.0, 600.0, 0.01)
YAW = 2.0 * np.sin(TIME / 20.0)
TURNED = float(np.sum(np.abs(np.diff(YAW))))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_left_and_right_turns_add_up(sign):
    turned = absolute_turn(sign * YAW)
    assert turned[0] == 0.0 and np.all(np.diff(turned) >= 0.0)
    # The last turn back is smaller than what counts as one.
    assert turned[-1] == pytest.approx(TURNED, abs=REVERSAL)
    np.testing.assert_allclose(turned[:3000], YAW[:3000])


def test_noise_is_no_turning():
    noise = np.random.default_rng(1).normal(0.0, math.radians(0.25), len(YAW))
    assert np.sum(np.abs(np.diff(YAW + noise))) > 5.0 * TURNED
    # At each of some ten turning points an extreme of the noise is taken, of 4 sigma at most.
    assert absolute_turn(YAW + noise)[-1] == pytest.approx(TURNED, abs=22 * math.radians(1.0))
    assert absolute_turn(noise)[-1] < math.radians(3.0)


@pytest.mark.parametrize("yaw", [[], [1.0], [0.0, 0.0, 0.0]])
def test_who_does_not_turn_has_not_turned(yaw):
    np.testing.assert_array_equal(absolute_turn(np.array(yaw)), np.zeros(len(yaw)))


def test_legs_one_by_one():
    np.testing.assert_allclose(
        absolute_turn(np.array([0.0, 1.0, 0.5, 2.0, 1.0])), [0.0, 1.0, 1.5, 3.0, 4.0]
    )
