"""Evidence for units of angular rates and specific forces: confirmed, rejected or undecided."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.core.tables import ACCEL, GYRO, QUATERNION
from imu_simulation_framework.recordings.evidence import collect_evidence
from imu_simulation_framework.recordings.possible_units import (
    fitting_force_units,
    fitting_units,
    rate_units,
)
from imu_simulation_framework.recordings.reading import read_imu, read_imu_samples

RATE = 50.0  # Hz
GRAVITY = 9.80665  # m/s^2
DEGREE = np.pi / 180.0


def make_motion(seed=1):
    """Simulate times, angular rates, specific forces and quaternions of a hand-held sensor."""
    generator = np.random.default_rng(seed)
    times = np.arange(0.0, 60.0, 1.0 / RATE)
    angles = np.sin(2.0 * np.pi * np.outer(times, [0.11, 0.17, 0.23])) * [0.7, 0.5, 1.2]
    attitude = Rotation.from_euler("xyz", angles)
    rates = np.zeros((len(times), 3))
    rates[1:] = (attitude[:-1].inv() * attitude[1:]).as_rotvec() * RATE
    forces = attitude.inv().apply([0.0, 0.0, GRAVITY]) + 0.05 * generator.normal(size=rates.shape)
    return times, rates, forces, attitude.as_quat()


def write_table(path, units, sizes, quaternions=True):
    """Write a table with ``units`` in its header, but values in units that are ``sizes`` in SI."""
    times, rates, forces, orientation = make_motion()
    columns = {"time [s]": times}
    for names, unit, size, vectors in zip((GYRO, ACCEL), units, sizes, (rates, forces)):
        columns.update(zip((f"{name} [{unit}]" for name in names), vectors.T / size))
    if quaternions:
        columns.update(zip(QUATERNION, orientation.T))
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("quaternions", [False, True])
@pytest.mark.parametrize(
    ("units", "sizes", "key", "fitting"),
    [
        (("rad/s", "m/s^2"), (DEGREE, 1.0), "gyro_x", "[deg/s]"),
        (("deg/s", "m/s^2"), (1.0, 1.0), "gyro_x", "[rad/s]"),
        (("rad/s", "m/s^2"), (1.0, GRAVITY), "accel_x", "[g]"),
        (("rad/s", "g"), (1.0, 1.0), "accel_x", "[m/s^2]"),
        (("rad/s", "g"), (1.0, 1e-3 * GRAVITY), "accel_x", "[mg]"),
    ],
)
def test_wrong_unit_in_header_is_rejected_and_matching_unit_is_suggested(
    tmp_path, units, sizes, key, fitting, quaternions
):
    path = write_table(tmp_path / "a.csv", units, sizes, quaternions)
    for read in (read_imu_samples, read_imu):
        with pytest.raises(RecordingError) as refusal:
            read(path)
        assert key in str(refusal.value) and fitting in str(refusal.value)
    assert len(read_imu_samples(path, check_units=False)) == 3000


@pytest.mark.parametrize(
    ("units", "sizes"),
    [
        (("rad/s", "m/s^2"), (1.0, 1.0)),
        (("deg/s", "g"), (DEGREE, GRAVITY)),
        (("mdeg/s", "mg"), (1e-3 * DEGREE, 1e-3 * GRAVITY)),
    ],
)
def test_correct_unit_in_header_is_confirmed_by_each_check(tmp_path, units, sizes):
    samples = read_imu_samples(write_table(tmp_path / "a.csv", units, sizes))
    checks = collect_evidence(samples).checks
    assert [check.verdict for check in checks] == ["confirmed"] * 3
    assert [check.quantities for check in checks] == [ACCEL, GYRO, GYRO]


def test_angular_rates_confirmed_by_gravity_are_accepted_despite_wrong_orientation(tmp_path):
    # Angles in radians under a header in degrees describe only 1/57 of the rotation.
    times, rates, forces, orientation = make_motion()
    angles = Rotation.from_quat(orientation).as_euler("ZYX")[:, ::-1]
    columns = {"time [s]": times, **dict(zip((f"{name} [rad/s]" for name in GYRO), rates.T))}
    columns.update(zip((f"{name} [m/s^2]" for name in ACCEL), forces.T))
    columns.update(zip((f"{name} [deg]" for name in ("roll", "pitch", "yaw")), angles.T))
    path = tmp_path / "a.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    evidence = collect_evidence(read_imu_samples(path))
    assert [check.verdict for check in evidence.checks] == ["confirmed", "rejected", "confirmed"]
    assert evidence.refused == ()


def test_specific_force_unit_is_undecided_at_lunar_gravity(tmp_path):
    path = write_table(tmp_path / "a.csv", ("rad/s", "m/s^2"), (1.0, 6.0))
    accel = collect_evidence(read_imu_samples(path)).checks[0]
    assert (accel.quantities, accel.verdict) == (ACCEL, "undecided")


@pytest.mark.parametrize(
    ("size", "is_counted", "written"),
    [
        (1.1, False, " [rad/s]"),
        (0.016, False, " [deg/s]"),
        (50.5, False, " * 50 [rad/s]"),
        (DEGREE / 65.5, True, " / 65.5 [deg/s]"),
        (1e-3 * DEGREE, True, " [mdeg/s]"),
    ],
)
def test_unit_nearest_to_measured_ratio_is_chosen(size, is_counted, written):
    assert fitting_units(rate_units(RATE, is_counted), size)[0].written() == written


def test_noisy_ratio_is_compatible_with_several_units():
    written = {unit.written() for unit in fitting_units(rate_units(RATE, True), 1e-3, 4.0)}
    assert {" [mrad/s]", " / 16.4 [deg/s]", " / 16 [deg/s]"} <= written
    assert " [deg/s]" not in written


def test_acceleration_without_gravity_is_not_read_as_velocity_increment():
    forces = 0.13 * np.random.default_rng(8).standard_normal((1000, 3))
    assert fitting_force_units(forces, RATE) == []
