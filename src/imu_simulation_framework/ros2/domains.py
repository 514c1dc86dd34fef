"""Reservation of a ROS 2 domain that is free on this machine.

Two experiments in one domain would hear each other's messages. A domain's participants listen on
UDP ports that follow from its number (OMG DDS Interoperability Wire Protocol 2.5, section 9.6.2.3).
"""

from __future__ import annotations

import contextlib
import random
import socket
from typing import Iterator

from ..core.errors import FrameworkError

DOMAINS = range(1, 102)
"""Domains other than the default one whose ports are below those that Linux hands out."""

PORT_BASE, PORTS_PER_DOMAIN = 7400, 250

PARTICIPANT_PORTS = range(74)
"""Ports of a domain's participants: multicast, then two for each of 32 local participants."""

RESERVED_PORT = 249
"""Port of a domain that marks it as reserved; no participant uses a port this high."""


@contextlib.contextmanager
def reserved_domain() -> Iterator[int]:
    """Reserve a domain without participants until the context ends.

    Yields
    ------
    int
        The domain, for ``ROS_DOMAIN_ID``.

    Raises
    ------
    FrameworkError
        Every domain has participants.
    """
    for domain in random.sample(DOMAINS, len(DOMAINS)):
        first = PORT_BASE + PORTS_PER_DOMAIN * domain
        with contextlib.ExitStack() as reserved:
            try:
                reserved.enter_context(_bound(first + RESERVED_PORT))
                for port in PARTICIPANT_PORTS:
                    _bound(first + port).close()
            except OSError:
                continue
            yield domain
            return
    raise FrameworkError(
        f"ROS 2: every domain from {DOMAINS[0]} to {DOMAINS[-1]} is used on this machine; set "
        "ROS_DOMAIN_ID to the one that this experiment may share"
    )


def _bound(port: int) -> socket.socket:
    """Return a UDP socket with exclusive use of a port. Raises OSError: the port is in use."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        listener.bind(("", port))
    except OSError:
        listener.close()
        raise
    return listener
