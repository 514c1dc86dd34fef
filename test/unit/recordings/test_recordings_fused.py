"""Orientation fusion for IMUs that were recorded without an orientation."""

import math

import numpy as np
import pytest
import recording_writers as writers
from scipy.spatial.transform import Rotation

import imu_simulation_framework as isf
from imu_simulation_framework.recordings.frames import ImuConventions
from imu_simulation_framework.recordings.imu import fused_angles, integral

RATE, COUNT = 50.0, 1500
TIMES = np.arange(COUNT) / RATE
START = 1_500_000_000 * 10**9
STAMPS = [START + round(1e9 * time) for time in TIMES]
TURNED = 1.5 * np.sin(0.4 * TIMES) + 0.05 * TIMES
RATES = np.column_stack([np.zeros((COUNT, 2)), 0.6 * np.cos(0.4 * TIMES) + 0.05])
UP = np.tile([0.0, 0.0, 9.8], (COUNT, 1))
OUTPUT = isf.OutputSpecification()


def written(tmp_path, gyro=RATES, accel=UP, orientation=(0.0,) * 4, stamps=STAMPS, unknown=()):
    messages = [
        writers.imu(stamp, orientation, gyro[k], accel[k], unknown)
        for k, stamp in enumerate(stamps)
    ]
    return writers.write_bag(tmp_path / "a.bag", {"/imu/data_raw": messages})


@pytest.mark.parametrize("filter", ["mahony", "vqf"])
@pytest.mark.parametrize("orientation", [(0.0,) * 4, (0.0, 0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0)])
def test_unset_orientation_is_replaced_by_fused_orientation(tmp_path, filter, orientation):
    path = written(tmp_path, orientation=orientation)
    conventions = ImuConventions(filter=filter, filter_time_constant=2.0)
    recorded = isf.read_imu(path, conventions=conventions)
    # The trapezoidal rule has an error of h^2 / 12 times the change of slope, 1e-5.
    assert recorded.table["yaw"].to_numpy() == pytest.approx(TURNED, abs=2e-5)
    assert recorded.table[["roll", "pitch"]].to_numpy() == pytest.approx(np.zeros((COUNT, 2)))
    assert list(recorded.table.columns)[:4] == ["roll", "pitch", "yaw", "gyro_x"]
    report = recorded.report
    assert (report.orientation_source, report.absent) == ("fused", ("orientation",))
    assert report.to_dict()["fusion"] == {
        "filter": filter,
        "filter_time_constant": 2.0,
        "filter_rate_bias": False,
    }
    assert any(f"by the filter {filter} with a time constant of 2 s" in r for r in report.remarks)


def test_orientation_setting_selects_fused_or_recorded_orientation(tmp_path):
    tilted = tuple(Rotation.from_euler("Z", 0.3).as_quat())
    path = written(tmp_path, orientation=tilted)
    recorded = isf.read_imu(path)
    assert recorded.table["yaw"].to_numpy() == pytest.approx(np.full(COUNT, 0.3))
    assert recorded.report.orientation_source == "recorded"
    assert recorded.report.remarks == ()
    fused = isf.read_imu(path, conventions=ImuConventions(orientation="fused"))
    assert fused.table["yaw"].to_numpy() == pytest.approx(TURNED, abs=2e-5)
    assert (fused.report.orientation_source, fused.report.absent) == ("fused", ())
    path = written(tmp_path, orientation=(0.0, 0.0, 0.0, 1.0))
    recorded = isf.read_imu(path, conventions=ImuConventions(orientation="recorded"))
    assert recorded.table["yaw"].to_numpy() == pytest.approx(np.zeros(COUNT))
    recorded = isf.read_imu(written(tmp_path), require=("gyro", "accel"))
    assert "yaw" not in recorded.table
    assert recorded.report.orientation_source == ""


def test_imu_mounted_on_side_is_rotated_before_fusion(tmp_path):
    mounting = (math.pi / 2.0, 0.0, 0.4)
    back = Rotation.from_euler("ZYX", mounting[::-1]).inv()
    path = written(tmp_path, back.apply(RATES), back.apply(UP))
    recorded = isf.read_imu(
        path, conventions=ImuConventions(mounting_roll=mounting[0], mounting_yaw=mounting[2])
    )
    assert recorded.table["yaw"].to_numpy() == pytest.approx(TURNED, abs=2e-5)
    assert recorded.table["roll"].to_numpy() == pytest.approx(np.zeros(COUNT), abs=1e-9)


@pytest.mark.parametrize(
    ("accel", "unknown", "why"),
    [
        (UP, ("accel",), "there is no accelerometer"),
        (0.01 * UP, (), "does not show gravity (usual output: 0.10 m/s^2"),
    ],
)
def test_yaw_without_accelerometer_is_integrated_rate(tmp_path, accel, unknown, why):
    recorded = isf.read_imu(written(tmp_path, accel=accel, unknown=unknown))
    assert recorded.table["yaw"].to_numpy() == pytest.approx(TURNED, abs=2e-5)
    assert np.array_equal(recorded.table["roll"], np.zeros(COUNT))
    assert recorded.report.orientation_source == "integrated"
    assert any(
        why in remark and "assumed to be vertical" in remark for remark in recorded.report.remarks
    )


def test_gap_in_fused_orientation_is_interpolated_and_reported(tmp_path):
    keep = (TIMES < 10.0) | (TIMES > 10.6)
    path = written(
        tmp_path, RATES[keep], UP[keep], stamps=[s for s, kept in zip(STAMPS, keep) if kept]
    )
    recorded = isf.read_imu(path)
    # The chord across 0.64 s has an error of 0.64^3 / 12 times the rate's curvature, 0.1: 2e-3.
    assert recorded.table["yaw"].to_numpy() == pytest.approx(TURNED[keep], abs=3e-3)
    (remark,) = recorded.report.remarks[1:]
    assert "the rate is interpolated in gaps (longest: 0.640 s)" in remark


def test_stamp_jitter_does_not_change_integrated_angle():
    """The rate is constant; stamps jitter by up to half a step, or arrive in bursts."""
    random = np.random.default_rng(4)
    rates = np.tile([0.0, 0.0, 0.7], (COUNT, 1))
    jitter = TIMES + random.uniform(-0.45, 0.45, COUNT) / RATE
    bursts = np.repeat(TIMES[::10], 10) + np.tile(np.arange(10), COUNT // 10) * 1e-4
    for times in (jitter, bursts):
        angles = fused_angles(times, rates, UP, OUTPUT)
        assert angles[:, 2] == pytest.approx(0.7 * (times - times[0]), abs=1e-9)


def test_fusion_starts_at_tilt_measured_by_accelerometer():
    tilt = Rotation.from_euler("ZYX", [0.0, 0.2, -0.3])
    angles = fused_angles(TIMES, np.zeros((COUNT, 3)), tilt.inv().apply(UP), OUTPUT)
    expected = np.tile([-0.3, 0.2, 0.0], (COUNT, 1))
    assert angles == pytest.approx(expected, abs=1e-9)


def test_trapezoidal_integral_is_exact_for_linear_rate():
    times = np.array([0.0, 0.1, 0.7, 1.0, 3.0])
    assert integral(times, 2.0 * times) == pytest.approx(times**2, abs=1e-15)
    columns = integral(times, np.column_stack([np.ones(5), times]))
    assert columns == pytest.approx(np.column_stack([times, times**2 / 2.0]), abs=1e-15)
