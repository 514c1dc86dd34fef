"""An experiment of ROS 2 takes a domain that nobody uses."""

import contextlib
import socket

import pytest

from imu_simulation_framework.core.errors import FrameworkError
from imu_simulation_framework.ros2 import domains
from imu_simulation_framework.ros2.domains import reserve_domain


@pytest.fixture
def two_domains(monkeypatch):
    """Two domains of this machine that are free before the test, instead of all."""
    with reserve_domain() as one, reserve_domain() as other:
        pass
    monkeypatch.setattr(domains, "DOMAINS", (one, other))
    return one, other


@contextlib.contextmanager
def participant(domain, number=0):
    """Listen where a participant of a domain does, and share the port as Fast DDS does."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Port base, domain gain, offset d1 and participant gain of the specification.
        listener.bind(("", 7400 + 250 * domain + 10 + 2 * number))
        yield


@pytest.mark.parametrize("number", [0, 31], ids=["first", "last"])
def test_domain_with_participant_is_not_taken(two_domains, number):
    used, free = two_domains
    with participant(used, number), reserve_domain() as domain:
        assert domain == free


def test_experiments_at_same_time_take_different_domains(two_domains):
    with reserve_domain() as one, reserve_domain() as other:
        assert {one, other} == set(two_domains)


def test_missing_free_domain_is_reported(two_domains):
    one, other = two_domains
    with participant(one), participant(other):
        refused = pytest.raises(FrameworkError, match="set ROS_DOMAIN_ID")
        with refused, reserve_domain():
            pass


def test_domain_is_free_again_after_experiment(two_domains):
    for _ in range(5):
        with reserve_domain() as domain:
            assert domain in two_domains
