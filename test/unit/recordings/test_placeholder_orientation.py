"""Placeholder orientations, which are not used as reference yaw."""

import numpy as np
import pandas as pd
import pytest

from imu_simulation_framework.recordings.reading import read_reference

TIMES = np.arange(0.0, 60.0, 0.1)


def read_poses(tmp_path, x, y, yaw):
    half = 0.5 * np.broadcast_to(yaw, TIMES.shape)
    zero = np.zeros_like(TIMES)
    poses = np.column_stack([TIMES, x, y, zero, zero, zero, np.sin(half), np.cos(half)])
    np.savetxt(tmp_path / "poses.tum", poses, fmt="%.9f")
    recorded = read_reference(tmp_path / "poses.tum")
    return recorded, [remark for remark in recorded.report.remarks if "placeholder" in remark]


@pytest.mark.parametrize("yaw", [0.0, 0.5 * np.pi])
def test_constant_orientation_on_curved_path_is_replaced_by_course(tmp_path, yaw):
    turn_rate, radius = 0.1, 5.0  # rad/s, m
    angle = turn_rate * TIMES
    recorded, remarks = read_poses(
        tmp_path, radius * np.sin(angle), radius * (1.0 - np.cos(angle)), yaw
    )
    assert len(remarks) == 1
    known = recorded.table[recorded.table["yaw_known"] == 1.0]
    # On a circle, the course follows the angle; path smoothing adds at most 1.1 deg rms.
    difference = known["yaw"] - turn_rate * known.index.to_numpy()
    assert len(known) > 0.9 * len(TIMES)
    assert np.degrees(np.sqrt(np.mean(difference**2))) < 2.0


def test_constant_orientation_on_straight_path_is_used(tmp_path):
    for sign in (1.0, np.sign(np.sin(0.2 * TIMES))):
        x = np.cumsum(np.broadcast_to(0.05 * sign, TIMES.shape))
        recorded, remarks = read_poses(tmp_path, x * np.cos(0.3), x * np.sin(0.3), 0.3)
        np.testing.assert_allclose(recorded.table["yaw"], 0.3, atol=1e-6)
        assert not remarks


def test_identity_quaternion_of_stationary_robot_is_used(tmp_path):
    noise = 0.01 * np.random.default_rng(1).normal(size=(2, len(TIMES)))
    recorded, remarks = read_poses(tmp_path, *noise, 0.0)
    assert not remarks
    assert not recorded.table["yaw"].any()


def test_measured_orientation_on_curved_path_is_used(tmp_path):
    angle = 0.1 * TIMES
    recorded, remarks = read_poses(tmp_path, np.sin(angle), 1.0 - np.cos(angle), angle + 0.2)
    np.testing.assert_allclose(recorded.table["yaw"], angle + 0.2, atol=1e-6)
    assert not remarks


def test_constant_yaw_column_on_curved_path_is_replaced_by_course(tmp_path):
    angle = 0.1 * TIMES
    columns = {"time": TIMES, "x": 5.0 * np.sin(angle), "y": -5.0 * np.cos(angle), "yaw": 0.0}
    pd.DataFrame(columns).to_csv(tmp_path / "poses.csv", index=False)
    table = read_reference(tmp_path / "poses.csv").table
    assert np.degrees(np.ptp(table["yaw"])) == pytest.approx(np.degrees(angle[-1]), abs=10.0)
