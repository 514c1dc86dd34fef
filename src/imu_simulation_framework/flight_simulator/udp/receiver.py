"""A socket that takes packets as they come, in a thread, and never more than it has room for."""

from __future__ import annotations

import queue
import socket
import threading
from typing import Iterator

from imu_simulation_framework.checked_values import checked_number
from imu_simulation_framework.errors import SimulatorError

MOST_WAITING = 100_000
"""Packets that wait to be asked for; what comes beyond is dropped and counted."""

_LARGEST_PACKET = 65_535
_KERNEL_BUFFER = 4 * 2**20  # bytes; the kernel gives as much as it allows
_LOOK = 0.1  # s, how often the thread looks whether it shall end


class PacketReceiver:
    """Receives the packets of one sender; use it in a ``with`` statement.

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
    strangers : int
        Packets of other senders than the first; they are left out.

    Raises
    ------
    SimulatorError
        The port is not free, or is none.
    """

    def __init__(self, port=0, host="127.0.0.1", most_waiting=MOST_WAITING):
        self.dropped = self.strangers = 0
        self._waiting: queue.Queue[bytes] = queue.Queue(maxsize=most_waiting)
        self._stop = threading.Event()
        self._sender = None
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

    def packets(self, timeout: float) -> Iterator[bytes]:
        """Yield packets in the order in which they come, until none comes any more.

        Parameters
        ----------
        timeout : float
            So long it waits for each [s].

        Raises
        ------
        SimulatorError
            Not even the first one came.
        ConfigurationError
            The timeout is not positive.
        """
        timeout = checked_number("a receiver's timeout", timeout, above=0.0)
        count = 0
        while True:
            try:
                packet = self._waiting.get(timeout=timeout)
            except queue.Empty:
                if count == 0:
                    raise SimulatorError(
                        f"UDP port {self.port} of {self.host}: nothing came for {timeout:g} s; "
                        "does the simulator run, and does its output name this address and port?"
                    ) from None
                return
            count += 1
            yield packet

    def _receive(self):
        while not self._stop.is_set():
            try:
                packet, sender = self._socket.recvfrom(_LARGEST_PACKET)
            except socket.timeout:
                continue
            except OSError:
                self._stop.wait(_LOOK)
                continue
            self._sender = self._sender or sender
            if sender != self._sender:
                self.strangers += 1
                continue
            try:
                self._waiting.put_nowait(packet)
            except queue.Full:
                self.dropped += 1
