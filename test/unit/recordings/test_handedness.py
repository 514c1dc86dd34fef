"""Detection of a mirrored gyroscope or reference from the lateral acceleration in curves."""

import numpy as np
import pytest
from drive_recordings import drive
from injected_faults import check, clockwise_from_north, constant, drop_columns, exchanged, scaled
from scipy.spatial.transform import Rotation
from test_turned_sensors import PORTRAIT, turned

from imu_simulation_framework.core.tables import ACCEL, GYRO, QUATERNION
from imu_simulation_framework.recordings.plausibility import findings as faults


def speed_in_traffic(times):
    """Return the speed [m/s] of a vehicle that accelerates and brakes, but never reverses."""
    return 2.0 + 1.2 * np.sin(0.8 * times) + 0.5 * np.sin(0.37 * times + 2.0)


def traffic_drive(seed=1):
    return drive(seed=seed, speed=speed_in_traffic)


def unchanged(imu):
    return imu


def turned_about_vertical(degrees):
    """Return a function that rotates the sensor so that its x axis points sideways or backwards."""
    rotation = Rotation.from_euler("z", degrees, degrees=True)
    return lambda imu: turned(imu, rotation)


def bare(imu):
    return drop_columns(imu, *QUATERNION)


def lateral_of(result):
    return result.as_configured.lateral


@pytest.mark.parametrize("degrees", [0.0, 90.0, 180.0, 215.0])
@pytest.mark.parametrize(("gyroscope", "sense"), [(1.0, 1.0), (-1.0, -1.0)])
@pytest.mark.parametrize("accelerometer", [1.0, -1.0], ids=["reaction", "gravity"])
def test_gyroscope_handedness_is_detected_for_any_mounting(
    degrees, gyroscope, sense, accelerometer
):
    reference, imu = traffic_drive()
    imu = bare(turned_about_vertical(degrees)(imu))
    imu = scaled(scaled(imu, GYRO, gyroscope), ACCEL, accelerometer)
    # The directions of longitudinal and lateral acceleration are 90 deg apart, up to noise.
    assert lateral_of(check(reference, imu)).sine == pytest.approx(sense, abs=0.02)


def test_mirrored_reference_does_not_change_detected_gyroscope_handedness():
    reference, imu = traffic_drive()
    lateral = lateral_of(check(clockwise_from_north(reference), imu))
    assert lateral.sine == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize(
    "recording",
    [
        pytest.param(lambda: drive(), id="constant speed"),
        pytest.param(lambda: drive(speed=lambda times: 2.0 * np.sin(0.8 * times)), id="to and fro"),
    ],
)
def test_inconclusive_motion_does_not_determine_handedness(recording):
    assert lateral_of(check(*recording())) is None


def test_handedness_is_undetermined_without_accelerometer():
    reference, imu = traffic_drive()
    assert lateral_of(check(reference, drop_columns(imu, *ACCEL))) is None


@pytest.mark.parametrize("mount", [unchanged, turned_about_vertical(180.0)], ids=["ahead", "back"])
def test_wrong_gyroscope_sign_is_detected_from_lateral_acceleration(mount):
    reference, imu = traffic_drive()
    (finding,) = check(reference, scaled(bare(mount(imu)), GYRO, -1.0)).findings
    assert finding.fault == faults.MIRRORED_GYRO and not finding.readings


def test_mirrored_reference_is_detected_from_lateral_acceleration():
    reference, imu = traffic_drive()
    mirrored = clockwise_from_north(exchanged(reference, "x", "y"))
    for sensor in (imu, bare(imu)):
        (finding,) = check(mirrored, sensor).findings
        assert finding.settings == (("reference", "frame", "ned"),)


def test_mirrored_yaw_and_gyroscope_are_detected_from_lateral_acceleration():
    reference, imu = traffic_drive()
    (finding,) = check(reference, scaled(clockwise_from_north(imu), GYRO, -1.0)).findings
    assert finding.fault == f"{faults.MIRRORED_YAW} and {faults.MIRRORED_GYRO}"


def test_sensor_with_downward_z_axis_that_outputs_gravity_is_detected():
    reference, imu = traffic_drive()
    frd_samples = scaled(bare(imu), (*GYRO[1:], *ACCEL[1:]), -1.0)
    (finding,) = check(reference, scaled(frd_samples, ACCEL, -1.0)).findings
    settings = {key: value for _, key, value in finding.settings}
    assert settings == {"frame": "ned", "accel_convention": "gravity"}


@pytest.mark.parametrize("imu", [unchanged, bare], ids=["orientation", "bare"])
def test_mirrored_yaw_at_constant_speed_is_reported_with_both_interpretations(
    imu,
):
    reference, sensor = drive()
    mirrored = clockwise_from_north(exchanged(reference, "x", "y"))
    (finding,) = check(mirrored, imu(sensor)).findings
    assert len(finding.readings) == 2 and not finding.settings


def test_lateral_acceleration_determines_axes_of_upright_phone():
    reference, imu = traffic_drive()
    upright = bare(turned(imu, PORTRAIT))
    (finding,) = check(reference, scaled(upright, GYRO, -1.0)).findings
    assert finding.fault == faults.MIRRORED_GYRO
    assert "contradicts the lateral acceleration" in finding.evidence
    (finding,) = check(reference, scaled(upright, ACCEL, -1.0)).findings
    assert finding.fault == faults.ACCELERATION_SIGN
    assert "accel_convention" in finding.sentence()


def test_inverted_accelerometer_of_upright_phone_is_ambiguous_without_path():
    reference, imu = traffic_drive()
    imu = scaled(bare(turned(imu, PORTRAIT)), ACCEL, -1.0)
    (finding,) = check(constant(reference, ("x", "y"), (0.0, 0.0)), imu).findings
    # Without positions, the speed is unknown, so the fault remains ambiguous.
    assert finding.fault == faults.AMBIGUOUS_VERTICAL and not finding.settings
