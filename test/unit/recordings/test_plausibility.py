"""Plausibility of recordings: detection of injected faults without false alarms."""

import functools
from dataclasses import replace

import numpy as np
import pytest
from drive_recordings import drive as made_drive
from injected_faults import (
    INJECTED_FAULTS,
    check,
    constant,
    drop_columns,
    elapsed,
    frozen,
    scaled,
    shifted,
    with_columns,
    with_yaw,
)

from imu_simulation_framework.core import files
from imu_simulation_framework.core.tables import ACCEL, GYRO, QUATERNION
from imu_simulation_framework.recordings.bundled_drives import ensure_drive
from imu_simulation_framework.recordings.frames import ImuConventions, ReferenceConventions
from imu_simulation_framework.recordings.plausibility import findings as faults
from imu_simulation_framework.recordings.plausibility.check import RecordingCheck
from imu_simulation_framework.recordings.plausibility.diagnosis import diagnose
from imu_simulation_framework.recordings.plausibility.interpretation import (
    Interpretation,
    thin_samples,
)
from imu_simulation_framework.recordings.reading import read_imu_samples, read_reference_samples

DURATION = {"a": 110.0, "d": 300.0}
"""Durations [s] of the excerpts: curves (drive a), straights and turns on the spot (drive d)."""


MOTION_FAULTS = (
    "IMU's clock one percent fast",
    "reference frozen",
    "wheels spin",
    "wrong track",
    "x and y exchanged",
    "reference's yaw from north",
)
"""Faults that only the shape of the path reveals, so their detection depends on the drive."""


@pytest.fixture(scope="module")
def drive():
    return beginning_of("a")


@functools.lru_cache(maxsize=None)
def beginning_of(name):
    """Return samples of the first laps of a bundled drive, with orientations as quaternions."""
    reference, imu = ensure_drive(name, files.drive_folder())
    return (
        _beginning(read_reference_samples(reference), DURATION[name]),
        thin_samples(_beginning(read_imu_samples(imu), DURATION[name])),
    )


def _beginning(samples, duration):
    return part(samples, elapsed(samples) < duration)


def part(samples, kept):
    columns = {name: values[kept] for name, values in samples.columns.items()}
    return replace(samples, columns=columns, places=samples.places[kept])


def standing_drive(reference):
    """Return stationary odometry, which is constant to the last bit."""
    return constant(reference, ("x", "y", *QUATERNION), (1.0, 2.0, 0.0, 0.0, 0.0, 1.0))


def names(result):
    return [finding.fault for finding in result.findings]


@pytest.mark.parametrize("name", ["a", pytest.param("d", marks=pytest.mark.gate)])
def test_correct_recording_raises_no_false_alarm(name):
    assert names(check(*beginning_of(name))) == []


@pytest.mark.parametrize("agreeing", [True, False])
def test_yaw_that_deviates_from_course_is_accepted_if_imu_agrees(agreeing):
    """Carried or flying bodies may move in any direction."""
    reference, imu = made_drive(duration=300.0)
    steps = np.random.default_rng(3).standard_normal((2, len(reference)))
    smooth = np.cumsum(np.cumsum(steps, axis=1), axis=1) / 1e3
    result = check(with_columns(reference, x=smooth[0], y=smooth[1]), imu if agreeing else None)
    (finding,) = [finding for finding in result.findings if finding.fault == faults.UNRELATED]
    assert "direction in which its positions move" in finding.evidence
    assert finding.is_critical != agreeing


def test_reference_noise_is_not_reported_as_wheel_slip():
    """Noise increases the accumulated turn of the reference, but not that of the gyroscope."""
    reference, imu = made_drive(duration=300.0)
    noise = np.radians(15.0) * np.random.default_rng(2).standard_normal(len(reference))
    noisy = with_yaw(reference, lambda yaw: yaw + noise)
    assert names(check(noisy, imu)) == []


def injected_fault_cases():
    """Yield each injected fault on drive a and, in a slower test tier, on drive d."""
    for fault_name in INJECTED_FAULTS:
        yield pytest.param("a", fault_name)
        tier = pytest.mark.gate if fault_name in MOTION_FAULTS else pytest.mark.thorough
        yield pytest.param("d", fault_name, marks=tier)


@pytest.mark.parametrize("name, fault_name", injected_fault_cases())
def test_injected_fault_is_identified_and_corrected_by_proposed_settings(name, fault_name):
    inject, fault = INJECTED_FAULTS[fault_name]
    samples = inject(*beginning_of(name))
    result = check(*samples)
    (finding,) = [finding for finding in result.findings if fault in finding.fault]
    assert finding.evidence
    # Further findings are allowed, unless they are critical and could be mistaken for the cause.
    assert all(other is finding for other in result.critical)
    if not finding.settings:
        return
    changes = {"reference": {}, "imu_recording": {}}
    for section, key, value in finding.settings:
        number = float(value) if key == "time_offset" or key.startswith("mounting_") else None
        word = {"true": True, "false": False}.get(value, value)
        changes[section][key] = word if number is None else number
    offset = changes["imu_recording"].pop("time_offset", 0.0)
    again = check(*samples, changes["reference"], offset, **changes["imu_recording"])
    assert not [name for name in names(again) if name in finding.fault.split(" or ")]
    assert not again.critical


def test_clock_offset_is_estimated_even_between_different_epochs(drive):
    reference, imu = drive
    for seconds in (0.5, -3.0):
        (finding,) = check(reference, shifted(imu, seconds)).findings
        ((section, key, value),) = finding.settings
        # The tolerance is a tenth of the step of the time grid on which turns are compared.
        assert abs(float(value) + seconds) < 0.02
        assert finding.is_critical == (abs(seconds) > 1.0)
    (finding,) = check(drive[0], shifted(drive[1], -1e6)).findings
    ((section, key, value),) = finding.settings
    assert abs(float(value) - 1e6) < 0.15


def test_each_fault_has_documented_evidence():
    texts = {
        text
        for name, text in vars(faults).items()
        if name.isupper() and not name.startswith("_") and isinstance(text, str)
    }
    assert set(faults.FAULTS) == texts - {faults.TURN_TEST, faults.YAW_OPPOSES_PATH}


def test_stationary_recording_or_missing_imu_has_no_finding(drive):
    reference, imu = drive
    generator = np.random.default_rng(1)
    imu = constant(imu, QUATERNION, (0.0, 0.0, 0.0, 1.0))
    rates = {name: 0.01 + 0.003 * generator.normal(size=len(imu)) for name in GYRO}
    assert names(check(standing_drive(reference), with_columns(imu, **rates))) == []
    assert names(check(drive[0], None)) == []


def test_imu_without_orientation_is_checked_with_gyroscope(drive):
    reference, imu = drive
    bare = drop_columns(imu, *QUATERNION)
    assert names(check(reference, bare)) == []
    result = check(reference, scaled(bare, GYRO, 180.0 / np.pi))
    assert names(result) == [faults.DEGREES]
    # The orientation is integrated from the gyroscope.
    assert result.critical


LEFT_OUT = [("gyro_y",), ("gyro_x",), GYRO[:2], GYRO, ("accel_x",), ACCEL, QUATERNION]


@pytest.mark.parametrize("left_out", [*LEFT_OUT, (*QUATERNION, *ACCEL), (*GYRO, *ACCEL)])
def test_imu_with_missing_quantities_is_checked_with_remaining_ones(left_out):
    reference, imu = made_drive()
    if left_out == (*GYRO, *ACCEL):
        # Without this error, the yaw would be rejected as a copy of the reference.
        imu = with_yaw(imu, lambda yaw: yaw + 1e-3 * np.sin(elapsed(imu)))
    assert names(check(reference, drop_columns(imu, *left_out))) == []
    if "gyro_z" not in left_out:
        mirrored = scaled(drop_columns(imu, *left_out), ("gyro_z",), -1.0)
        assert names(check(reference, mirrored)) != []


@pytest.mark.filterwarnings("error")
def test_impossible_rate_in_removed_sample_is_not_reported_as_fault():
    reference, imu = made_drive()
    rate, acceleration = imu.columns["gyro_z"].copy(), imu.columns["accel_x"].copy()
    rate[496], acceleration[496] = -1.8e307, np.nan
    assert names(check(reference, with_columns(imu, gyro_z=rate, accel_x=acceleration))) == []


@pytest.mark.parametrize("seconds", [1.0, 12.0, 40.0])
def test_imu_much_shorter_than_reference_has_no_finding(seconds):
    reference, imu = made_drive()
    assert names(check(reference, part(imu, elapsed(imu) < seconds))) == []


@pytest.mark.parametrize("index", [0, 1])
def test_gap_is_not_reported_as_fault(index):
    samples = list(made_drive())
    times = elapsed(samples[index])
    samples[index] = part(samples[index], (times < 30.0) | (times > 50.0))
    assert names(check(*samples)) == []


def test_lost_samples_and_small_scale_factor_error_are_not_reported_as_faults():
    reference, imu = made_drive()
    kept = np.random.default_rng(1).random(len(imu)) > 0.3
    assert names(check(reference, part(imu, kept))) == []
    assert names(check(reference, with_yaw(imu, lambda yaw: 1.2 * np.unwrap(yaw)))) == []


def test_drifting_imu_on_stationary_robot_is_not_reported_as_fault():
    reference, imu = made_drive()
    still = standing_drive(reference)
    drift = np.radians(1.0)
    generator = np.random.default_rng(1)
    imu = with_columns(imu, gyro_z=drift + 0.003 * generator.standard_normal(len(imu)))
    imu = with_yaw(imu, lambda _: drift * elapsed(imu))
    assert names(check(still, imu)) == []
    assert names(check(still, drop_columns(imu, *QUATERNION))) == []


def test_constant_reference_is_distinguished_from_drift():
    reference, imu = made_drive()
    result = check(standing_drive(reference), imu)
    assert names(result) == [faults.DROPPED_AXIS]
    assert result.critical
    result = check(frozen(reference, ("x", "y", *QUATERNION)), imu)
    assert names(result) == [faults.FROZEN]
    assert "for the first time at 30.0 s" in result.findings[0].evidence


def round_and_round(imu_sense):
    reference, imu = made_drive()
    rate = np.radians(20.0)
    turned = with_yaw(reference, lambda _: rate * elapsed(reference))
    yaw = rate * elapsed(reference)
    turned = with_columns(turned, x=2.0 * np.sin(yaw), y=-2.0 * np.cos(yaw))
    imu = with_yaw(imu, lambda _: imu_sense * rate * elapsed(imu))
    generator = np.random.default_rng(1)
    imu = with_columns(imu, gyro_z=rate + 0.003 * generator.standard_normal(len(imu)))
    return check(turned, imu)


def test_mirrored_yaw_is_detected_on_steady_circle():
    # The IMU has no errors.
    assert names(round_and_round(1.0)) == [faults.NOT_INDEPENDENT]
    result = round_and_round(-1.0)
    assert faults.MIRRORED_YAW in result.critical[0].fault


@pytest.mark.parametrize("factor, expected", [(1.0, []), (16.4, [faults.SCALE])])
def test_gyroscope_in_counts_is_grave_finding_if_only_course_is_available(factor, expected):
    reference, imu = made_drive()
    counts = scaled(drop_columns(imu, *QUATERNION), GYRO, factor)
    conventions = ReferenceConventions(), ImuConventions()
    poses = Interpretation(reference, None, *conventions).reference_poses
    positions = drop_columns(reference, *QUATERNION)
    result = RecordingCheck()
    diagnose(result, Interpretation(positions, counts, *conventions, fixes=poses))
    assert names(result) == expected
    assert all(finding.is_critical and "gyro_z" in finding.remedy for finding in result.findings)


def test_faulty_gyroscope_is_only_a_warning_if_orientation_is_available():
    reference, imu = made_drive()
    generator = np.random.default_rng(1)
    for broken in (
        constant(imu, ("gyro_z",), (0.0,)),
        with_columns(imu, gyro_z=0.001 * generator.standard_normal(len(imu))),
        with_columns(imu, gyro_x=imu.columns["gyro_z"], gyro_z=imu.columns["gyro_x"]),
    ):
        result = check(reference, broken)
        assert names(result)
        assert not result.critical
        # Without an orientation, the yaw would be integrated from the gyroscope.
        assert check(reference, drop_columns(broken, *QUATERNION)).critical


def test_reference_file_is_rejected_as_imu_of_same_recording():
    reference, _ = made_drive()
    result = check(reference, drop_columns(reference, "x", "y"))
    assert names(result) == [faults.SAME_YAW]
    assert result.critical
    # An independent orientation is accepted; a suspiciously accurate one is reported.
    other = with_yaw(reference, lambda yaw: yaw + 1e-6 * np.sin(elapsed(reference)))
    result = check(reference, drop_columns(other, "x", "y"))
    assert names(result) == [faults.NOT_INDEPENDENT]
    assert not result.critical


def test_antenna_heading_is_not_treated_as_course():
    reference, imu = made_drive()
    interpretation = Interpretation(
        reference, imu, ReferenceConventions(), ImuConventions(), fixes=object()
    )
    assert not interpretation.course_is_yaw
    yaw = drop_columns(with_columns(reference, yaw=elapsed(reference)), *QUATERNION)
    assert not replace(interpretation, reference=yaw).course_is_yaw
    assert replace(interpretation, reference=drop_columns(reference, *QUATERNION)).course_is_yaw


@pytest.mark.parametrize("factor", [0.5, 2.0, 180.0 / np.pi])
def test_quaternion_computed_from_scaled_yaw_is_reported(factor):
    """Some programs write sin(yaw) instead of sin(yaw / 2), or the sine of degrees."""
    reference, imu = made_drive()
    wrong = with_yaw(imu, lambda yaw: factor * np.unwrap(yaw))
    result = check(reference, wrong)
    assert names(result) == [faults.SCALE]
    assert result.findings[0].is_critical
    assert "the IMU's yaw turns" in result.findings[0].evidence
    assert "fused" in result.findings[0].sentence()


def test_lagging_yaw_with_reduced_amplitude_is_not_reported_as_fault():
    """An IMU that weights its magnetometer above its gyroscope reduces amplitudes."""
    reference, imu = made_drive()
    times = elapsed(imu)

    def slow(yaw):
        # All yaw changes are nearly halved, except the net turn of the drive.
        yaw = np.unwrap(yaw)
        steady = yaw[0] + (yaw[-1] - yaw[0]) * times / times[-1]
        return steady + 0.55 * (yaw - steady)

    assert names(check(reference, with_yaw(imu, slow))) == []
