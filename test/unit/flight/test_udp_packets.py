import struct

import numpy as np
import pytest

from imu_simulation_framework.flight import packets
from imu_simulation_framework.motion.earth import ecef_of

LABELS = ("Time", "/fdm/jsbsim/position/lat-geod-deg", "position/long-gc-rad")
LABELS += ("position/geod-alt-ft", "attitude/phi-rad", "attitude/theta-deg", "attitude/psi-rad")
CARTESIAN = ("Time", *(f"position/ecef-{axis}-ft" for axis in "xyz"), *LABELS[4:])


def flightgear(count=packets.NO_TIME, latitude=0.5):
    """Return a packet of JSBSim's type FGNetFDM (net_fdm.hxx); unused fields are zero."""
    packet = struct.pack(">II3d14f", 24, 0, -1.5, latitude, 300.0, 0.0, *range(1, 14))
    return packet + bytes(356 - len(packet)) + struct.pack(">I", count) + bytes(48)


def write_text(packet, labels=LABELS):
    return packets.TextColumns.from_labels(labels).numbers(packet)


def write_flightgear(latitude):
    return packets.decode_flightgear(flightgear(latitude=latitude), 1e-6)


def test_text_and_flightgear_packets_are_decoded():
    labels = packets.read_labels(b"<LABELS> ,Time,Vn, Ve,Phi (deg)\n")
    assert labels == ["Time", "Vn", "Ve", "Phi (deg)"]
    assert packets.read_labels(b"0.1, 2, 3\n") is None
    values = write_text(b"  0.02, 30, -1.5, 1000, 0.1, 90, 3\n")
    names = ("time", "latitude", "longitude", "height", "roll", "pitch", "heading")
    expected = 0.02, np.pi / 6.0, -1.5, 304.8, 0.1, np.pi / 2.0, 3.0
    assert values == pytest.approx(dict(zip(names, expected)))
    packet = flightgear(20_000)
    assert len(packet) == packets.FLIGHTGEAR_SIZE
    assert packets.is_flightgear(packet)
    for other in (packet[:-1], struct.pack(">I", 23) + packet[4:]):
        assert not packets.is_flightgear(other)
    values = packets.decode_flightgear(packet, 1e-6)
    names = ("time", "latitude", "longitude", "radial_height", "roll", "pitch", "heading")
    assert [values[name] for name in names] == pytest.approx([0.02, 0.5, -1.5, 300.0, 1, 2, 3])
    assert values["velocity_down"] == pytest.approx(13.0 * 0.3048)
    assert "time" not in write_flightgear(0.5)


@pytest.mark.parametrize(
    "read, words",
    [
        (lambda: write_text(b"1,2,3\n"), "3 columns, expected 7"),
        (lambda: write_text(b"0,1,2,3,nan,5,6\n"), "its roll is nan"),
        (lambda: write_text(b"0,91,1,2,3,4,5\n"), "its latitude is 1.58825"),
        (lambda: write_text(b"1e12,1,1,2,3,4,5\n"), "its time is 1e.12"),
        (lambda: write_text(b"0,0,0,0,0,0,0\n", CARTESIAN), "Earth's centre is 0 m"),
        (lambda: write_text(b"", LABELS[:4]), "do not contain roll"),
        (lambda: write_flightgear(-1e200), "its latitude"),
    ],
)
def test_implausible_udp_packets_are_rejected(read, words):
    with pytest.raises(packets.UnusablePacketError, match=words):
        read()


def test_resolution_of_text_column_is_last_digit_of_its_largest_number():
    columns = packets.TextColumns.from_labels(LABELS)
    packet = b"0.02,29.6352,-1.660922,999.99,0.1,0.2,0.3\n"
    assert columns.digits(packet) == 7
    step = columns.step("latitude", np.radians([29.6352, 0.001]), 7)
    assert step == pytest.approx(np.radians(1e-5))
    assert columns.step("roll", np.zeros(3), 7) == 0.0


@pytest.mark.parametrize("latitude", [-90.0, -45.0, 0.0, 29.6, 80.0])
def test_radial_heights_and_geocentric_latitudes_are_converted_to_ecef(latitude):
    latitude, longitude, height = np.radians([latitude]), np.array([2.0]), np.array([9000.0])
    place = ecef_of(latitude, longitude, height)
    radius = np.linalg.norm(place)
    geocentric = np.arcsin(place[:, 2] / radius)
    # The surface point of the ellipsoid is on the same line from the Earth's centre.
    surface_radius = 1.0 / np.hypot(
        np.cos(geocentric) / 6378137.0, np.sin(geocentric) / 6356752.314245179
    )
    radial = {"longitude": longitude, "radial_height": radius - surface_radius}
    for columns in (
        {"latitude": latitude, "longitude": longitude, "height": height},
        {"latitude": latitude, **radial},
        {"geocentric_latitude": geocentric, **radial},
        dict(zip(("ecef_x", "ecef_y", "ecef_z"), place.T)),
    ):
        np.testing.assert_allclose(packets.ecef_positions(columns), place, atol=1e-8)
