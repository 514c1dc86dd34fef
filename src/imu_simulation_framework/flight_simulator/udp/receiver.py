"""A socket that takes packets as they come, in a thread, and never more than it has room for."""

from __future__ import annotations

import queue
import socket
import threading
from typing import Tuple

from imu_simulation_framework.errors import SimulatorError

MOST_WAITING = 100_000
"""Packets that wait to be asked for; what comes beyond is dropped and counted."""

Sender = Tuple[str, int]
"""Address and port."""

_LARGEST_PACKET = 65_535
_KERNEL_BUFFER = 4 * 2**20  # bytes; the kernel gives as much as it allows
_LOOK = 0.1  # s, how often the thread looks whether it shall end


class PacketReceiver:
    """Receives packets of whoever sends some; use it in a ``with`` statement.

    Parameters
    ----------
    port : int
        0 for any free one, then see ``port``.
    host : str
        Address of this computer on which it listens; by default only what itself sends.
    most_waiting : int
        Packets for which there is room.

    Attributes
    ----------
    port : int
    dropped : int
        Packets for which there was no room.

    Raises
    ------
    SimulatorError
        The port is not free, or is none.
    """

    def __init__(self, port=0, host="127.0.0.1", most_waiting=MOST_WAITING):
        self.dropped = 0
        self._waiting: queue.Queue[tuple[bytes, Sender]] = queue.Queue(maxsize=most_waiting)
        self._stop = threading.Event()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _KERNEL_BUFFER)
            self._socket.bind((host, port))
            self._socket.settimeout(_LOOK)
        except (OSError, OverflowError, TypeError) as error:
            self._socket.close()
            raise SimulatorError(
                f"UDP port {port} of {host} cannot be listened on: "
                f"{getattr(error, 'strerror', None) or error}"
            ) from None
        self.host, self.port = self._socket.getsockname()[:2]
        self._thread = threading.Thread(target=self._receive, name="udp-receiver", daemon=True)

    def __enter__(self) -> PacketReceiver:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._socket.close()

    def take(self, timeout: float) -> tuple[bytes, Sender] | None:
        """Return the next packet and who sent it; None if none comes in so long a time [s]."""
        try:
            return self._waiting.get(timeout=timeout)
        except queue.Empty:
            return None

    def _receive(self):
        while not self._stop.is_set():
            try:
                packet, sender = self._socket.recvfrom(_LARGEST_PACKET)
            except socket.timeout:
                continue
            except OSError:
                self._stop.wait(_LOOK)
                continue
            try:
                self._waiting.put_nowait((packet, sender))
            except queue.Full:
                self.dropped += 1
