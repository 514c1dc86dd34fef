"""Ports and ROS 2 domains that no other test on this machine uses at the same time."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import tempfile
from pathlib import Path

PORTS = range(10000, 12000)
"""Below the range from which Linux hands out ports, and below that of ``./run``."""

DOMAINS = range(1, 102)
"""ROS 2 domains whose ports are below the range from which Linux hands out ports."""

_FOLDER = Path(tempfile.gettempdir()) / f"imu_simulation_framework_tests-{os.getuid()}"


@contextlib.contextmanager
def reserved_port():
    """Reserve a free TCP port of this machine until the context ends."""
    with _reserved("port", PORTS, _is_free_port) as port:
        yield port


@contextlib.contextmanager
def reserved_domain():
    """Reserve a ROS 2 domain of this machine until the context ends."""
    with _reserved("domain", DOMAINS, lambda _: True) as domain:
        yield domain


@contextlib.contextmanager
def _reserved(kind, numbers, is_usable):
    # A lock ends with its process, whatever ends that, so that no reservation is left behind.
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
    raise AssertionError(f"every {kind} from {numbers[0]} to {numbers[-1]} is reserved")


def _is_free_port(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
