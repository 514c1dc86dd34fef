"""Reservations of ports and ROS 2 domains shared by all tests on this machine."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import tempfile
from pathlib import Path

from imu_simulation_framework.ros2.domains import (
    DOMAINS,
    PORT_BASE,
    PORTS_PER_DOMAIN,
    RESERVED_PORT,
)

# The ports are below the ephemeral ports of Linux and below the ports of ``./run``.
PORTS = range(10000, 12000)

_FOLDER = Path(tempfile.gettempdir()) / f"imu_simulation_framework_tests-{os.getuid()}"


@contextlib.contextmanager
def reserved_port():
    """Reserve a free TCP port of this machine until the context ends."""
    with _reserved("port", PORTS, _is_free_port) as port:
        yield port


@contextlib.contextmanager
def reserved_domain():
    """Reserve a ROS 2 domain of this machine until the context ends.

    Experiments that choose their domain themselves also skip reserved domains.
    """
    with contextlib.ExitStack() as held:

        def is_free(domain):
            probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            try:
                probe.bind(("", PORT_BASE + PORTS_PER_DOMAIN * domain + RESERVED_PORT))
            except OSError:
                probe.close()
                return False
            held.enter_context(probe)
            return True

        yield held.enter_context(_reserved("domain", DOMAINS, is_free))


@contextlib.contextmanager
def _reserved(kind, numbers, is_usable):
    # The kernel releases file locks when the process ends, so no reservation remains.
    _FOLDER.mkdir(mode=0o700, exist_ok=True)
    start = os.getpid() % len(numbers)
    for number in [*numbers[start:], *numbers[:start]]:
        lock = os.open(_FOLDER / f"{kind}-{number}", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if is_usable(number):
                yield number
                return
        except BlockingIOError:
            continue
        finally:
            os.close(lock)
    raise AssertionError(
        f"every {kind} from {numbers[0]} to {numbers[-1]} is reserved, expected a free {kind}"
    )


def _is_free_port(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
