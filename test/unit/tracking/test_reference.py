"""Reference and tracking error."""

import math

import numpy as np
import pandas as pd
import pytest

from imu_simulation_framework.core.errors import TrajectoryError
from imu_simulation_framework.drive.tracking.reference import Pose2D, Reference, tracking_error


def _table(times, **columns):
    return pd.DataFrame(columns, index=pd.Index(times, name="time"))


def test_reference_ahead_and_left_gives_positive_errors():
    error = tracking_error(Pose2D(1.0, 5.0, math.pi / 2), Pose2D(3.0, 2.0, math.pi / 2 - 0.1))
    assert error.yaw_error == pytest.approx(0.1)
    assert error.along_track_error == pytest.approx(3.0)
    assert error.cross_track_error == pytest.approx(2.0)
    assert error.distance_error == pytest.approx(math.hypot(3.0, 2.0))


def test_negative_yaw_error_means_turn_right():
    assert tracking_error(Pose2D(0.0, 0.0, 0.0), Pose2D(0.0, 0.0, 0.2)).yaw_error < 0.0


def test_yaw_error_of_an_unwrapped_reference_is_wrapped():
    error = tracking_error(Pose2D(0.0, 0.0, 20.0 * math.pi + 3.1), Pose2D(0.0, 0.0, -3.1))
    assert error.yaw_error == pytest.approx(6.2 - 2.0 * math.pi)


def test_along_and_cross_track_error_make_up_the_distance():
    generator = np.random.default_rng(1)
    for values in generator.uniform(-5.0, 5.0, (50, 6)):
        error = tracking_error(Pose2D(*values[:3]), Pose2D(*values[3:]))
        assert error.distance_error == pytest.approx(
            math.hypot(error.along_track_error, error.cross_track_error)
        )


@pytest.mark.parametrize("times", [[10.0, 11.0, 12.0], [10.0, 10.1, 12.0]])
def test_reference_interpolates_and_stands_still_outside(times):
    table = _table(times, x=[0.0, 2.0, 2.0], y=[1.0, 1.0, 3.0], yaw=[0.0, 3.0, 7.0])
    reference = Reference.of_table(table)
    middle = 0.5 * (times[0] + times[1])
    assert reference.pose_at(middle) == pytest.approx((1.0, 1.0, 1.5))
    assert reference.pose_at(times[1]) == pytest.approx((2.0, 1.0, 3.0))
    assert reference.pose_at(0.0) == (0.0, 1.0, 0.0)
    assert reference.pose_at(99.0) == (2.0, 3.0, 7.0)
    assert reference.duration == 2.0


def test_wheel_velocities_are_zero_outside_the_reference():
    table = _table([0.0, 1.0], x=[0.0, 1.0], y=[0.0, 0.0], yaw=[0.0, 0.0])
    reference = Reference.of_table(table, _table([0.0, 1.0], left=[9.0, 10.0], right=[11.0, 10.0]))
    assert reference.wheel_velocities_at(0.5) == pytest.approx((9.5, 10.5))
    assert reference.wheel_velocities_at(1.0) == pytest.approx((10.0, 10.0))
    assert reference.wheel_velocities_at(1.001) == (0.0, 0.0)
    assert reference.wheel_velocities_at(-0.001) == (0.0, 0.0)


def test_wheel_velocities_that_were_not_given_cannot_be_asked_for():
    reference = Reference.of_table(_table([0.0, 1.0], x=[0.0, 1.0], y=[0.0, 0.0], yaw=[0.0, 0.0]))
    with pytest.raises(ValueError, match="without wheel velocities"):
        reference.wheel_velocities_at(0.0)


def test_reference_of_one_sample_is_refused():
    with pytest.raises(TrajectoryError, match="at least two samples"):
        Reference.of_table(_table([0.0], x=[0.0], y=[0.0], yaw=[0.0]))
