"""Reservation of free domains for experiments in ROS 2."""

import contextlib
import socket

import pytest

from imu_simulation_framework.core.errors import FrameworkError
from imu_simulation_framework.ros2 import domains
from imu_simulation_framework.ros2.domains import reserve_domain


@pytest.fixture
def two_domains(monkeypatch):
    """Restrict experiments to two free ROS 2 domains."""
    with reserve_domain() as first, reserve_domain() as second:
        pass
    monkeypatch.setattr(domains, "DOMAINS", (first, second))
    return first, second


@contextlib.contextmanager
def participant(domain, number=0):
    """Bind the UDP port of a DDS participant with address reuse, as Fast DDS does."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Port base, domain gain, offset d1 and participant gain of the DDSI-RTPS specification.
        listener.bind(("", 7400 + 250 * domain + 10 + 2 * number))
        yield


@pytest.mark.parametrize("number", [0, 31], ids=["first", "last"])
def test_domain_with_participant_is_not_used(two_domains, number):
    used, free = two_domains
    with participant(used, number), reserve_domain() as domain:
        assert domain == free


def test_simultaneous_experiments_use_different_domains(two_domains):
    with reserve_domain() as first, reserve_domain() as second:
        assert {first, second} == set(two_domains)


def test_lack_of_free_domain_id_is_reported(two_domains):
    first, second = two_domains
    with participant(first), participant(second):
        refused = pytest.raises(FrameworkError, match="set ROS_DOMAIN_ID")
        with refused, reserve_domain():
            pass


def test_domain_is_free_again_after_experiment(two_domains):
    for _ in range(5):
        with reserve_domain() as domain:
            assert domain in two_domains
