"""Where a flight comes from: JSBSim's scripts and recorded tables."""

import numpy as np
import pytest
from earth_flights import flight

from imu_simulation_framework.core.errors import FrameworkError, MotionError
from imu_simulation_framework.flight.source import find_flight


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
