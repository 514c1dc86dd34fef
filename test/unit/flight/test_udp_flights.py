import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from patience import PATIENCE, wait_until
from reservations import reserved_port

from imu_simulation_framework.core.angles import relative_rotations
from imu_simulation_framework.core.errors import SimulatorError
from imu_simulation_framework.flight import recording
from imu_simulation_framework.flight.jsbsim import fly
from imu_simulation_framework.flight.packets import NO_TIME
from imu_simulation_framework.flight.recording import find_flight
from imu_simulation_framework.flight.udp import PacketReceiver, receive_flight

SENDER = Path(__file__).with_name("jsbsim_sender.py")
SECONDS = 30
NAMES = (
    *("position/lat-geod-deg", "position/long-gc-deg", "position/geod-alt-ft"),
    *("velocities/v-north-fps", "velocities/v-east-fps", "velocities/v-down-fps"),
    *("attitude/phi-rad", "attitude/theta-rad", "attitude/psi-rad"),
)
PROPERTIES = "".join(f"<property>{name}</property>" for name in NAMES)
TEXT = '<output name="127.0.0.1" type="SOCKET" protocol="UDP" port="PORT" rate="RATE"{}>{}</output>'
FLIGHTGEAR = TEXT.replace("SOCKET", "FLIGHTGEAR")
LABELS = ",".join(["Time", *NAMES])


@pytest.fixture(scope="module")
def flown():
    return fly("c3104", duration=float(SECONDS)).states


def received(output, **settings):
    with PacketReceiver() as receiver:
        command = [sys.executable, str(SENDER), str(receiver.port), str(SECONDS), output]
        sender = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            return receive_flight(receiver, timeout=PATIENCE, duration=SECONDS - 1.0, **settings)
        finally:
            sender.terminate()
            sender.wait()


class ArrivedPackets:
    """Substitute for a UDP receiver, with packets that have already arrived.

    Parameters
    ----------
    packets : iterable of bytes
        The packets of one sender.
    repeated : bytes, optional
        Packet that is received repeatedly after the others.
    """

    host, port, dropped = "127.0.0.1", 5501, 0

    def __init__(self, packets, repeated=None):
        self._packets, self._repeated = list(packets), repeated

    def take(self, _timeout):
        packet = self._packets.pop(0) if self._packets else self._repeated
        return None if packet is None else (packet, ("127.0.0.1", 1))


def flight_of(*packets):
    return receive_flight(ArrivedPackets(packets), timeout=PATIENCE)


def datagrams():
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def test_flight_can_be_received_on_udp_port(monkeypatch):
    listening, flights = threading.Event(), []

    class ReportingReceiver(PacketReceiver):
        def __enter__(self):
            listening.set()
            return super().__enter__()

    def receive(port):
        flights.append(find_flight(f"udp:{port}", 4.0, start=2.0, silence=PATIENCE))

    monkeypatch.setattr(recording, "PacketReceiver", ReportingReceiver)
    with reserved_port() as port:
        receiving = threading.Thread(target=receive, args=[port], daemon=True)
        receiving.start()
        assert listening.wait(PATIENCE)
        command = [sys.executable, str(SENDER), str(port), "20", TEXT.format("", PROPERTIES)]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True, timeout=PATIENCE)
        receiving.join(PATIENCE)
    ((flight, _),) = flights
    assert flight.states.time[-1] - flight.states.time[0] == pytest.approx(4.0, abs=0.05)


def test_missing_packets_and_too_few_states_are_rejected():
    silent = r"port \d+ of 127.0.0.1: no packet arrived for 0.2 s"
    with reserved_port() as port, pytest.raises(SimulatorError, match=silent):
        find_flight(f"udp:{port}", silence=0.2)
    with pytest.raises(
        SimulatorError, match=r"2 of 3 packets contain states .* expected at least 4"
    ):
        flight_of(HEADER, row(0), row(1))
    with pytest.raises(SimulatorError, match="all packets have the same time"):
        flight_of(HEADER, *[row(7)] * 6)


def errors(states, flown):
    """Return the largest errors of position [m], velocity [m/s] and orientation [rad]."""
    rows = np.rint(states.time * 50.0).astype(int)
    place, speed = states.position - flown.position[rows], states.velocity - flown.velocity[rows]
    turned = relative_rotations(states.orientation, flown.orientation[rows])
    return [np.linalg.norm(off, axis=1).max() for off in (place, speed, turned)]


def test_text_packets_with_full_precision_reproduce_flight(flown):
    sent = "<position> ON </position><velocities> ON </velocities>"
    flight = received(TEXT.format(' precision="15"', sent))
    place, speed, angle = errors(flight.states, flown)
    # JSBSim's geodetic latitude and height differ by 5e-5 m from the integrated position.
    assert place < 1e-4 and speed < 1e-8 and angle < 1e-10
    assert flight.remarks == () and flight.settings["rate"] == 50.0
    assert len(flight.states) == 50 * (SECONDS - 1) + 1


def test_path_from_text_with_seven_digits_is_integrated_from_velocities(flown):
    flight = received(TEXT.format("", PROPERTIES))
    (remark,) = flight.remarks
    assert (
        "the resolution of the positions is 1.1 m" in remark and "resolution is 3e-05 m/s" in remark
    )
    assert 'precision="15"' in remark
    place, speed, angle = errors(flight.states, flown)
    # The offset is the mean of several thousand positions in steps of 1.1 m, not all independent,
    # because c3104 is stationary in the first seconds.
    assert place < 0.3 and speed < 3e-5 and angle < 2e-6
    # An IMU measures changes between adjacent states. On the ground, the wheels bounce between
    # states, which a spline of velocities cannot reproduce.
    differences = np.diff(flight.states.position - flown.position[: len(flight.states)], axis=0)
    assert np.max(np.abs(differences[1000:])) < 1e-5


def test_flightgear_packets_reproduce_flight_to_single_precision(flown):
    simulated = '<time type="simulation" resolution="1e-6"/>'
    flight = received(FLIGHTGEAR.format("", simulated))
    place, speed, angle = errors(flight.states, flown)
    # Floats have 24 significant bits: 2.4e-7 rad for a heading, 4e-6 m/s for a speed.
    assert place < 1e-4 and speed < 1e-5 and angle < 1e-6
    assert flight.settings["source"] == "UDP, FlightGear"
    assert "4.8e-7 rad" in flight.remarks[0]


def test_flightgear_packets_without_time_require_rate_setting(flown):
    with pytest.raises(SimulatorError, match=r"contain no time; .*packet rate"):
        flight_of(*[flightgear(NO_TIME)] * 20)
    flight = received(FLIGHTGEAR.format("", ""), rate=50.0)
    assert errors(flight.states, flown)[0] < 1e-4


def row(number, period=0.02):
    """Return a packet of an aircraft that flies north along a meridian at 60 m/s."""
    latitude = 30.0 + number * period * 60.0 / 110_850.0
    cells = (number * period, latitude, -95.0, 1000.0, 196.85, 0.0, 0.0, 0.0, 0.0, 0.0)
    return ",".join(f"{cell:.15g}" for cell in cells).encode() + b"\n"


HEADER = b"<LABELS> ," + LABELS.encode() + b"\n"


def flightgear(counts):
    """Return a packet with FlightGear's structure and a time in microseconds."""
    packet = bytearray(408)
    struct.pack_into(">II3d14f", packet, 0, 24, 0, -1.6, 0.5, 300.0, *[0.0] * 11, 60.0, 0.0, 0.0)
    struct.pack_into(">I", packet, 356, counts)
    return bytes(packet)


def test_lost_and_reordered_packets_are_reported():
    numbers = [number for number in range(100) if number not in (20, 21, 50)]
    numbers[30], numbers[31] = numbers[31], numbers[30]
    numbers.insert(60, numbers[59])
    flight = flight_of(HEADER, *map(row, numbers))
    assert flight.remarks == (
        "1 packet arrived late and was sorted by time",
        "1 packet arrived twice",
        "3 packets of 100 did not arrive, the first after 0.380 s, at most 2 in a row; the motion "
        "is interpolated over the gaps",
    )
    assert flight.settings["packets"] == 99
    assert len(flight.states) == 97 and np.all(np.diff(flight.states.time) > 0.0)
    # The motion is smooth, so interpolation loses nothing.
    motion = flight.states.motion(at=np.arange(1, 99) / 50.0)
    np.testing.assert_allclose(np.linalg.norm(motion.velocity, axis=1), 60.0, rtol=1e-3)


def test_unusable_packets_and_unsupported_packet_types_are_ignored_and_reported():
    packets = list(map(row, range(20)))
    packets[5:5] = [b"hello\n", b"\x00\xff", b",,,,,,,,,\n"]
    flight = flight_of(HEADER, *packets)
    assert flight.remarks == ("3 packets omitted, the first because it has 1 columns, expected 10",)
    assert len(flight.states) == 20
    packets = [flightgear(20_000 * number) for number in range(40)]
    packets[10:10] = [HEADER, row(10), packets[3][:-1], packets[4] + b"x"]
    flight = flight_of(*packets)
    assert len(flight.states) == 40
    assert flight.remarks[0].startswith(
        "3 packets omitted, the first because it is not a packet of Fli"
    )


def test_packets_before_labels_and_restart_of_simulator_are_reported():
    flight = flight_of(b"hello\n", row(0), HEADER, *map(row, range(1, 21)))
    assert len(flight.states) == 20
    assert flight.remarks == ("2 packets ignored that arrived before the first usable packet",)
    flight = flight_of(HEADER, *map(row, range(100)), HEADER, *map(row, range(100)))
    assert len(flight.states) == 100
    assert flight.remarks == ("the simulation was restarted; the flight ends at the restart",)


@pytest.mark.parametrize(
    "first", [[b"hello"], [HEADER], [b"<LABELS> ,Time,P,Q\n"], [flightgear(0), flightgear(10**9)]]
)
def test_other_sender_before_simulator_does_not_block_simulator(first):
    with PacketReceiver() as receiver, datagrams() as stranger, datagrams() as simulator:
        for packet in first:
            stranger.sendto(packet, (receiver.host, receiver.port))
        for packet in (HEADER, *map(row, range(20))):
            simulator.sendto(packet, (receiver.host, receiver.port))
        flight = receive_flight(receiver, duration=19 * 0.02, timeout=PATIENCE)
    assert len(flight.states) == 20 and flight.states.time[0] == 0.0
    count = len(first)
    assert flight.remarks == (f"{count} packet{'s' * (count > 1)} from other senders ignored",)


@pytest.mark.parametrize("place", [0, 3, 50])
@pytest.mark.parametrize("row_offset", [150, 50_000, -500])
def test_packet_with_implausible_time_is_ignored_and_reported(place, row_offset):
    packets = list(map(row, range(100, 200)))
    packets.insert(place, row(100 + row_offset))
    flight = flight_of(HEADER, *packets)
    np.testing.assert_allclose(flight.states.time, np.arange(100, 200) * 0.02, atol=1e-9)
    (remark,) = flight.remarks
    assert remark.startswith("1 packet omitted, whose times differ by more than 1 s from")


def test_long_packet_gap_is_accepted_and_flight_of_slow_simulator_is_received():
    flight = flight_of(HEADER, *map(row, [*range(50), *range(200, 250)]))
    assert len(flight.states) == 100 and flight.states.time[-1] == pytest.approx(249 * 0.02)
    assert "150 packets of 250 did not arrive" in flight.remarks[0]
    flight = flight_of(HEADER, *(row(number, period=2.0) for number in range(30)))
    np.testing.assert_allclose(flight.states.time, 2.0 * np.arange(30))
    assert flight.remarks == () and flight.settings["rate"] == 0.5


def test_time_counter_overflow_is_not_treated_as_restart():
    counts = 2**32 - 1_000_000 + 20_000 * np.arange(100)
    counts[20], counts[21] = counts[21], counts[20]
    counts[50], counts[51] = counts[51], counts[50]
    flight = flight_of(*(flightgear(int(count) % 2**32) for count in counts))
    np.testing.assert_allclose(flight.states.time, np.sort(counts) * 1e-6, atol=1e-6)
    assert flight.remarks[0] == "2 packets arrived late and were sorted by time"
    assert not any("restarted" in remark for remark in flight.remarks)


@pytest.mark.parametrize("garbage", [b"hello", HEADER, row(49)])
def test_flight_ends_while_packets_without_new_state_continue(garbage):
    packets = ArrivedPackets([HEADER, *map(row, range(50))], repeated=garbage)
    assert len(receive_flight(packets, timeout=0.05).states) == 50


def test_missing_or_unusable_labels_are_rejected():
    packets = ArrivedPackets([b"<LABELS> ,Time,P,Q,R\n"], repeated=b"0,1,2,3\n")
    with pytest.raises(SimulatorError, match=r"do not contain a position"):
        receive_flight(packets, timeout=0.05)
    rows = list(map(row, range(20)))
    with pytest.raises(
        SimulatorError, match=r"20 packets arrived, expected packets with JSBSim's labels"
    ):
        flight_of(*rows)
    flight = receive_flight(ArrivedPackets(rows), timeout=PATIENCE, labels=LABELS.split(","))
    assert len(flight.states) == 20


def test_packets_beyond_queue_size_are_dropped_and_counted():
    with PacketReceiver(most_waiting=10) as receiver, datagrams() as sender:
        for packet in (HEADER, *map(row, range(30))):
            sender.sendto(packet, (receiver.host, receiver.port))
        wait_until(lambda: receiver.dropped == 21, "packet that is dropped")
        flight = receive_flight(receiver, duration=8 * 0.02, timeout=PATIENCE)
    assert flight.remarks == ("21 packets arrived faster than they were processed",)
    assert len(flight.states) == 9


def test_occupied_or_invalid_udp_port_is_rejected():
    port_in_use = pytest.raises(SimulatorError, match=r"UDP port \d+ .* Address already")
    with PacketReceiver() as receiver, port_in_use:
        PacketReceiver(port=receiver.port)
    with pytest.raises(SimulatorError, match="cannot listen on UDP port 70000 of 127.0.0.1"):
        PacketReceiver(port=70_000)
