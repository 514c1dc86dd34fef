"""Reception of a flight in UDP packets from a simulator.

.. list-table::
   :header-rows: 1
   :widths: 34 26 40

   * - format
     - positions
     - loss of accuracy
   * - text, ``precision="15"``
     - full precision
     - none
   * - text with the default of 7 digits
     - steps of 1.1 m at a longitude of 95 deg
     - the path is integrated from
       the velocities (steps of 3e-5 m/s) and shifted to the mean of the positions; the specific
       force at 50 Hz has an error of 0.002 m/s^2
   * - ``type="FLIGHTGEAR"``, with ``<time type="simulation" resolution="1e-6"/>``
     - double precision
     - angles and
       velocities have single precision: 4.8e-7 rad of heading

- In text packets, the groups ``<position> ON </position>`` and ``<velocities> ON </velocities>``
  can be used instead of properties; their latitude is geocentric, as stated in the label.
- FlightGear packets without ``<time>`` have no time. :func:`.receive_flight` then requires their
  ``rate``, and cannot detect lost packets. The time has 32 bits and wraps after 4295 s, which is
  not treated as a restart.
- The sender with the most states is assumed to be the simulator. Lost packets are interpolated,
  late packets are sorted, and packets whose time differs by more than one second from the packets
  before and after are ignored. Remarks report these cases, other senders and other formats.
- A thread receives the packets, and drops them while its queue of 100 000 packets is full.
- The flight ends if no new state arrives within ``timeout``. Before the first packet, this is an
  error.
"""

from __future__ import annotations

import queue
import socket
import threading
import time
from dataclasses import replace
from typing import NamedTuple, Sequence, Tuple

import numpy as np

from ..core.checks import check_number
from ..core.errors import SimulatorError
from ..motion.earth import SEMI_MAJOR_AXIS
from ..motion.flight import Flight, FlightStates
from . import packets

MAX_WAITING = 100_000
"""Length of the packet queue; further packets are dropped and counted."""

Sender = Tuple[str, int]
"""Address and port of a UDP sender."""

_LARGEST_PACKET = 65_535  # bytes
_KERNEL_BUFFER = 4 * 2**20  # bytes; the kernel may reduce it
_POLL_PERIOD = 0.1  # s; period with which the thread checks whether it should end


class PacketReceiver:
    """Context manager that receives UDP packets from any sender.

    Parameters
    ----------
    port : int
        Port, or 0 for any free port, which is then in the attribute ``port``.
    host : str
        Local address to listen on; by default, only packets from this computer are received.
    most_waiting : int
        Length of the packet queue.

    Attributes
    ----------
    dropped : int
        Number of packets that were dropped because the queue was full.

    Raises
    ------
    SimulatorError
        The port is in use or invalid.
    """

    def __init__(
        self, port: int = 0, host: str = "127.0.0.1", most_waiting: int = MAX_WAITING
    ) -> None:
        self.dropped = 0
        self._waiting: queue.Queue[tuple[bytes, Sender]] = queue.Queue(maxsize=most_waiting)
        self._stop = threading.Event()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _KERNEL_BUFFER)
            self._socket.bind((host, port))
            self._socket.settimeout(_POLL_PERIOD)
        except (OSError, OverflowError, TypeError) as error:
            self._socket.close()
            raise SimulatorError(
                f"cannot listen on UDP port {port} of {host}: "
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
        """Return the next packet and its sender.

        Parameters
        ----------
        timeout : float
            Longest waiting time [s].

        Returns
        -------
        tuple of bytes and Sender, or None
            Packet and sender, or None after the timeout.
        """
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
                self._stop.wait(_POLL_PERIOD)
                continue
            try:
                self._waiting.put_nowait((packet, sender))
            except queue.Full:
                self.dropped += 1


TIMEOUT = 5.0  # s
RESOLUTION = 1e-6
"""Recommended time resolution in FlightGear packets [s]."""

_MAX_PACKETS = 10_000_000
_MAX_SENDERS = 64
_EXAMINED_PACKETS = 1000  # number of packets whose significant digits are counted
_COARSE_STEP = 1e-3  # m; with a coarser position resolution, velocities are used
_RESTART = 1.0  # s; a larger step back in time is treated as a restart
_WRAP = 10.0  # s; longest gap across which a wrap of the time counter is detected
_MAX_UNEVENNESS = 0.3  # largest deviation from evenly spaced times, in periods
_MIN_STATES = 4


def receive_flight(
    receiver: PacketReceiver,
    duration: float | None = None,
    timeout: float = TIMEOUT,
    rate: float | None = None,
    labels: Sequence[str] | None = None,
    resolution: float = RESOLUTION,
) -> Flight:
    """Receive a flight until its duration is reached, or until no new states arrive.

    Lost packets result in gaps between the states, and reordered packets are sorted; remarks report
    both. If positions in text packets have too few digits, the path is computed as the integral of
    the velocities, see :meth:`.FlightStates.integrated`, and a remark reports their resolution.

    Parameters
    ----------
    receiver : PacketReceiver
        Started receiver.
    duration : float, optional
        Duration of the simulation [s]; by default unlimited.
    timeout : float
        Time without a new state after which the flight ends [s].
    rate : float, optional
        Packets per second of simulated time [Hz], for FlightGear packets without a time.
    labels : sequence of str, optional
        Labels of text packets, starting with the time; by default the labels from the simulator.
    resolution : float
        Time resolution in FlightGear packets, as in the output element ``<time>`` [s].

    Returns
    -------
    Flight

    Raises
    ------
    SimulatorError
        No packets are received, or they do not contain a flight.
    ConfigurationError
        A number is out of range.
    """
    if duration is not None:
        duration = check_number("a flight's duration", duration, above=0.0)
    if rate is not None:
        rate = check_number("the rate of packets", rate, above=0.0)
    resolution = check_number("the resolution of times", resolution, above=0.0, maximum=1.0)
    timeout = check_number("a receiver's timeout", timeout, above=0.0)
    period = None if rate is None else 1.0 / rate
    senders: dict[Sender, _Reception] = {}
    reached: tuple[_Reception, float] | None = None
    count, until = 0, time.monotonic() + timeout
    while True:
        received = receiver.take(max(until - time.monotonic(), 0.0))
        if received is None:
            break
        packet, sender = received
        count += 1
        if sender not in senders:
            if len(senders) >= _MAX_SENDERS:
                del senders[min(senders, key=lambda known: senders[known].rank)]
            senders[sender] = _Reception(receiver, labels, period, resolution)
        senders[sender].take(packet)
        # Other senders may come first or send similar packets, but the simulator sends most states.
        best = max(senders.values(), key=lambda reception: reception.rank)
        # The flight ends if there are no new states, even if other packets still arrive.
        if (best, best.newest) != reached:
            reached, until = (best, best.newest), time.monotonic() + timeout
        elif time.monotonic() > until:
            break
        if best.restarted or best.lasts(duration) or len(best) >= _MAX_PACKETS:
            break
    if reached is None:
        raise SimulatorError(
            f"UDP port {receiver.port} of {receiver.host}: no packet arrived for {timeout:g} s; "
            "check that the simulator is running and sends its output to this address and port"
        )
    return reached[0].flight(count)


class _OrderedPackets(NamedTuple):
    """Packets sorted by time, with evenly spaced times [s] if possible."""

    time: np.ndarray
    order: np.ndarray
    remarks: list[str]
    period: float


class _Reception:
    """Flight states received from one sender, with counts of irregular packets."""

    def __init__(self, receiver, labels, period, resolution):
        self._receiver, self._period, self._resolution = receiver, period, resolution
        self._source = f"UDP port {receiver.port}"
        self._reach, self.newest = _RESTART, -np.inf
        self._refusal = self._first_reason = ""
        self._text = self._kind = self._names = self._waiting = None
        self._rows = []
        self._packets = self._unlabelled = self._unusable = self._astray = 0
        self._rounds = self._digits = 0
        self._timed = self.restarted = False
        if labels is not None:
            self._take_labels(labels)
            if self._refusal:
                raise SimulatorError(f"{self._source}: {self._refusal}")

    def __len__(self):
        return len(self._rows)

    def lasts(self, duration):
        """Return whether the received states cover a duration [s]."""
        if duration is None or not self._rows:
            return False
        return self.newest - self._rows[0][0] >= duration - 1e-9

    @property
    def rank(self) -> tuple[int, bool, int]:
        """Key for ranking senders: number of states, presence of labels, number of packets."""
        return len(self._rows), self._text is not None, self._packets

    def take(self, packet):
        """Process a packet."""
        self._packets += 1
        labels = packets.read_labels(packet)
        if labels is not None:
            if self._kind is None:
                self._take_labels(labels)
            return
        flightgear = packets.is_flightgear(packet)
        if not flightgear and self._kind is None:
            self._unlabelled += 1
            return
        self._kind = self._kind or "FlightGear"
        try:
            if flightgear != (self._kind == "FlightGear"):
                raise packets.UnusablePacketError(f"it is not a packet of {self._kind}")
            values = self._numbers(packet, flightgear)
        except packets.UnusablePacketError as error:
            self._unusable += 1
            self._first_reason = self._first_reason or str(error)
            return
        self._names = self._names or [name for name in values if name != "time"]
        self._put((values["time"], *(values[name] for name in self._names)))

    def _take_labels(self, labels):
        try:
            self._text, self._kind = packets.TextColumns.from_labels(labels), "text"
        except packets.UnusablePacketError as error:
            self._refusal = self._refusal or str(error)

    def _put(self, row):
        """Append a state; accept a state after a time jump only if the next state confirms it."""
        if not self._rows or abs(row[0] - self.newest) <= self._reach:
            self._astray += self._waiting is not None
            self._waiting = None
            self.newest = max(self.newest, row[0])
            self._rows.append(row)
            return
        waiting, self._waiting = self._waiting, row
        if waiting is None:
            return
        jump, step = waiting[0] - self.newest, row[0] - waiting[0]
        if not 0.0 < step <= max(self._reach, 1.5 * jump):
            self._astray += 1
            return
        self._waiting = None
        if 0.0 < jump <= 1.5 * step:
            self._reach = max(self._reach, 3.0 * step)  # a simulator with a low rate has long steps
        elif len(self._rows) < _MIN_STATES:
            # The few states before the time jump do not belong to this flight.
            self._astray += len(self._rows)
            self._rows = []
        elif jump < 0.0:
            self.restarted = True
            return
        self._rows += [waiting, row]
        self.newest = row[0]

    def _numbers(self, packet, flightgear):
        if not flightgear:
            if len(self._rows) < _EXAMINED_PACKETS:
                self._digits = max(self._digits, self._text.digits(packet))
            return self._text.numbers(packet)
        values = packets.decode_flightgear(packet, self._resolution)
        if "time" not in values:
            if self._timed:
                raise packets.UnusablePacketError("it has no time, unlike previous packets")
            if self._period is None:
                self._refusal = (
                    "FlightGear packets contain no time; let JSBSim send the time with "
                    '<time type="simulation" resolution="1e-6"/> in its output element, or set the '
                    "packet rate"
                )
                raise packets.UnusablePacketError("it has no time")
            return {**values, "time": len(self._rows) * self._period}
        self._timed = True
        # The 32-bit counter of microseconds wraps after 4295 s.
        round_trip = 2**32 * self._resolution
        unwrapped_time = values["time"] + self._rounds * round_trip
        if abs(unwrapped_time + round_trip - self.newest) <= _WRAP:
            self._rounds += 1
            unwrapped_time += round_trip
        elif self._rounds and abs(unwrapped_time - round_trip - self.newest) <= _RESTART:
            unwrapped_time -= round_trip  # a late packet from before the wrap
        return {**values, "time": unwrapped_time}

    def flight(self, count: int) -> Flight:
        """Return the received flight; ``count`` is the number of packets from all senders."""
        if self._refusal and len(self._rows) < _MIN_STATES:
            raise SimulatorError(f"{self._source}: {self._refusal}")
        if not self._rows and self._unlabelled and not self._unusable:
            raise SimulatorError(
                f"{self._source}: {self._unlabelled} packets arrived, expected packets with "
                "JSBSim's labels or in FlightGear's format; start receiving before the simulator "
                "starts sending, or specify the labels"
            )
        if len(self._rows) < _MIN_STATES:
            reason = f"; first rejected packet: {self._first_reason}" if self._unusable else ""
            raise SimulatorError(
                f"{self._source}: {len(self._rows)} of {self._packets} packets contain states of "
                f"an aircraft, expected at least {_MIN_STATES}{reason}"
            )
        table = np.array(self._rows)
        ordered = self._order_packets(table[:, 0])
        columns = dict(zip(self._names, table[ordered.order, 1:].T))
        states = self._states(ordered.time, columns, ordered.remarks)
        settings = {
            "source": f"UDP, {self._kind}",
            "port": self._receiver.port,
            "rate": _to_rate(ordered.period),
            "packets": self._packets,
        }
        return Flight(
            states, settings, remarks=tuple(self._irregularities(count) + ordered.remarks)
        )

    def _states(self, time, columns, remarks):
        position = packets.ecef_positions(columns)
        angles = np.column_stack([columns[name] for name in packets.ATTITUDE])
        velocity = None
        if all(name in columns for name in packets.VELOCITY):
            velocity = np.column_stack([columns[name] for name in packets.VELOCITY])
        states = FlightStates.from_ecef_and_aviation(time, position, angles, velocity)
        if self._kind == "FlightGear":
            remarks.append(
                "angles and velocities in FlightGear packets have single precision: the resolution "
                "of headings is up to 4.8e-7 rad"
            )
            return replace(states, velocities_lead=True)
        steps = {
            name: self._text.step(name, values, self._digits) for name, values in columns.items()
        }
        step = max(
            (SEMI_MAJOR_AXIS if name in packets.ANGLES_OF_PLACES else 1.0) * step
            for name, step in steps.items()
            if name in packets.PLACES
        )
        if step <= _COARSE_STEP:
            return replace(states, velocities_lead=velocity is not None)
        advice = 'let JSBSim send more digits with precision="15" in its output element'
        if velocity is None:
            remarks.append(
                f"the resolution of the positions is {step:.2g} m and there are no velocities, so "
                f"that accelerations are meaningless; {advice}"
            )
            return states
        finest_step = max(steps[name] for name in packets.VELOCITY)
        remarks.append(
            f"the resolution of the positions is {step:.2g} m, so that the path is the integral of "
            f"the velocities, whose resolution is {finest_step:.2g} m/s; {advice}"
        )
        return states.integrated()

    def _order_packets(self, time) -> _OrderedPackets:
        remarks = []
        older_count = int(np.sum(time < np.maximum.accumulate(time)))
        order = np.argsort(time, kind="stable")
        new = np.diff(time[order], prepend=-np.inf) > 0.0
        twice, order = int(np.sum(~new)), order[new]
        if older_count:
            was = "was" if older_count == 1 else "were"
            remarks.append(f"{_format_count(older_count)} arrived late and {was} sorted by time")
        if twice:
            remarks.append(f"{_format_count(twice)} arrived twice")
        time = time[order]
        if len(time) < _MIN_STATES:
            raise SimulatorError(f"{self._source}: all packets have the same time")
        period = self._period
        if period is None:
            median_step = float(np.median(np.diff(time)))
            period = (time[-1] - time[0]) / max(1, round((time[-1] - time[0]) / median_step))
        counts = np.rint((time - time[0]) / period)
        even_times = time[0] + counts * period
        if np.max(np.abs(even_times - time)) > _MAX_UNEVENNESS * period or np.any(
            np.diff(counts) <= 0
        ):
            remarks.append("the times of the packets are uneven, and are used unchanged")
            return _OrderedPackets(time, order, remarks, period)
        missing = np.diff(counts) - 1.0
        if missing.any():
            first = even_times[np.argmax(missing > 0)]
            remarks.append(
                f"{_format_count(int(missing.sum()))} of {int(counts[-1]) + 1} did not arrive, "
                f"the first after {first:.3f} s, at most {int(missing.max())} in a row; the "
                "motion is interpolated over the gaps"
            )
        return _OrderedPackets(even_times, order, remarks, period)

    def _irregularities(self, total):
        times = f"times differ by more than {_RESTART:g} s from the packets before and after"
        counts = (
            (self._receiver.dropped, "arrived faster than they were processed"),
            (total - self._packets, "from other senders ignored"),
            (self._astray, f"omitted, whose {times}"),
            (self._unlabelled, "ignored that arrived before the first usable packet"),
            (self._unusable, f"omitted, the first because {self._first_reason}"),
        )
        sentences = [f"{_format_count(count)} {text}" for count, text in counts if count]
        if self.restarted:
            sentences.append("the simulation was restarted; the flight ends at the restart")
        return sentences


def _to_rate(period) -> float:
    """Return the rate [Hz] for a period [s], rounded to an integer within rounding errors."""
    rate = 1.0 / float(period)
    return float(round(rate)) if abs(rate - round(rate)) < 1e-9 * rate else rate


def _format_count(count):
    return "1 packet" if count == 1 else f"{count} packets"
