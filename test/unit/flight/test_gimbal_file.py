"""Reading of gimbals and joint angle tables from files."""

import numpy as np
import pytest
import yaml
from refusals import require_refused

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.yaml_files import bundled_names
from imu_simulation_framework.flight.gimbal.specification import gimbal_to_mapping, read_joint_table

LOOPED = isf.GimbalSpecification(
    "looped",
    isf.GimbalGeometry((0.5, 0.0, -0.4), (0.0, 0.1, 0.0), (0.1, 0.0, 0.0)),
    isf.Stabilisation(
        isf.PointOnEarth(50.0, 14.0, 200.0), "down", 3.0, 0.8, 15.0, (1.0, 2.0, 3.0), 10.0
    ),
    ((-3.0, 3.0), (-1.0, 0.5), (0.0, 0.0)),
)


@pytest.mark.parametrize(
    "gimbal",
    [
        isf.GimbalSpecification("fixed", drive=isf.FixedJoints((0.1, 0.2, 0.3))),
        isf.GimbalSpecification(
            "swings", drive=isf.SinusoidalJoints((0.1, 0.2, 0.3), (1.0, 2.0, 3.0), (0.1, 0.0, 0.0))
        ),
        isf.GimbalSpecification(
            "told", drive=isf.TabulatedJoints((0.0, 1.0), ((0.0, 0.1, 0.2), (0.3, 0.4, 0.5)), "a")
        ),
        LOOPED,
        isf.GimbalSpecification("one_end", limits=((None, 1.0), (-1.0, None), (-0.5, None))),
    ],
    ids=lambda gimbal: gimbal.name,
)
def test_gimbal_file_round_trips(tmp_path, gimbal):
    path = tmp_path / "gimbal.yaml"
    path.write_text(yaml.safe_dump(gimbal_to_mapping(gimbal)))
    assert isf.read_gimbal(path) == gimbal


def test_gimbal_file_matches_constructed_gimbal(tmp_path):
    path = tmp_path / "looped.yaml"
    path.write_text(
        "body_to_pan: [0.5, 0, -0.4]\nbase: [0, 0.1, 0]\npan_to_tilt: [0.1, 0, 0]\n"
        "limits: {pan: [-3, 3], tilt: [-1, 0.5], roll: [0, 0]}\n"
        "stabilisation:\n"
        "  point: {latitude: 50, longitude: 14, height: 200}\n"
        "  boresight: down\n  bandwidth: 3\n  damping: 0.8\n  servo_bandwidth: 15\n"
        "  rate_limits: [1, 2, 3]\n  aid_time: 10\n"
    )
    assert isf.read_gimbal(path) == LOOPED


@pytest.mark.parametrize("name", bundled_names("gimbals"))
def test_bundled_gimbals_move_imu(name):
    gimbal = isf.read_gimbal(name)
    assert gimbal.name == name
    found = isf.simulate_gimbal(isf.at_rest(5.0, 100.0), gimbal)
    assert np.all(np.isfinite(found.motion.specific_force))
    if found.residual is not None:
        assert found.residual.largest_pointing_error < 1e-3


def test_bundled_gimbal_matches_paper_and_unknown_names_are_rejected():
    gimbal = isf.read_gimbal("agisim")
    assert gimbal.drive.periods == (4.0, 6.0, 10.0)
    np.testing.assert_allclose(gimbal.drive.amplitudes, (np.pi / 6, np.pi / 6, np.pi / 12))
    arms = gimbal.geometry.pan_to_tilt, gimbal.geometry.tilt_to_roll
    assert [np.linalg.norm(arm) for arm in arms] == [0.1, 0.1]
    with pytest.raises(ConfigurationError, match="nor the name of a gimbal; .*: agisim, "):
        isf.read_gimbal("agsim")


@pytest.mark.parametrize(
    "text, message",
    [
        ("arm: 3", "the gimbal has the unknown key 'arm'"),
        ("fixed: [1, 2]", "fixed: angles is \\[1, 2\\], expected a list of 3 numbers"),
        ("fixed: [0, 0, 0]\nsinusoid: {}", "has fixed and sinusoid, expected"),
        ("sinusoid: {periods: [0, 1, 1]}", "sinusoid.periods is 0, expected"),
        ("limits: {pan: [1, -1]}", "limits of pan are 1 rad and -1 rad"),
        ("stabilisation: {boresight: up}", "stabilisation.boresight is 'up', expected"),
        ("stabilisation: {hold: {}, point: {}}", "stabilisation has hold and point, expected"),
        ("stabilisation: {point: {latitude: 95}}", "stabilisation.point.latitude is 95"),
        ("table: {times: [0, 1]}", "table lacks the key angles"),
    ],
)
def test_invalid_gimbal_is_rejected_with_file_name(tmp_path, text, message):
    require_refused(isf.read_gimbal, tmp_path / "wrong.yaml", text, message)


ROWS = ["time,pan,tilt,roll", *(f"{0.5 * k},{0.01 * k},0.2,-0.1" for k in range(40))]


def test_joint_table_path_is_relative_to_gimbal_file(tmp_path):
    (tmp_path / "angles.csv").write_text("\n".join(ROWS) + "\n")
    path = tmp_path / "told.yaml"
    path.write_text("table: nowhere.csv\n")
    with pytest.raises(ConfigurationError, match="nowhere.csv: cannot be read"):
        isf.read_gimbal(path)
    path.write_text("table: angles.csv\n")
    found = isf.simulate_gimbal(isf.at_rest(10.0, 100.0), isf.read_gimbal(path))
    np.testing.assert_allclose(found.joints.angle[150], (0.03, 0.2, -0.1), atol=1e-12)
    np.testing.assert_allclose(found.joints.rate[:, 0], 0.02, atol=1e-9)


def _with(line, text):
    rows = list(ROWS)
    rows[line - 1] = text
    return rows


@pytest.mark.parametrize(
    "rows, message",
    [
        (_with(7, "2.5,nan,0.2,0.1"), "line 7, column pan: the angle is nan"),
        (_with(7, "2.5,0.1,0.1"), "line 7: has 3 values, expected 4"),
        (_with(7, "2.0,0.1,0.1,0.1"), "line 7, column time: must increase"),
        (_with(1, "time,pan,tilt,yaw"), "line 1: column roll is missing, expected time, pan"),
        (ROWS[:10] + ROWS[35:], "line 11: the step to this time is 13 s"),
        (ROWS[:2], "has 1 rows of angles"),
    ],
)
def test_invalid_joint_table_is_rejected_with_line_number(tmp_path, rows, message):
    text = "\n".join(rows) + "\n"
    require_refused(read_joint_table, tmp_path / "angles.csv", text, rf"angles.csv: .*{message}.*")
