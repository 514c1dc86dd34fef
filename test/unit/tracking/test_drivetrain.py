"""Differential drive."""

import math

import numpy as np
import pytest

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.drive.robot import DifferentialDrivetrain, RobotLimits

DRIVETRAIN = DifferentialDrivetrain(wheel_radius=0.1, half_track=0.25)


def test_faster_right_wheel_turns_left():
    v, yaw_rate = DRIVETRAIN.forward(4.0, 6.0)
    assert v == pytest.approx(0.5)
    assert yaw_rate == pytest.approx(0.4)


def test_turn_to_the_left_needs_the_left_wheel_slower():
    left, right = DRIVETRAIN.inverse(1.0, 0.8)
    assert (left, right) == pytest.approx((8.0, 12.0))


def test_turn_on_the_spot_needs_opposite_wheels():
    left, right = DRIVETRAIN.inverse(0.0, -1.0)
    assert (left, right) == pytest.approx((2.5, -2.5))


def test_inverse_undoes_forward_for_arrays():
    generator = np.random.default_rng(1)
    left, right = generator.uniform(-10.0, 10.0, (2, 100))
    assert np.allclose(
        DRIVETRAIN.inverse(*DRIVETRAIN.forward(left, right)), (left, right), atol=1e-12
    )


@pytest.mark.parametrize("value", [0.0, -0.1, math.nan, math.inf])
def test_lengths_and_limits_must_be_positive(value):
    with pytest.raises(ConfigurationError, match="half_track"):
        DifferentialDrivetrain(0.1, value)
    with pytest.raises(ConfigurationError, match="max_wheel_velocity"):
        RobotLimits(value, 1.0)
