"""Diagnostics and remarks of realistic_imu."""

import numpy as np
import pytest
from ideal_recordings import stamps_of
from recording_shell import RecordingShell
from scipy.spatial.transform import Rotation

import imu_simulation_framework as isf
from imu_simulation_framework.realistic_imu import live
from imu_simulation_framework.realistic_imu.live import LiveImu, RealisticImuArguments
from imu_simulation_framework.recordings.messages import (
    IMU,
    SIGNALS,
    Packer,
    read_numbers,
    separate,
)
from imu_simulation_framework.sensors.simulation import imu_truth


@pytest.fixture
def clock(monkeypatch):
    """Return a list that contains the wall-clock time of the session [s]."""
    now = [100.0]
    monkeypatch.setattr(live.time, "monotonic", lambda: now[0])
    return now


def test_diagnostics_report_rate_gaps_ignored_messages_and_yaw_error(clock):
    motion = isf.rounds(1.0, radius=2.0, speed=2.0)
    truth = np.hstack(imu_truth(motion)[:3])
    rows = truth.copy()
    rows[200, 4] = np.nan
    packed = Packer(IMU, ["imu"], None, True).pack(stamps_of(motion), dict(zip(SIGNALS, rows.T)))
    messages = separate(packed)
    del messages[300:310]
    shell = RecordingShell(ros2=True)
    session = LiveImu(RealisticImuArguments(specification="bno055", seed=4), shell)

    def next_diagnostic(seconds, received=()):
        for data in received:
            session.process("/imu", data)
        clock[0] += seconds
        session.on_timer()
        return shell.diagnosed[-1]

    clock[0] += 0.5
    session.on_timer()
    assert shell.diagnosed == []  # published once per second
    silent = next_diagnostic(0.5)
    assert silent.is_warning and silent.message == "no message on /imu yet"
    good = next_diagnostic(2.0, messages[:150])
    assert not good.is_warning and good.message == "publishing /imu/data from /imu"
    assert good.values["messages per second"] == "75.0"
    bad = next_diagnostic(1.0, messages[150:])
    assert bad.is_warning and bad.message == "messages on /imu are missing or ignored"
    # The ignored message also leaves a gap.
    counts = {"messages left out": "1", "gaps": "2", "messages missing in gaps": "11"}
    assert counts.items() <= bad.values.items()
    assert bad.values["messages taken"] == str(len(messages) - 1)
    assert bad.values["largest gap [s]"] == "0.11"
    last = read_numbers(shell.sent["/imu/data"][-1], IMU, True).numbers[:4]
    yaws = [Rotation.from_quat(q).as_euler("ZYX")[0] for q in (truth[-1, :4], last)]
    error = np.degrees((yaws[0] - yaws[1] + np.pi) % (2.0 * np.pi) - np.pi)
    assert abs(error) > 0.005
    assert float(bad.values["yaw error [deg]"]) == pytest.approx(error, abs=0.0006)
    later = next_diagnostic(1.0)
    assert later.is_warning and later.message == "no message on /imu any more"


def test_unspecified_errors_in_motion_and_remaining_turn_on_bias_are_reported():
    shells = {name: RecordingShell(ros2=True) for name in ("bno055", "adis16448")}
    for name, shell in shells.items():
        LiveImu(RealisticImuArguments(specification=name), shell)
    (understated,) = shells["bno055"].warned
    assert "no scale factor, misalignment, g-sensitivity or turn-on bias" in understated
    assert shells["adis16448"].warned == []
    (remark,) = [text for text in shells["adis16448"].informed if "bias" in text]
    assert "keeps its turn-on bias" in remark
    zeroed = RecordingShell(ros2=True)
    LiveImu(RealisticImuArguments(specification="adis16448", standstill=10.0), zeroed)
    assert zeroed.warned == [] and not any("bias" in text for text in zeroed.informed)
    assert RealisticImuArguments().specification == "adis16448"
