"""Recordings that are short, incomplete, at rest or steadily turning: neither alarm nor miss."""

from dataclasses import replace

import numpy as np
import pytest
from drive_recordings import drive
from planted_faults import constant, frozen, scaled, with_columns, with_yaw

from imu_simulation_framework.core.columns import ACCEL, GYRO, QUATERNION
from imu_simulation_framework.drive.check import Interpretation, RecordingCheck, judge
from imu_simulation_framework.recordings.frames import ImuConventions, ReferenceConventions
from imu_simulation_framework.recordings.plausibility import findings as faults


def judged(reference, imu):
    result = RecordingCheck()
    judge(result, Interpretation(reference, imu, ReferenceConventions(), ImuConventions()))
    return result


def names(result):
    return [finding.fault for finding in result.findings]


def without(samples, *left_out):
    columns = {n: values for n, values in samples.columns.items() if n not in left_out}
    return replace(samples, columns=columns)


def part(samples, kept):
    columns = {name: values[kept] for name, values in samples.columns.items()}
    return replace(samples, columns=columns, places=samples.places[kept])


def elapsed(samples):
    return samples.columns["stamp"] - samples.columns["stamp"][0]


@pytest.mark.parametrize(
    "left_out",
    [
        ("gyro_y",),
        ("gyro_x",),
        ("gyro_x", "gyro_y"),
        GYRO,
        ("accel_x",),
        ACCEL,
        QUATERNION,
        (*QUATERNION, *ACCEL),
        (*GYRO, *ACCEL),
    ],
)
def test_an_imu_that_lacks_something_is_judged_by_the_rest(left_out):
    reference, imu = drive()
    if left_out == (*GYRO, *ACCEL):
        # With another's noise it is an orientation sensor and no copy of the reference.
        imu = with_yaw(imu, lambda yaw: yaw + 1e-3 * np.sin(elapsed(imu)))
    assert names(judged(reference, without(imu, *left_out))) == []
    if "gyro_z" not in left_out:
        mirrored = scaled(without(imu, *left_out), ("gyro_z",), -1.0)
        assert names(judged(reference, mirrored)) != []


@pytest.mark.parametrize("seconds", [1.0, 12.0, 40.0])
def test_an_imu_much_shorter_than_the_reference(seconds):
    reference, imu = drive()
    assert names(judged(reference, part(imu, elapsed(imu) < seconds))) == []


@pytest.mark.parametrize("which", [0, 1])
def test_a_gap_is_no_fault(which):
    samples = list(drive())
    times = elapsed(samples[which])
    samples[which] = part(samples[which], (times < 30.0) | (times > 50.0))
    assert names(judged(*samples)) == []


def test_lost_samples_are_no_fault():
    reference, imu = drive()
    kept = np.random.default_rng(1).random(len(imu)) > 0.3
    assert names(judged(reference, part(imu, kept))) == []


def test_a_drifting_imu_on_a_robot_at_rest_is_no_fault():
    # Odometry at rest stays the same to the last bit, for as long as it takes.
    reference, imu = drive()
    still = constant(reference, ("x", "y", *QUATERNION), (1.0, 2.0, 0.0, 0.0, 0.0, 1.0))
    drift = np.radians(1.0)
    generator = np.random.default_rng(1)
    imu = with_columns(imu, gyro_z=drift + 0.003 * generator.standard_normal(len(imu)))
    imu = with_yaw(imu, lambda _: drift * elapsed(imu))
    assert names(judged(still, imu)) == []
    assert names(judged(still, without(imu, *QUATERNION))) == []


def test_a_reference_that_never_moves_while_the_imu_turns():
    reference, imu = drive()
    still = constant(reference, ("x", "y", *QUATERNION), (1.0, 2.0, 0.0, 0.0, 0.0, 1.0))
    result = judged(still, imu)
    assert names(result) == [faults.DROPPED_AXIS]
    assert result.grave


def round_and_round(imu_sense):
    reference, imu = drive()
    rate = np.radians(20.0)
    turned = with_yaw(reference, lambda _: rate * elapsed(reference))
    yaw = rate * elapsed(reference)
    turned = with_columns(turned, x=2.0 * np.sin(yaw), y=-2.0 * np.cos(yaw))
    imu = with_yaw(imu, lambda _: imu_sense * rate * elapsed(imu))
    generator = np.random.default_rng(1)
    imu = with_columns(imu, gyro_z=rate + 0.003 * generator.standard_normal(len(imu)))
    return judged(turned, imu)


def test_a_circle_at_a_steady_rate_shows_which_way_it_goes():
    # Its IMU has no error at all.
    assert names(round_and_round(1.0)) == [faults.NOT_INDEPENDENT]
    result = round_and_round(-1.0)
    assert faults.MIRRORED_YAW in result.grave[0].fault


def test_a_gyroscope_that_fails_alone_is_told_but_costs_no_answer():
    reference, imu = drive()
    generator = np.random.default_rng(1)
    for broken in (
        constant(imu, ("gyro_z",), (0.0,)),
        with_columns(imu, gyro_z=0.001 * generator.standard_normal(len(imu))),
        with_columns(imu, gyro_x=imu.columns["gyro_z"], gyro_z=imu.columns["gyro_x"]),
    ):
        result = judged(reference, broken)
        assert names(result)
        assert not result.grave
        # Without an orientation the yaw would be made of it.
        assert judged(reference, without(broken, *QUATERNION)).grave


def test_a_reference_frozen_while_the_robot_turns_is_found_beside_a_drift():
    reference, imu = drive()
    result = judged(frozen(reference, ("x", "y", *QUATERNION)), imu)
    assert names(result) == [faults.FROZEN]
    assert "from 30.0 s on" in result.findings[0].evidence


def test_a_file_of_poses_is_no_imu_for_itself():
    reference, _ = drive()
    result = judged(reference, without(reference, "x", "y"))
    assert names(result) == [faults.SAME_YAW]
    assert result.grave
    # An orientation of its own is one, however good; if it is too good, that is said.
    other = with_yaw(reference, lambda yaw: yaw + 1e-6 * np.sin(elapsed(reference)))
    result = judged(reference, without(other, "x", "y"))
    assert names(result) == [faults.NOT_INDEPENDENT]
    assert not result.grave


def test_a_heading_of_antennas_is_not_the_course():
    reference, imu = drive()
    interpretation = Interpretation(
        reference, imu, ReferenceConventions(), ImuConventions(), fixes=object()
    )
    assert not interpretation.course_is_yaw
    yaw = without(with_columns(reference, yaw=elapsed(reference)), *QUATERNION)
    assert not replace(interpretation, reference=yaw).course_is_yaw
    assert replace(interpretation, reference=without(reference, *QUATERNION)).course_is_yaw


@pytest.mark.parametrize("factor", [0.5, 2.0, 180.0 / np.pi])
def test_a_quaternion_of_another_angle_than_the_yaw_is_named(factor):
    """sin(yaw) in place of sin(yaw / 2), or of degrees."""
    reference, imu = drive()
    wrong = with_yaw(imu, lambda yaw: factor * np.unwrap(yaw))
    result = judged(reference, wrong)
    assert names(result) == [faults.SCALE]
    assert result.findings[0].grave
    assert "the IMU's yaw turns" in result.findings[0].evidence
    assert "fused" in result.findings[0].sentence()


def test_a_yaw_that_follows_slowly_and_gets_there_is_an_error_to_be_measured():
    """As of an IMU that trusts its magnetometer more than its gyroscope: amplitudes shrink."""
    reference, imu = drive()
    times = imu.columns["stamp"] - imu.columns["stamp"][0]

    def slow(yaw):
        # All that changes is nearly halved, but for the turn from beginning to end.
        yaw = np.unwrap(yaw)
        steady = yaw[0] + (yaw[-1] - yaw[0]) * times / times[-1]
        return steady + 0.55 * (yaw - steady)

    assert names(judged(reference, with_yaw(imu, slow))) == []


def test_a_yaw_that_is_a_little_off_in_scale_is_an_error_to_be_measured():
    reference, imu = drive()
    assert names(judged(reference, with_yaw(imu, lambda yaw: 1.2 * np.unwrap(yaw)))) == []
