"""Reservation of a ROS 2 domain that is not in use on this machine.

Two experiments in the same domain would receive each other's messages. The participants of a domain
listen on UDP ports that are computed from the domain number (OMG DDS Interoperability Wire Protocol
2.5, section 9.6.2.3).
"""

from __future__ import annotations

import contextlib
import random
import socket
from typing import Iterator

from ..core.errors import FrameworkError

# Domains other than 0 whose ports are below the ephemeral ports of Linux (from 32768).
DOMAINS = range(1, 102)

PORT_BASE, PORTS_PER_DOMAIN = 7400, 250  # default values of the DDS wire protocol

# Ports in a domain: ten for multicast, then two for each of 32 local participants.
PARTICIPANT_PORTS = range(74)

# Port in a domain that marks it as reserved; participants do not use such a high port.
RESERVED_PORT = 249


@contextlib.contextmanager
def reserve_domain() -> Iterator[int]:
    """Reserve a domain without participants until the context ends.

    Yields
    ------
    int
        Number of the domain, for ``ROS_DOMAIN_ID``.

    Raises
    ------
    FrameworkError
        All domains have participants.
    """
    for domain in random.sample(DOMAINS, len(DOMAINS)):
        first = PORT_BASE + PORTS_PER_DOMAIN * domain
        with contextlib.ExitStack() as reserved:
            try:
                reserved.enter_context(_bind(first + RESERVED_PORT))
                for port in PARTICIPANT_PORTS:
                    _bind(first + port).close()
            except OSError:
                continue
            yield domain
            return
    raise FrameworkError(
        f"ROS 2: all domains from {DOMAINS[0]} to {DOMAINS[-1]} are in use on this machine; set "
        "ROS_DOMAIN_ID to a domain that this experiment may share"
    )


def _bind(port: int) -> socket.socket:
    """Return a UDP socket with exclusive use of a port; raise OSError if it is in use."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        listener.bind(("", port))
    except OSError:
        listener.close()
        raise
    return listener
