"""Hostile flights: files, UDP packets and JSBSim scripts."""

from __future__ import annotations

import json
import struct
from dataclasses import replace

import sample_files
from cases import EXPENSIVE, OUT, Case, damaged_sample_files
from hypothesis import given
from hypothesis import strategies as st
from program_result import Expected
from strategies.files import damaged_bytes
from strategies.settings import damaged_settings

PERIOD = 0.02  # s


@st.composite
def damaged_flights(draw, tool):
    """Generate a program call with a damaged recorded flight."""
    name, content = draw(damaged_sample_files(sample_files.flight()))
    words = (name, "--imu", "bno055", "--out", OUT) if tool.endswith(".py") else (name,)
    return Case(tool, words, {name: content}, Expected(names=(name,)), draws_figures=True)


@given(case=damaged_flights("flight"))
def test_damaged_flight_recording_is_read_or_rejected(check_outcome, case):
    assert not check_outcome(case).violations


@EXPENSIVE
@given(case=damaged_flights("simulate_flight.py"))
def test_damaged_flight_recording_is_accepted_or_rejected_by_simulate_flight(check_outcome, case):
    assert not check_outcome(case).violations


LABELS = (
    b"<LABELS> ,Time,position/lat-geod-deg,position/long-gc-deg,position/geod-alt-ft,"
    b"velocities/v-north-fps,velocities/v-east-fps,velocities/v-down-fps,"
    b"attitude/phi-rad,attitude/theta-rad,attitude/psi-rad\n"
)


def text_packet(number) -> bytes:
    """Return a text packet of an aircraft that flies north at 60 m/s."""
    latitude = 30.0 + number * PERIOD * 60.0 / 110_850.0
    cells = (number * PERIOD, latitude, -95.0, 1000.0, 196.85, 0.0, 0.0, 0.0, 0.0, 0.0)
    return ",".join(f"{cell:.15g}" for cell in cells).encode() + b"\n"


def structure_packet(number) -> bytes:
    """Return a packet of the same flight in FlightGear's binary format."""
    latitude = 0.5 + number * PERIOD * 60.0 / 6.35e6
    floats = [0.0] * 11 + [196.85, 0.0, 0.0]
    packet = struct.pack(">II3d14f", 24, 0, -1.5, latitude, 300.0, *floats)
    microseconds = struct.pack(">I", round(number * PERIOD * 1e6))
    return packet + bytes(356 - len(packet)) + microseconds + bytes(48)


@st.composite
def udp_flights(draw):
    """Generate the UDP packets of a flight, some damaged, lost, repeated or unrelated."""
    count = draw(st.integers(0, 60))
    packets = [text_packet(k) for k in range(count)]
    if draw(st.booleans()):
        packets = [structure_packet(k) for k in range(count)]
    packets.insert(0, draw(st.one_of(st.just(LABELS), damaged_bytes(LABELS))))
    for _ in range(draw(st.integers(0, 6))):
        place = draw(st.integers(0, len(packets) - 1))
        damaged = damaged_bytes(packets[place]).map(lambda packet: [packet[:60_000]])
        foreign = st.binary(max_size=500).map(lambda packet, place=place: [packet, packets[place]])
        replayed = st.sampled_from(packets).map(lambda packet: [packet])
        packets[place : place + 1] = draw(st.one_of(damaged, foreign, replayed, st.just([]))) or [
            b""
        ]
    content = json.dumps([packet.hex() for packet in packets]).encode()
    return Case("udp", ("packets.json",), {"packets.json": content}, Expected(names=("UDP port",)))


@given(case=udp_flights())
def test_damaged_udp_packets_are_received_or_rejected(check_outcome, case):
    assert not check_outcome(case).violations


SCRIPT = """\
<?xml version="1.0"?>
<runscript name="a drop">
 <use aircraft="ball" initialize="start"/>
 <run start="0" end="9" dt="0.02">
  <event name="a"><condition>simulation/sim-time-sec ge 0.1</condition>
   <set name="position/h-agl-ft" value="8000"/><notify/></event>
 </run>
</runscript>
"""
BALL = """\
<?xml version="1.0"?>
<fdm_config name="BALL" version="2.0" release="ALPHA">
 <fileheader/>
 <metrics><wingarea unit="FT2">1</wingarea><wingspan unit="FT">1</wingspan>
  <chord unit="FT">1</chord><htailarea unit="FT2">0</htailarea><htailarm unit="FT">0</htailarm>
  <vtailarea unit="FT2">0</vtailarea><vtailarm unit="FT">0</vtailarm>
  <location name="AERORP" unit="IN"><x>0</x><y>0</y><z>0</z></location></metrics>
 <mass_balance><ixx unit="SLUG*FT2">10</ixx><iyy unit="SLUG*FT2">10</iyy>
  <izz unit="SLUG*FT2">10</izz><emptywt unit="LBS">50</emptywt>
  <location name="CG" unit="IN"><x>0</x><y>0</y><z>0</z></location></mass_balance>
 <ground_reactions/><propulsion/><aerodynamics/>
</fdm_config>
"""
START = """\
<?xml version="1.0"?>
<initialize name="start"><latitude unit="DEG">30</latitude>
 <longitude unit="DEG">-95</longitude><altitude unit="FT">9000</altitude>
 <ubody unit="FT/SEC">100</ubody></initialize>
"""


def script_case(script, aircraft) -> Case:
    """Return a case that runs a JSBSim script with an aircraft model."""
    files = {
        "drop.xml": script,
        "aircraft/ball/ball.xml": aircraft,
        "aircraft/ball/start.xml": START.encode(),
    }
    return Case("script", ("drop.xml",), files, Expected(names=("drop.xml", "ball.xml")))


def test_intact_jsbsim_script_is_simulated(check_outcome):
    case = script_case(SCRIPT.encode(), BALL.encode())
    assert not check_outcome(
        replace(case, expected=Expected((0,), output=("^101 states\n",)))
    ).violations


@given(content=damaged_settings(SCRIPT))
def test_damaged_jsbsim_script_is_simulated_or_rejected(check_outcome, content):
    assert not check_outcome(script_case(content, BALL.encode())).violations


@given(content=damaged_settings(BALL))
def test_damaged_aircraft_model_is_simulated_or_rejected(check_outcome, content):
    assert not check_outcome(script_case(SCRIPT.encode(), content)).violations
