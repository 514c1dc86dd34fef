"""Bad input ends an experiment within seconds, with one sentence and nothing half-written."""

import math
import os
import re
import socket
import sys
from pathlib import Path

import pytest
import recording_writers as writers

from imu_simulation_framework.commands.command_line import run_tool
from imu_simulation_framework.ros1.launching import launcher

COUNT = 100
STAMPS = [1_500_000_000 * 10**9 + 100_000_000 * k for k in range(COUNT)]
IDENTITY = (0.0, 0.0, 0.0, 1.0)
SECONDS = 180.0
"""Wall clock in which an experiment that cannot be done must have ended; on two busy cores."""


def odometry(stamps=STAMPS, position=None):
    return [
        writers.odometry(stamp, position or (0.05 * k, 0.0, 0.0), IDENTITY)
        for k, stamp in enumerate(stamps)
    ]


def imu(stamps=STAMPS):
    return [writers.imu(stamp, IDENTITY, (0.0,) * 3, (0.0, 0.0, 9.8)) for stamp in stamps]


def write_bag(directory, **topics):
    """A bag whose messages came one after the other, whatever their stamps say."""
    topics = {f"/{name}": messages for name, messages in topics.items()}
    return writers.write_bag(directory / "drive.bag", topics, receipt=STAMPS)


@pytest.fixture
def refused(experiment):
    """Run an experiment that must be refused with one sentence that has all these words."""

    def run(*arguments, words):
        ended = experiment.run(*arguments, timeout=SECONDS)
        assert ended.code in (1, 2), ended.output
        assert "Traceback" not in ended.output
        assert_said_once(ended.fatal_sentences, words, ended.output)
        assert_whole(experiment.directory)
        return ended

    return run


@pytest.fixture
def refused_at_once(tmp_path, monkeypatch, capsys):
    """The same for what is found before anything starts; in this process, many times cheaper."""
    for name, value in {
        "ROS_MASTER_URI": "http://127.0.0.1:1",
        "ROS_IP": "127.0.0.1",
        "ROS_HOME": str(tmp_path / "ros"),
        "ROS_LOG_DIR": str(tmp_path / "ros" / "log"),
        "PWD": str(tmp_path),
    }.items():
        monkeypatch.setenv(name, value)
    for name in ("ROS_HOSTNAME", "ROS_NAMESPACE"):
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
    left = [
        path
        for path in Path(directory).rglob("*")
        if path.suffix in (".part", ".active", ".tmp") or path.name.startswith(".")
    ]
    assert not left


def test_a_missing_recording(refused):
    refused("recording:=nowhere.bag", words=["nowhere.bag", "no such recording"])


def test_a_wrong_topic(refused, tmp_path):
    bag = write_bag(tmp_path, odom=odometry(), imu=imu())
    refused(
        f"recording:={bag}",
        "settings:={reference: {topic: /odometry}}",
        words=[bag, "/odometry", "/odom"],
    )


def test_a_missing_column(refused_at_once, tmp_path):
    columns = {"t": [0.1 * k for k in range(COUNT)], "east": [0.05 * k for k in range(COUNT)]}
    path = writers.write_csv(tmp_path / "drive.csv", columns)
    settings = (
        "{reference: {format: csv}, imu_recording: {use: false}, "
        "reference_columns: {time: t, x: east, y: north}}"
    )
    refused_at_once(
        f"recording:={path}", f"settings:={settings}", words=[path, "no column 'north'", "t, east"]
    )


def test_nothing_but_nan(refused_at_once, tmp_path):
    bag = write_bag(tmp_path, odom=odometry(position=(math.nan,) * 3), imu=imu())
    refused_at_once(f"recording:={bag}", words=[bag, "/odom", "not numbers"])


def test_a_clock_that_runs_backwards(refused_at_once, tmp_path):
    bag = write_bag(tmp_path, odom=odometry(STAMPS[::-1]), imu=imu())
    refused_at_once(f"recording:={bag}", words=[bag, "/odom", "99 of 100 time stamps are older"])


def test_an_imu_that_does_not_overlap_with_the_trajectory(refused_at_once, tmp_path):
    later = [stamp + 3600 * 10**9 for stamp in STAMPS]
    bag = write_bag(tmp_path, odom=odometry(), imu=imu(later))
    refused_at_once(f"recording:={bag}", words=[bag, "no overlap in time"])


@pytest.mark.slow
def test_a_trajectory_too_fast_for_the_robot(refused):
    refused("settings:={trajectory: {stop: 60.0, scale: 30.0}}", words=["scale"])


def test_a_current_folder_that_was_removed(refused_at_once, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    refused_at_once(words=["the folder in which it was called does not exist any more"])


def test_a_window_that_cannot_be_starts_nothing(refused, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    ended = refused("rviz:=true", words=["rviz:=true"])
    assert ended.code == 2
    assert "process[" not in ended.output
    assert ended.output.splitlines()[-1].startswith("run_experiment.py: rviz:=true")


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
        ("view:=foo", ["view:=foo", "none, multiplot, matplotlib"]),
        ("imux:=ideal", ["imux:=ideal", "expected name:=value"]),
        ("config:=mine.ini", ["mine.ini", "controler", "did you mean controller?"]),
        ("settings:=5", ["settings:=5", "expected {section: {key: value}}"]),
        ("settings:={control: {rate: [1, 2]}}", ["[control] rate", "expected one value"]),
        ("settings:={control: {rate: -20.0}}", ["[control] rate", "-20", "more than 0"]),
        (
            "settings:={comparison: {median_window: 1e308}}",
            ["[comparison] median_window", "at most 86400"],
        ),
        ("real_time_factor:=1e30", ["[simulation] real_time_factor", "at most 1000"]),
        ("settings:={terrain: {kind: uneven, spacing: 1e-300}}", ["more than 10000 bumps"]),
        (
            "settings:={imu_hector: {yaw_drift_frequency: 1e30}}",
            ["yaw_drift_frequency is 1e+30", "at most"],
        ),
        ("imu:=hector settings:={imu_hector: {yaw_drif: 1}}", ["hector has no parameter 'yaw_dri"]),
        ("imu:=generic settings:={imu_generic: {gaussian_noise: -1}}", ["gaussian_noise is -1"]),
        ("imu:=specification settings:={imu_specification: {file: no.yaml}}", ["no.yaml"]),
        ("gnss:=gps", ["gps", "nor a GNSS receiver of that name", "rtk_heading"]),
        ("settings:={robot: {parameters: robot.yaml}}", ["robot.yaml", "radius"]),
        ("settings:={robot: {parameters: /dev/zero}}", ["/dev/zero", "not a regular file"]),
        ("recording:=empty.csv", ["empty.csv", "the recording is empty"]),
        ("recording:=fifo", ["fifo", "not a regular file"]),
        ("config:=fifo", ["fifo", "not a regular file"]),
        # A file in the way, since root may write into every folder.
        ("output:=empty.csv", ["empty.csv", "cannot make a folder for results"]),
        (f"output:={'a' * 300}", ["File name too long"]),
    ],
)
def test_a_value_that_cannot_be_starts_nothing(refused_at_once, tmp_path, arguments, words):
    (tmp_path / "mine.ini").write_text("[control]\ncontroler = yaw_pid\n")
    (tmp_path / "robot.yaml").write_text("wheel_radius: -1.0\n")
    (tmp_path / "empty.csv").write_text("")
    os.mkfifo(tmp_path / "fifo")
    refused_at_once(*re.split(r" (?=settings:=)", arguments), words=words)


def test_an_address_of_the_master_that_is_none(refused, monkeypatch):
    monkeypatch.setattr(
        "experiment_process.ExperimentProcess._environment",
        lambda process: {**os.environ, "ROS_MASTER_URI": "foo", "PWD": str(process.directory)},
    )
    ended = refused(words=["ROS_MASTER_URI", "'foo'", "http://HOST:PORT"])
    assert ended.code == 2


def test_settings_are_not_evaluated(refused_at_once, tmp_path):
    refused_at_once(
        "settings:={imu: {rate: !radians \"open('made', 'w').close()\"}}", words=["settings:="]
    )
    assert not list(tmp_path.rglob("made"))
