"""Sensors rotated about all axes, upright phones, and headings with scale factor errors."""

from dataclasses import replace

import numpy as np
import pytest
from drive_recordings import IMU_RATE, drive
from injected_faults import (
    check,
    clockwise_from_north,
    constant,
    drop_columns,
    elapsed,
    inverse,
    orientation,
    scaled,
    scaled_turns,
    with_columns,
    with_orientation,
    with_yaw,
)
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.tables import ACCEL, GYRO, QUATERNION
from imu_simulation_framework.recordings.frames import ImuConventions, ReferenceConventions
from imu_simulation_framework.recordings.plausibility import findings as faults
from imu_simulation_framework.recordings.plausibility.interpretation import Interpretation
from imu_simulation_framework.recordings.plausibility.symptoms import symptoms

PORTRAIT = Rotation.from_matrix([[0, -1, 0], [0, 0, 1], [-1, 0, 0]])
"""Rotation from forward-left-up to a phone's axes: right, up and outwards of the display."""

READING = Rotation.from_euler("x", -25.0, degrees=True) * PORTRAIT
ANY = Rotation.from_euler("ZYX", [20.0, 35.0, -120.0], degrees=True)
OTHER = Rotation.from_euler("ZYX", [70.0, -25.0, 40.0], degrees=True)
# rad; noise of a direction that is averaged over thousands of samples
ANGLE = 0.02


def carried(lean=6.0):
    """Return the reference and the IMU of a body that also rolls and pitches by ``lean`` [deg]."""
    reference, imu = drive()
    imu_orientation = leaning(imu, lean)
    turns = (imu_orientation[:-1].inv() * imu_orientation[1:]).as_rotvec() * IMU_RATE
    generator = np.random.default_rng(3)
    rates = np.vstack([turns, turns[-1]]) + 0.003 * generator.standard_normal((len(imu), 3))
    forces = imu_orientation.inv().apply([0.0, 0.0, 9.81]) + 0.3 * generator.standard_normal(
        rates.shape
    )
    vectors = {**dict(zip(GYRO, rates.T)), **dict(zip(ACCEL, forces.T))}
    return (
        with_orientation(reference, leaning(reference, lean)),
        with_orientation(with_columns(imu, **vectors), imu_orientation),
    )


def leaning(samples, degrees):
    times, size = elapsed(samples), np.radians(degrees)
    yaw = np.unwrap(orientation(samples).as_euler("ZYX")[:, 0])
    roll = size * (np.sin(1.9 * times) + 0.5 * np.sin(0.4 * times))
    pitch = size * (0.7 * np.sin(1.3 * times + 1.0) + 0.4 * np.sin(0.23 * times))
    return Rotation.from_euler("ZYX", np.column_stack([yaw, pitch, roll]))


def turned(imu, turn):
    """Return the samples of a sensor whose axes are rotated from those of the robot."""
    for names in (GYRO, ACCEL):
        imu = with_columns(imu, **dict(zip(names, turn.apply(imu.matrix(names)).T)))
    return with_orientation(imu, orientation(imu) * turn.inv())


def bare(imu):
    return drop_columns(imu, *QUATERNION)


def ios(imu):
    return scaled(imu, ACCEL, -1.0)


def opposite_roll(imu):
    angles = orientation(imu).as_euler("ZYX") * [1.0, -1.0, -1.0]
    return with_orientation(imu, Rotation.from_euler("ZYX", angles))


def drop_path(reference):
    """Replace the positions by constants, so that no path indicates the turn direction."""
    return constant(reference, ("x", "y"), (0.0, 0.0))


def settings_of(result):
    return {key: value for finding in result.findings for _, key, value in finding.settings}


def mounting_of(settings):
    names = ("mounting_yaw", "mounting_pitch", "mounting_roll")
    return Rotation.from_euler("ZYX", [float(settings.get(name, 0.0)) for name in names])


def up_after(turn, settings):
    return mounting_of(settings).apply(turn.apply([0.0, 0.0, 1.0]))[2]


@pytest.mark.parametrize("imu", [lambda imu: imu, bare], ids=["orientation", "bare"])
@pytest.mark.parametrize(
    "recording",
    [pytest.param(drive, id="robot"), pytest.param(carried, id="carried", marks=pytest.mark.gate)],
)
@pytest.mark.parametrize("turn", [ANY, OTHER, READING], ids=["any", "other", "reading"])
def test_mounting_rotation_about_several_axes_is_estimated(recording, turn, imu):
    reference, straight = recording()
    rotated_imu = imu(turned(straight, turn))
    result = check(reference, rotated_imu)
    assert [finding.fault for finding in result.findings] == [faults.MOUNTING]
    settings = settings_of(result)
    assert up_after(turn, settings) > np.cos(ANGLE)
    changes = {key: float(value) for key, value in settings.items()}
    assert not check(reference, rotated_imu, **changes).findings


def test_rotated_sensor_axes_do_not_change_correct_orientation():
    reference, straight = carried()
    quaternions = {name: straight.columns[name] for name in QUATERNION}
    result = check(reference, with_columns(turned(straight, OTHER), **quaternions))
    assert [finding.fault for finding in result.findings] == [faults.SENSOR_AXES]
    assert not result.critical and not settings_of(result)


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["reaction", "gravity"])
@pytest.mark.parametrize("turn", [ANY, OTHER], ids=["any", "other"])
def test_mounting_rotation_about_three_axes_is_estimated_if_reference_tilts(turn, sign):
    reference, straight = carried(lean=40.0)
    result = check(reference, scaled(bare(turned(straight, turn)), ACCEL, sign))
    settings = settings_of(result)
    assert all(faults.MOUNTING in finding.fault for finding in result.findings)
    assert settings.pop("accel_convention", None) == (None if sign > 0.0 else "gravity")
    assert (mounting_of(settings) * turn).magnitude() < ANGLE


def test_tilting_body_with_aligned_sensor_has_no_finding():
    for lean in (0.0, 6.0, 20.0, 40.0, 80.0):
        reference, imu = carried(lean)
        assert not check(reference, bare(imu)).findings


@pytest.mark.parametrize("recording", [drive, carried], ids=["robot", "carried"])
@pytest.mark.parametrize("turn", [PORTRAIT, READING], ids=["up", "reading"])
def test_inverted_accelerometer_is_detected_from_phone_orientation(recording, turn):
    reference, straight = recording()
    result = check(reference, ios(turned(straight, turn)))
    settings = settings_of(result)
    assert settings["accel_convention"] == "gravity"
    assert up_after(turn, settings) > np.cos(np.radians(10.0))


@pytest.mark.parametrize(
    "inject",
    [
        lambda ref, imu: (ref, bare(ios(imu))),
        lambda ref, imu: (ref, opposite_roll(ios(imu))),
        lambda ref, imu: (ref, inverse(ios(imu))),
        lambda ref, imu: (ref, bare(scaled(imu, GYRO, -1.0))),
        lambda ref, imu: (clockwise_from_north(drop_path(ref)), imu),
        lambda ref, imu: (clockwise_from_north(drop_path(ref)), bare(imu)),
    ],
    ids=["bare", "opposite roll", "inverse", "gyroscope", "reference", "reference, bare"],
)
@pytest.mark.parametrize("turn", [PORTRAIT, READING], ids=["up", "reading"])
def test_ambiguous_vertical_is_reported_without_proposed_settings(turn, inject):
    reference, straight = drive()
    reference, imu = inject(reference, turned(straight, turn))
    (finding,) = check(reference, imu).findings
    assert finding.fault == faults.AMBIGUOUS_VERTICAL
    assert not finding.settings
    gravity, mirrored = finding.readings
    assert "outputs gravity" in gravity and "accelerometer is correct" in mirrored
    # If path and yaw turn in the same direction, the reference is correct.
    decided = "yaw of the reference" not in mirrored
    assert decided == bool(np.ptp(reference.columns["x"]) > 0.0)
    assert "accel_z is then +9.8" in finding.sentence()


@pytest.mark.parametrize("turn", [PORTRAIT, READING], ids=["up", "reading"])
def test_mirrored_reference_is_detected_from_path(turn):
    reference, straight = drive()
    result = check(clockwise_from_north(reference), turned(straight, turn))
    mirrored, mounting = result.findings
    assert mirrored.settings == (("reference", "yaw_convention", "cw_from_north"),)
    assert mounting.fault == faults.MOUNTING


def test_opposite_gyroscope_and_yaw_without_path_are_ambiguous():
    reference, imu = drive()
    (finding,) = check(drop_path(reference), bare(scaled(imu, GYRO, -1.0))).findings
    assert not finding.settings
    readings = " ".join(finding.readings)
    assert faults.MIRRORED_GYRO in readings and "[reference] yaw_convention" in readings


@pytest.mark.parametrize("factor", [0.92, 1.08])
@pytest.mark.parametrize("recording", [drive, carried], ids=["robot", "carried"])
def test_third_heading_identifies_wrong_scale_factor(recording, factor):
    def scaled_yaw(imu):
        return with_yaw(imu, lambda yaw: factor * yaw)

    reference, imu = recording()
    stretched = scaled_turns(reference, lambda times: np.full(len(times), factor))
    for samples, words in (
        ((reference, scaled(imu, GYRO, factor)), "the scale of the gyroscope is wrong"),
        ((reference, scaled_yaw(imu)), "the scale of the IMU's yaw is wrong"),
        # The IMU's yaw is usually integrated from its gyroscope, so their agreement proves nothing.
        ((stretched, imu), "scale of the reference or the IMU's yaw or the gyroscope is wrong"),
        ((reference, bare(scaled(imu, GYRO, factor))), "reference or the gyroscope is wrong"),
    ):
        result = check(*samples)
        (remark,) = result.remarks
        assert words in remark
        assert ("3600 deg" in remark) == (" or " in words)
        assert not result.findings


def test_headings_that_agree_within_noise_have_no_scale_factor_remark():
    for recording in (drive, carried):
        reference, imu = recording()
        assert not check(reference, imu).remarks
        assert not check(reference, scaled(imu, GYRO, 1.03)).remarks
        generator = np.random.default_rng(2)
        # If the noise equals the rates, the scale factor estimate is low, but not its upper bound.
        noise = 0.3 * generator.standard_normal(len(imu)) * np.sqrt(IMU_RATE)
        noisy = with_columns(imu, gyro_z=imu.columns["gyro_z"] + 0.3 * noise)
        assert not check(reference, noisy).remarks


def test_slightly_tilted_sensor_is_not_reported_as_scale_factor_error():
    reference, imu = drive()
    leaning_sensor = turned(imu, Rotation.from_euler("x", 22.0, degrees=True))
    (remark,) = check(reference, bare(leaning_sensor)).remarks
    assert "the sensor is tilted" in remark


def test_reference_with_horizontal_z_axis_is_reported_without_proposed_settings():
    # Reference and gyroscope turn about the same horizontal axis.
    reference, straight = drive()
    quarter = Rotation.from_euler("y", -90.0, degrees=True)
    forces = quarter.apply(straight.matrix(ACCEL))
    lying = with_columns(bare(straight), **dict(zip(ACCEL, forces.T)))
    result = check(drop_path(reference), lying)
    (finding,) = result.findings
    assert (
        finding.fault == faults.AMBIGUOUS_VERTICAL and finding.is_critical and not finding.settings
    )
    assert "its yaw is not a heading" in finding.sentence()


@pytest.mark.parametrize("down", [False, True])
def test_turns_opposite_to_noisy_reference_indicate_inverted_sensor(down):
    reference, straight = drive()
    turned_over = Rotation.from_euler("x", 180.0 if down else 0.0, degrees=True)
    observations = Interpretation(
        reference, bare(turned(straight, turned_over)), ReferenceConventions(), ImuConventions()
    ).observe()
    # The course is so noisy that it agrees with no interpretation.
    noisy = replace(observations.reference_gyro, correlation=-0.65, scale=-0.46)
    observations = replace(
        observations, reference_gyro=noisy, reference_imu=None, imu_gyro=None, path=None
    )
    mirrored = [
        finding for finding in symptoms(observations, True) if finding.fault == faults.MIRRORED_YAW
    ]
    assert [("sensor_axes = frd" in finding.remedy) for finding in mirrored] == [down]
