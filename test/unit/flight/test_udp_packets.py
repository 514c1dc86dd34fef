import struct

import numpy as np
import pytest

from imu_simulation_framework.flight.packets import (
    FLIGHTGEAR_SIZE,
    NO_TIME,
    TextColumns,
    UnusablePacketError,
    ecef_positions,
    flightgear_numbers,
    has_time,
    is_flightgear,
    labels_of,
)
from imu_simulation_framework.motion.earth import ecef_of

LABELS = ("Time", "/fdm/jsbsim/position/lat-geod-deg", "position/long-gc-rad")
LABELS += ("position/geod-alt-ft", "attitude/phi-rad", "attitude/theta-deg", "attitude/psi-rad")


def flightgear(count=NO_TIME, latitude=0.5):
    """FGNetFDM as JSBSim's net_fdm.hxx has it, with numbers in what we read."""
    packet = struct.pack(">II3d14f", 24, 0, -1.5, latitude, 300.0, 0.0, *range(1, 14))
    return packet + bytes(356 - len(packet)) + struct.pack(">I", count) + bytes(48)


def test_flightgears_structure_is_read_in_network_order():
    packet = flightgear(20_000)
    assert len(packet) == FLIGHTGEAR_SIZE and is_flightgear(packet) and has_time(packet)
    values = flightgear_numbers(packet, 1e-6)
    assert values["time"] == pytest.approx(0.02)
    assert (values["latitude"], values["longitude"], values["radial_height"]) == (0.5, -1.5, 300.0)
    assert [values[name] for name in ("roll", "pitch", "heading")] == [1.0, 2.0, 3.0]
    assert values["velocity_down"] == pytest.approx(13.0 * 0.3048)
    assert not has_time(flightgear()) and "time" not in flightgear_numbers(flightgear(), 1e-6)


def test_what_is_no_structure_of_flightgear_is_told_apart():
    packet = flightgear()
    assert not is_flightgear(packet[:-1])
    assert not is_flightgear(struct.pack(">I", 23) + packet[4:])
    with pytest.raises(UnusablePacketError, match="not finite"):
        flightgear_numbers(flightgear(latitude=np.nan), 1e-6)


def test_columns_of_text_are_known_by_their_labels():
    columns = TextColumns.of_labels(LABELS)
    values = columns.numbers(b"  0.02, 30, -1.5, 1000, 0.1, 90, 3\n")
    assert values == pytest.approx(
        {
            "time": 0.02,
            "latitude": np.pi / 6.0,
            "longitude": -1.5,
            "height": 304.8,
            "roll": 0.1,
            "pitch": np.pi / 2.0,
            "heading": 3.0,
        }
    )


def test_the_labels_are_those_of_the_first_packet():
    packet = b"<LABELS> ,Time,Vn, Ve,Phi (deg)\n"
    assert labels_of(packet) == ["Time", "Vn", "Ve", "Phi (deg)"]
    assert labels_of(b"0.1, 2, 3\n") is None


@pytest.mark.parametrize(
    "packet, words",
    [
        (b"1,2,3\n", "3 columns, expected 7"),
        (b"0,1,2,3,x,5,6\n", "column 5 is no number"),
        (b"0,1,2,3,nan,5,6\n", "column 5 is not finite"),
        (b"\xff\xfe", "1 columns"),
    ],
)
def test_a_broken_packet_of_text_is_refused(packet, words):
    with pytest.raises(UnusablePacketError, match=words):
        TextColumns.of_labels(LABELS).numbers(packet)


def test_labels_without_what_a_flight_needs_are_refused():
    with pytest.raises(UnusablePacketError, match="no a position|no roll"):
        TextColumns.of_labels(LABELS[:4])
    with pytest.raises(UnusablePacketError, match="a position"):
        TextColumns.of_labels(("Time", "a", *LABELS[4:]))


def test_the_last_digit_is_that_of_the_largest_number():
    columns = TextColumns.of_labels(LABELS)
    packet = b"0.02,29.6352,-1.660922,999.99,0.1,0.2,0.3\n"
    assert columns.digits(packet) == 7
    step = columns.step("latitude", np.radians([29.6352, 0.001]), 7)
    assert step == pytest.approx(np.radians(1e-5))
    assert columns.step("roll", np.zeros(3), 7) == 0.0 == columns.step("ecef_x", np.ones(3), 7)


@pytest.mark.parametrize("latitude", [-90.0, -45.0, 0.0, 29.6, 80.0])
def test_radial_heights_and_geocentric_latitudes_become_places(latitude):
    latitude, longitude, height = np.radians([latitude]), np.array([2.0]), np.array([9000.0])
    place = ecef_of(latitude, longitude, height)
    radius = np.linalg.norm(place)
    geocentric = np.arcsin(place[:, 2] / radius)
    # The ellipsoid below, along the same radius.
    below = 1.0 / np.hypot(np.cos(geocentric) / 6378137.0, np.sin(geocentric) / 6356752.314245179)
    radial = {"longitude": longitude, "radial_height": radius - below}
    for columns in (
        {"latitude": latitude, "longitude": longitude, "height": height},
        {"latitude": latitude, **radial},
        {"geocentric_latitude": geocentric, **radial},
        dict(zip(("ecef_x", "ecef_y", "ecef_z"), place.T)),
    ):
        np.testing.assert_allclose(ecef_positions(columns), place, atol=1e-8)


@pytest.mark.parametrize(
    "packet, words",
    [
        (b"0,91,1,2,3,4,5\n", "its latitude is 1.58825"),
        (b"0,1,1,2,1e300,4,5\n", "its roll is 1e.300"),
        (b"1e12,1,1,2,3,4,5\n", "its time is 1e.12"),
    ],
)
def test_what_no_aircraft_says_is_refused(packet, words):
    with pytest.raises(UnusablePacketError, match=words):
        TextColumns.of_labels(LABELS).numbers(packet)
    with pytest.raises(UnusablePacketError, match="its latitude"):
        flightgear_numbers(flightgear(latitude=-1e200), 1e-6)


def test_nobody_flies_at_the_centre_of_the_earth():
    names = ("Time", *(f"position/ecef-{axis}-ft" for axis in "xyz"), *LABELS[4:])
    with pytest.raises(UnusablePacketError, match="0 m from Earth's centre"):
        TextColumns.of_labels(names).numbers(b"0,0,0,0,0,0,0\n")
