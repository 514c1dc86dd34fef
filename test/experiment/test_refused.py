"""Rejected experiments: exit code 2, one message, no node and no incomplete file."""

import re
import socket
import sys
from pathlib import Path

import drive_recordings as drives
import pytest
import recording_writers as writers
from experiment_process import DROPPED_VARIABLES, environment_of
from injected_faults import clockwise_from_north
from reservations import reserved_port

from imu_simulation_framework.core.programs import run_tool
from imu_simulation_framework.ros1.entry_points import launch_experiment
from imu_simulation_framework.ros1.launching import launcher

COUNT = 100
STAMPS = [1_500_000_000 * 10**9 + 100_000_000 * k for k in range(COUNT)]
IDENTITY = (0.0, 0.0, 0.0, 1.0)


def odometry():
    return [writers.odometry(t, (0.05 * k, 0.0, 0.0), IDENTITY) for k, t in enumerate(STAMPS)]


def imu(stamps=STAMPS):
    return [writers.imu(stamp, IDENTITY, (0.0,) * 3, (0.0, 0.0, 9.8)) for stamp in stamps]


ALL = {"odom": odometry(), "imu": imu()}


@pytest.fixture
def refused(tmp_path, monkeypatch, capsys):
    """Return a function that asserts that arguments are rejected with one message."""
    for name, value in environment_of(tmp_path, "http://127.0.0.1:1").items():
        monkeypatch.setenv(name, value)
    for name in DROPPED_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["run_experiment.py"])
    monkeypatch.setattr(
        launcher, "run", lambda *_: pytest.fail("nodes were started, expected a rejection")
    )

    def run(*arguments, words):
        code = run_tool(launch_experiment, arguments)
        errors = capsys.readouterr().err
        assert code == 2, errors
        sentences = re.findall(r"^run_experiment\.py: (.*)$", errors, re.MULTILINE)
        assert len(sentences) == 1, errors
        missing = [word for word in words if str(word) not in sentences[0]]
        assert not missing, errors
        for path in Path(tmp_path).rglob("*"):
            assert path.suffix not in (".part", ".active", ".tmp")
            assert not path.name.startswith(".")

    return run


LATER = [stamp + 3600 * 10**9 for stamp in STAMPS]


@pytest.mark.parametrize(
    ("topics", "settings", "words"),
    [
        ({}, "{reference: {topic: /odometry}}", ["/odometry", "/odom"]),
        ({"imu": imu(LATER)}, "", ["no overlap in time"]),
    ],
    ids=["wrong topic", "no overlap"],
)
def test_experiment_with_unusable_bag_is_rejected(refused, tmp_path, topics, settings, words):
    topics = {f"/{name}": content for name, content in {**ALL, **topics}.items()}
    # The receipt times increase from message to message, independently of the stamps.
    bag = writers.write_bag(tmp_path / "drive.bag", topics, receipt=STAMPS)
    refused(f"recording:={bag}", f"settings:={settings}", words=[bag, *words])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("record:=maybe", ["record:=maybe", "true, false"]),
        ("imux:=ideal", ["imux:=ideal", "name:=value"]),
        ("config:=mine.ini", ["mine.ini", "controler", "controller"]),
        ("imu:=hector settings:={imu_hector: {yaw_drif: 1}}", ["imu_hector", "yaw_drift"]),
        ("simulator:=mujoco imu:=published", ["[imu] model", "published"]),
        ("settings:={robot: {parameters: robot.yaml}}", ["robot.yaml", "radius"]),
        ("settings:={trajectory: {scale: 10.0}}", ["robot", "scale 1.2"]),
        ("odometer:=mine.yaml", ["[odometer] file: ", "mine.yaml", "unknown key 'wheel'"]),
        (
            "odometer:=mine.yaml imu:=published settings:={simulation: {simulator: external}}",
            ["[odometer] file is ", "mine.yaml", "MuJoCo"],
        ),
        ("recording:=nowhere.bag", ["nowhere.bag"]),
        # The output path is a file, because root may write to any folder.
        ("output:=empty.csv", ["empty.csv"]),
    ],
)
def test_invalid_experiment_argument_is_rejected(refused, tmp_path, arguments, words):
    (tmp_path / "mine.ini").write_text("[control]\ncontroler = yaw_pid\n")
    (tmp_path / "robot.yaml").write_text("wheel_radius: -1.0\n")
    (tmp_path / "mine.yaml").write_text("wheel: 0.1\n")
    (tmp_path / "empty.csv").write_text("")
    refused(*re.split(r" (?=\w+:=)", arguments), words=words)


def test_gazebo_experiment_is_rejected_while_another_gzserver_runs(refused, monkeypatch):
    with reserved_port() as port, socket.create_server(("127.0.0.1", port)):
        uri = f"http://127.0.0.1:{port}"
        monkeypatch.setenv("GAZEBO_MASTER_URI", uri)
        refused("simulator:=gazebo", words=["gzserver", uri])


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory):
    """Return a recorded drive with a clockwise yaw of the IMU."""
    reference, imu = drives.drive()
    path = tmp_path_factory.mktemp("mirrored") / "drive.bag"
    return drives.write_bag(path, reference, clockwise_from_north(imu))


SHORT = {"trajectory": {"stop": 4.0}}


def test_mirrored_yaw_is_rejected_with_remedy(experiment, mirrored):
    ended = experiment.run(f"recording:={mirrored}", settings=SHORT)
    assert ended.code == 2, ended.output
    assert "process[" not in ended.output
    assert not ended.has_traceback
    last = ended.lines[-1]
    assert last.startswith("run_experiment.py: ")
    for words in (
        str(mirrored),
        "mirrored yaw",
        "[imu_recording] yaw_convention = cw_from_north",
        "[experiment] accept_implausible = true",
    ):
        assert words in last, last
    assert not (experiment.directory / "experiment_results").exists()


def test_accepted_mirrored_yaw_is_reported_in_output_and_summary(experiment, mirrored):
    accepted = {**SHORT, "experiment": {"accept_implausible": True}}
    ended = experiment.run(f"recording:={mirrored}", settings=accepted)
    assert ended.code == 0, ended.output
    assert "mirrored yaw" in ended.output
    summary = ended.summary
    (finding,) = summary["run"]["recording"]["findings"]
    # An inverse quaternion would have the same effect on a level robot.
    assert finding["fault"].startswith("mirrored yaw")
    assert finding["is_critical"] is True
    assert finding["settings"] == [["imu_recording", "yaw_convention", "cw_from_north"]]
    assert finding["evidence"]
    # The recording is used without correction.
    assert summary["yaw_error"]["real"]["rms_rad"] > 0.1
