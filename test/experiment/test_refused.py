"""Bad input ends an experiment within seconds, with one sentence and nothing half-written."""

import math
import os
import re
import socket
import sys
from pathlib import Path

import drive_recordings as drives
import pytest
import recording_writers as writers
from experiment_process import NOT_HANDED_ON, environment_of
from planted_faults import clockwise_from_north

from imu_simulation_framework.core.programs import run_tool
from imu_simulation_framework.ros1.launching import launcher

COUNT = 100
STAMPS = [1_500_000_000 * 10**9 + 100_000_000 * k for k in range(COUNT)]
IDENTITY = (0.0, 0.0, 0.0, 1.0)
SECONDS = 180.0
"""Wall clock in which an experiment that cannot be done must have ended; on two busy cores."""


def odometry(stamps=STAMPS, position=None):
    places = (position or (0.05 * k, 0.0, 0.0) for k in range(COUNT))
    return [writers.odometry(stamp, place, IDENTITY) for stamp, place in zip(stamps, places)]


def imu(stamps=STAMPS):
    return [writers.imu(stamp, IDENTITY, (0.0,) * 3, (0.0, 0.0, 9.8)) for stamp in stamps]


ALL = {"odom": odometry(), "imu": imu()}


@pytest.fixture
def refused(experiment):
    """Run an experiment that must be refused with one sentence that has all these words."""

    def run(*arguments, words):
        ended = experiment.run(*arguments, timeout=SECONDS)
        assert ended.code in (1, 2), ended.output
        assert not ended.has_traceback
        assert_said_once(ended.fatal_sentences, words, ended.output)
        assert_whole(experiment.directory)
        return ended

    return run


@pytest.fixture
def refused_at_once(tmp_path, monkeypatch, capsys):
    """The same for what is found before anything starts; in this process, many times cheaper."""
    for name, value in environment_of(tmp_path, "http://127.0.0.1:1").items():
        monkeypatch.setenv(name, value)
    for name in NOT_HANDED_ON:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["run_experiment.py"])
    monkeypatch.setattr(launcher, "run", lambda *_: pytest.fail("nodes would have been started"))

    def run(*arguments, words):
        code = run_tool(launcher.main, arguments)
        errors = capsys.readouterr().err
        assert code == 2, errors
        sentences = re.findall(r"^run_experiment\.py: (.*)$", errors, re.MULTILINE)
        assert_said_once(sentences, words, errors)
        assert_whole(tmp_path)

    return run


def assert_said_once(sentences, words, output):
    """There is one sentence, and all words stand in it."""
    assert len(sentences) == 1, output
    missing = [word for word in words if str(word) not in sentences[0]]
    assert not missing, output


def assert_whole(directory):
    """No file was left half-written, whatever its name says."""
    for path in Path(directory).rglob("*"):
        assert path.suffix not in (".part", ".active", ".tmp") and not path.name.startswith(".")


LATER = [stamp + 3600 * 10**9 for stamp in STAMPS]


@pytest.mark.parametrize(
    ("topics", "settings", "words"),
    [
        ({}, "{reference: {topic: /odometry}}", ["/odometry", "/odom"]),
        ({"odom": odometry(position=(math.nan,) * 3)}, "", ["/odom", "not numbers"]),
        ({"odom": odometry(STAMPS[::-1])}, "", ["/odom", "99 of 100 time stamps are older"]),
        ({"imu": imu(LATER)}, "", ["no overlap in time"]),
    ],
    ids=["a wrong topic", "nothing but nan", "a clock that runs backwards", "no overlap"],
)
def test_a_bag_that_cannot_be_driven(refused_at_once, tmp_path, topics, settings, words):
    topics = {f"/{name}": content for name, content in {**ALL, **topics}.items()}
    # Its messages came one after the other, whatever their stamps say.
    bag = writers.write_bag(tmp_path / "drive.bag", topics, receipt=STAMPS)
    refused_at_once(f"recording:={bag}", f"settings:={settings}", words=[bag, *words])


def test_a_recording_that_is_not_there(refused):
    refused("recording:=nowhere.bag", words=["nowhere.bag", "no such recording"])


def test_a_gzserver_that_runs_already(refused, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as other:
        uri = f"http://127.0.0.1:{other.getsockname()[1]}"
        monkeypatch.setenv("GAZEBO_MASTER_URI", uri)
        ended = refused("simulator:=gazebo", words=["a gzserver is running already", uri])
    assert ended.code == 2
    assert "process[" not in ended.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("record:=maybe", ["record:=maybe", "true, false"]),
        ("imux:=ideal", ["imux:=ideal", "expected name:=value"]),
        ("config:=mine.ini", ["mine.ini", "controler", "did you mean controller?"]),
        ("imu:=hector settings:={imu_hector: {yaw_drif: 1}}", ["hector has no parameter 'yaw_dri"]),
        ("one_process:=true simulator:=external imu:=published", ["is for simulator:=mujoco"]),
        ("settings:={robot: {parameters: robot.yaml}}", ["robot.yaml", "radius"]),
        ("settings:={trajectory: {scale: 10.0}}", ["too fast for the robot", "1.2 would fit"]),
        ("odometer:=mine.yaml", ["[odometer] file: ", "mine.yaml", "unknown key 'wheel'"]),
        (
            "odometer:=mine.yaml imu:=published settings:={simulation: {simulator: external}}",
            ["[odometer] file is ", "mine.yaml", "only the robot in MuJoCo has an odometer"],
        ),
        ("recording:=empty.csv", ["empty.csv", "the recording is empty"]),
        ("recording:=fifo", ["fifo", "not a regular file"]),
        # A file in the way, since root may write into every folder.
        ("output:=empty.csv", ["empty.csv", "cannot make a folder for results"]),
    ],
)
def test_a_value_that_cannot_be_starts_nothing(refused_at_once, tmp_path, arguments, words):
    (tmp_path / "mine.ini").write_text("[control]\ncontroler = yaw_pid\n")
    (tmp_path / "robot.yaml").write_text("wheel_radius: -1.0\n")
    (tmp_path / "mine.yaml").write_text("wheel: 0.1\n")
    (tmp_path / "empty.csv").write_text("")
    os.mkfifo(tmp_path / "fifo")
    refused_at_once(*re.split(r" (?=\w+:=)", arguments), words=words)


SHORT = "trajectory: {stop: 4.0}"


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory):
    """A drive whose IMU counts its yaw clockwise."""
    reference, imu = drives.drive()
    path = tmp_path_factory.mktemp("mirrored") / "drive.bag"
    return drives.write_bag(path, reference, clockwise_from_north(imu))


def test_a_mirrored_yaw_starts_nothing_and_the_last_line_says_why(experiment, mirrored):
    ended = experiment.run(f"recording:={mirrored}", f"settings:={{{SHORT}}}", timeout=60.0)
    assert ended.code == 2, ended.output
    assert "process[" not in ended.output
    assert not ended.has_traceback
    last = ended.lines[-1]
    assert last.startswith("run_experiment.py: ")
    for words in (
        str(mirrored),
        "mirrored yaw",
        "to mend it: [imu_recording] yaw_convention = cw_from_north",
        "[experiment] accept_implausible = true",
    ):
        assert words in last, last
    assert not (experiment.directory / "experiment_results").exists()


@pytest.mark.gate
def test_who_accepts_it_gets_it_with_the_finding(experiment, mirrored):
    settings = f"settings:={{{SHORT}, experiment: {{accept_implausible: true}}}}"
    ended = experiment.run(f"recording:={mirrored}", settings)
    assert ended.code == 0, ended.output
    # It is said on the way, too.
    assert "mirrored yaw" in ended.output
    summary = ended.summary
    (finding,) = summary["run"]["recording"]["findings"]
    # Of a robot that stays level, a quaternion the other way round would look the same.
    assert finding["fault"].startswith("mirrored yaw")
    assert finding["grave"] is True
    assert finding["settings"] == [["imu_recording", "yaw_convention", "cw_from_north"]]
    assert finding["evidence"]
    # Nobody turned it in secret.
    assert summary["yaw_error"]["real"]["rms_rad"] > 0.1
