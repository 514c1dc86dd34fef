"""Reservation of a ROS 2 domain that is free on this machine.

Two experiments in one domain would receive each other's messages. A domain's participants listen on
UDP ports that follow from its number (OMG DDS Interoperability Wire Protocol 2.5, section 9.6.2.3).
"""

from __future__ import annotations

import contextlib
import random
import socket
from typing import Iterator

from ..core.errors import FrameworkError

# Domains except the default one, whose ports are below Linux's ephemeral ports (from 32768).
DOMAINS = range(1, 102)

PORT_BASE, PORTS_PER_DOMAIN = 7400, 250  # defaults of the DDS wire protocol

# Ports of a domain's participants: ten for multicast, then two for each of 32 local participants.
PARTICIPANT_PORTS = range(74)

# Port within a domain that marks it as reserved; no participant uses a port this high.
RESERVED_PORT = 249


@contextlib.contextmanager
def reserve_domain() -> Iterator[int]:
    """Reserve a domain without participants until the context ends.

    Yields
    ------
    int
        The domain, for ``ROS_DOMAIN_ID``.

    Raises
    ------
    FrameworkError
        If every domain has participants.
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
        f"ROS 2: every domain from {DOMAINS[0]} to {DOMAINS[-1]} is used on this machine; set "
        "ROS_DOMAIN_ID to a domain that this experiment may share"
    )


def _bind(port: int) -> socket.socket:
    """Return a UDP socket with exclusive use of a port. Raises OSError: the port is in use."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        listener.bind(("", port))
    except OSError:
        listener.close()
        raise
    return listener
