"""Differential drive."""

import math

import numpy as np
import pytest

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.drive.robot import DifferentialDrivetrain, RobotLimits

DRIVETRAIN = DifferentialDrivetrain(wheel_radius=0.1, half_track=0.25)


@pytest.mark.parametrize(
    ("wheels", "motion"),
    [((4.0, 6.0), (0.5, 0.4)), ((8.0, 12.0), (1.0, 0.8)), ((2.5, -2.5), (0.0, -1.0))],
)
def test_the_robot_turns_to_the_side_of_the_slower_wheel(wheels, motion):
    assert DRIVETRAIN.forward(*wheels) == pytest.approx(motion)
    assert DRIVETRAIN.inverse(*motion) == pytest.approx(wheels)


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
