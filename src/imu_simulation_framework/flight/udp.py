"""A flight put together of the packets that a simulator sends by UDP.

A socket takes packets as they come, in a thread, and never more than it has room for.
"""

from __future__ import annotations

import queue
import socket
import threading
import time
from dataclasses import replace
from typing import Sequence, Tuple

import numpy as np

from ..core.checks import check_number
from ..core.errors import SimulatorError
from ..motion.earth import SEMI_MAJOR_AXIS
from ..motion.flight import Flight, FlightStates
from . import packets

MAX_WAITING = 100_000
"""Packets that wait to be asked for; what comes beyond is dropped and counted."""

Sender = Tuple[str, int]
"""Address and port."""

_LARGEST_PACKET = 65_535
_KERNEL_BUFFER = 4 * 2**20  # bytes; the kernel gives as much as it allows
_LOOK = 0.1  # s, how often the thread looks whether it shall end


class PacketReceiver:
    """Receives packets of whoever sends some; use it in a ``with`` statement.

    ``port``: 0 for any free one, then see ``port``. ``host``: address of this computer on which it
    listens; by default only what itself sends. ``most_waiting``: packets for which there is room.
    ``dropped``: packets for which there was no room. Raises SimulatorError if the port is not free,
    or is none.
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


TIMEOUT = 5.0
RESOLUTION = 1e-6
"""Of the time in FlightGear's packets that we advise [s]."""

_MAX_PACKETS = 10_000_000
_MAX_SENDERS = 64
_LOOKED_AT = 1000  # packets, for the digits of their numbers
_COARSE = 1e-3  # m; positions in larger steps are not differentiated
_RESTART = 1.0  # s; who jumps back further begins again
_WRAP = 10.0  # s; so much may be lost while a counter begins again
_OFF_GRID = 0.3  # of a period
_FEWEST = 4


def receive_flight(
    receiver: PacketReceiver,
    duration: float | None = None,
    timeout: float = TIMEOUT,
    rate: float | None = None,
    labels: Sequence[str] | None = None,
    resolution: float = RESOLUTION,
) -> Flight:
    """Receive a flight, until the simulator falls silent or it is long enough.

    Lost packets are gaps in the states' times, reordered ones are sorted in; both are remarks.
    Where the digits of a text are too few for positions, the path is the integral of the
    velocities, see :meth:`.FlightStates.integrated`; a remark says what that costs.

    ``receiver`` (PacketReceiver): started. ``duration``: of the simulation; by default all that
    comes [s]. ``timeout``: so long without a new state is the end, whatever else comes [s].
    ``rate``: packets per second of the simulation [Hz], for FlightGear's packets without a time; by
    default that of their times. ``labels`` (sequence of str): of packets of text, the time's first;
    by default those that the simulator sends first. ``resolution``: of the time in FlightGear's
    packets, as in the output's ``<time>`` [s]. Raises SimulatorError if nothing came, or nothing of
    which a flight can be made. Raises ConfigurationError if a number is out of range.
    """
    if duration is not None:
        duration = check_number("a flight's duration", duration, above=0.0)
    if rate is not None:
        rate = check_number("the rate of packets", rate, above=0.0)
    resolution = check_number("the resolution of times", resolution, above=0.0, maximum=1.0)
    timeout = check_number("a receiver's timeout", timeout, above=0.0)
    period = None if rate is None else 1.0 / rate
    senders: dict[Sender, _Gathered] = {}
    reached: tuple[_Gathered, float] | None = None
    came, until = 0, time.monotonic() + timeout
    while True:
        taken = receiver.take(max(until - time.monotonic(), 0.0))
        if taken is None:
            break
        packet, sender = taken
        came += 1
        if sender not in senders:
            if len(senders) >= _MAX_SENDERS:
                del senders[min(senders, key=lambda one: senders[one].worth)]
            senders[sender] = _Gathered(receiver, labels, period, resolution)
        senders[sender].take(packet)
        # Packets of others may come first, or look like a simulator's: it has the most states.
        gathered = max(senders.values(), key=lambda one: one.worth)
        # Whatever else comes, a flight that does not go on has ended.
        if (gathered, gathered.newest) != reached:
            reached, until = (gathered, gathered.newest), time.monotonic() + timeout
        elif time.monotonic() > until:
            break
        if gathered.restarted or gathered.lasts(duration) or len(gathered) >= _MAX_PACKETS:
            break
    if reached is None:
        raise SimulatorError(
            f"UDP port {receiver.port} of {receiver.host}: nothing came for {timeout:g} s; "
            "does the simulator run, and does its output name this address and port?"
        )
    return reached[0].flight(came)


class _Gathered:
    """Rows of numbers of a sender's packets so far, and what was odd with them."""

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
        """Return whether so much of the simulation is there."""
        if duration is None or not self._rows:
            return False
        return self.newest - self._rows[0][0] >= duration - 1e-9

    @property
    def worth(self) -> tuple[int, bool, int]:
        """How much of a simulator's this is: states, whether there are labels, packets."""
        return len(self._rows), self._text is not None, self._packets

    def take(self, packet):
        """Read a packet."""
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
                raise packets.UnusablePacketError(f"it is no packet of {self._kind}")
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
        """Keep a row; one far from the newest in time only if the next one goes on there."""
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
            self._reach = max(self._reach, 3.0 * step)  # a slow simulator's own steps
        elif len(self._rows) < _FEWEST:
            # What came before is none of this flight.
            self._astray += len(self._rows)
            self._rows = []
        elif jump < 0.0:
            self.restarted = True
            return
        self._rows += [waiting, row]
        self.newest = row[0]

    def _numbers(self, packet, flightgear):
        if not flightgear:
            if len(self._rows) < _LOOKED_AT:
                self._digits = max(self._digits, self._text.digits(packet))
            return self._text.numbers(packet)
        values = packets.decode_flightgear(packet, self._resolution)
        if "time" not in values:
            if self._timed:
                raise packets.UnusablePacketError("it has no time, unlike those before")
            if self._period is None:
                self._refusal = (
                    "FlightGear's packets hold no time; let JSBSim send it, by "
                    '<time type="simulation" resolution="1e-6"/> in its output element, or say '
                    "their rate"
                )
                raise packets.UnusablePacketError("it has no time")
            return {**values, "time": len(self._rows) * self._period}
        self._timed = True
        # Its counter of 32 bits begins again after 4295 s of microseconds.
        round_trip = 2**32 * self._resolution
        further = values["time"] + self._rounds * round_trip
        if abs(further + round_trip - self.newest) <= _WRAP:
            self._rounds += 1
            further += round_trip
        elif self._rounds and abs(further - round_trip - self.newest) <= _RESTART:
            further -= round_trip  # a late one
        return {**values, "time": further}

    def flight(self, came: int) -> Flight:
        """Return what came, of so many packets of all senders.

        Raises SimulatorError if it is not enough.
        """
        if self._refusal and len(self._rows) < _FEWEST:
            raise SimulatorError(f"{self._source}: {self._refusal}")
        if not self._rows and self._unlabelled and not self._unusable:
            raise SimulatorError(
                f"{self._source}: {self._unlabelled} packets came, but none with JSBSim's labels "
                "and none of FlightGear's; begin to receive before the simulator begins to send, "
                "or say the labels"
            )
        if len(self._rows) < _FEWEST:
            reason = f"; the first that is none: {self._first_reason}" if self._unusable else ""
            raise SimulatorError(
                f"{self._source}: {len(self._rows)} of {self._packets} packets are states of an "
                f"aircraft, expected at least {_FEWEST}{reason}"
            )
        table = np.array(self._rows)
        time, order, remarks, period = self._in_order(table[:, 0])
        columns = dict(zip(self._names, table[order, 1:].T))
        states = self._states(time, columns, remarks)
        settings = {
            "source": f"UDP, {self._kind}",
            "port": self._receiver.port,
            "rate": _rate(period),
            "packets": self._packets,
        }
        return Flight(states, settings, remarks=tuple(self._odd(came) + remarks))

    def _states(self, time, columns, remarks):
        position = packets.ecef_positions(columns)
        angles = np.column_stack([columns[name] for name in packets.ATTITUDE])
        velocity = None
        if all(name in columns for name in packets.VELOCITY):
            velocity = np.column_stack([columns[name] for name in packets.VELOCITY])
        states = FlightStates.from_ecef_and_aviation(time, position, angles, velocity)
        if self._kind == "FlightGear":
            remarks.append(
                "angles and velocities of FlightGear's packets are floats: headings come in steps "
                "of up to 4.8e-7 rad"
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
        if step <= _COARSE:
            return replace(states, velocities_lead=velocity is not None)
        advice = 'let JSBSim send more digits, by precision="15" in its output element'
        if velocity is None:
            remarks.append(
                f"positions come in steps of {step:.2g} m and there are no velocities, so that "
                f"accelerations mean nothing; {advice}"
            )
            return states
        fine = max(steps[name] for name in packets.VELOCITY)
        remarks.append(
            f"positions come in steps of {step:.2g} m, so the path is the integral of the "
            f"velocities, which come in steps of {fine:.2g} m/s; {advice}"
        )
        return states.integrated()

    def _in_order(self, time):
        """Return even times, the packets' order, remarks, and the period."""
        remarks = []
        older = int(np.sum(time < np.maximum.accumulate(time)))
        order = np.argsort(time, kind="stable")
        new = np.diff(time[order], prepend=-np.inf) > 0.0
        twice, order = int(np.sum(~new)), order[new]
        if older:
            was = "was" if older == 1 else "were"
            remarks.append(f"{_packets(older)} came late and {was} sorted in")
        if twice:
            remarks.append(f"{_packets(twice)} came twice")
        time = time[order]
        if len(time) < _FEWEST:
            raise SimulatorError(f"{self._source}: its packets are all of the same time")
        period = self._period
        if period is None:
            usual = float(np.median(np.diff(time)))
            period = (time[-1] - time[0]) / max(1, round((time[-1] - time[0]) / usual))
        counts = np.rint((time - time[0]) / period)
        even = time[0] + counts * period
        if np.max(np.abs(even - time)) > _OFF_GRID * period or np.any(np.diff(counts) <= 0):
            remarks.append("the packets' times are not even, and are taken as they are")
            return time, order, remarks, period
        missing = np.diff(counts) - 1.0
        if missing.any():
            remarks.append(
                f"{_packets(int(missing.sum()))} of {int(counts[-1]) + 1} did not come, the first "
                f"after {even[np.argmax(missing > 0)]:.3f} s, at most {int(missing.max())} in a "
                "row; the motion goes on smoothly between those that came"
            )
        return even, order, remarks, period

    def _odd(self, came):
        times = f"times are more than {_RESTART:g} s from those before and after"
        found = (
            (self._receiver.dropped, "came faster than they were taken"),
            (came - self._packets, "of other senders left out"),
            (self._astray, f"left out, whose {times}"),
            (self._unlabelled, "left out that came before the first usable one"),
            (self._unusable, f"left out, the first as {self._first_reason}"),
        )
        odd = [f"{_packets(count)} {what}" for count, what in found if count]
        if self.restarted:
            odd.append("the simulation began again; what came before that is the flight")
        return odd


def _rate(period) -> float:
    """Return samples per second [Hz]; whole ones are, whatever their sums have rounded."""
    rate = 1.0 / float(period)
    return float(round(rate)) if abs(rate - round(rate)) < 1e-9 * rate else rate


def _packets(count):
    return "1 packet" if count == 1 else f"{count} packets"
