"""Where a flight comes from: JSBSim's scripts and recorded tables."""

import socket
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from earth_flights import flight

from imu_simulation_framework.core.errors import FrameworkError, MotionError, SimulatorError
from imu_simulation_framework.flight import source
from imu_simulation_framework.flight.source import find_flight
from imu_simulation_framework.flight.udp import PacketReceiver

SENDER = Path(__file__).parents[2] / "flight_simulator" / "jsbsim_sender.py"
OUTPUT = (
    '<output name="127.0.0.1" type="SOCKET" protocol="UDP" port="PORT" rate="RATE">'
    + "".join(
        f"<property>{name}</property>"
        for name in (
            *("position/lat-geod-deg", "position/long-gc-deg", "position/geod-alt-ft"),
            *("velocities/v-north-fps", "velocities/v-east-fps", "velocities/v-down-fps"),
            *("attitude/phi-rad", "attitude/theta-rad", "attitude/psi-rad"),
        )
    )
    + "</output>"
)


@pytest.fixture
def recorded(tmp_path):
    path = tmp_path / "flight.csv"
    table = flight(50.0, 20.0).table()
    table.to_csv(path)
    return path


def test_a_recorded_flight_is_cut(recorded):
    found, _ = find_flight(recorded, duration=5.0, start=2.0)
    assert found.states.time[0] == pytest.approx(2.0)
    assert found.states.time[-1] == pytest.approx(7.0)
    expected = flight(50.0, 20.0)
    np.testing.assert_allclose(found.states.position, expected.position[100:351], atol=1e-3)


def test_nothing_is_left_of_a_flight_that_ended_before(recorded):
    with pytest.raises(MotionError, match="there is nothing of it from 30"):
        find_flight(recorded, start=30.0)


def test_a_script_is_flown():
    pytest.importorskip("jsbsim")
    found, remarks = find_flight("c3104", 2.0, 50.0, 3.0)
    assert len(found.states) == 101
    assert remarks == ()


def test_a_flight_is_received(monkeypatch):
    pytest.importorskip("jsbsim")
    listening = threading.Event()

    class Told(PacketReceiver):
        def __enter__(self):
            listening.set()
            return super().__enter__()

    monkeypatch.setattr(source, "PacketReceiver", Told)
    port = free_port()
    command = [sys.executable, str(SENDER), str(port), "20", OUTPUT]
    received: list = []
    receiving = threading.Thread(
        target=lambda: received.append(find_flight(f"udp:{port}", 4.0, start=2.0, silence=20.0))
    )
    receiving.start()
    assert listening.wait(20.0)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    receiving.join()
    ((found, _),) = received
    found_time = found.states.time
    assert found_time[-1] - found_time[0] == pytest.approx(4.0, abs=0.05)


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_silence_is_no_flight():
    with pytest.raises(SimulatorError, match="nothing came for 0.2 s"):
        find_flight(f"udp:{free_port()}", silence=0.2)


@pytest.mark.parametrize(
    "wanted, said",
    [
        ("udp:", "'udp:' is no source of packets, expected udp:PORT"),
        ("udp:one", "'udp:one' is no source of packets"),
        ("udp:99999", "99999"),
        ("nowhere.csv", "nowhere.csv"),
        ("c3014", "JSBSim has no script 'c3014', did you mean"),
        ("nowhere.xml", r"nowhere\.xml"),
    ],
)
def test_what_is_no_flight_is_refused_with_its_name(wanted, said):
    pytest.importorskip("jsbsim")
    with pytest.raises(FrameworkError, match=said):
        find_flight(wanted)
