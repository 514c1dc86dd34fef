"""A node that takes part in an experiment that path_follower leads."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from typing import Any

import rospy
from std_msgs.msg import Header

from ..core import topics
from ..core.errors import FrameworkError, SimulatorError
from ..core.stamps import NANOSECONDS
from ..drive.configuration import Configuration
from ..drive.results.files import ResultFolder
from ..msg import ReferenceTrajectory
from ..srv import StartStopTime, StartStopTimeResponse
from .node import Node, advertise
from .simulators.interface import make_simulator_interface


def last_messages_timeout(configuration: Configuration) -> float:
    """Return how long to wait for the next of the last messages once the drive has ended.

    Parameters
    ----------
    configuration : Configuration
        Of the experiment; twice its ``command_timeout``, as nodes and simulator may both be slow.

    Returns
    -------
    float
        Wall-clock time [s].
    """
    return 2.0 * configuration.simulation.command_timeout


EARLY_END_TIMEOUT = 3.0  # the same when the node was told to end; the others may be driving on

ALL_TIME = rospy.Time(0xFFFFFFFF, 999999999)  # later than any simulated time


class Participant(Node, ABC):
    """Offers ``<node>/start``, and answers it when the node is ready.

    A subclass names its subscribers in ``inputs``; the answer waits until each is
    connected, so that the first message of the experiment reaches it.
    """

    inputs: tuple = ()

    _progress: Any = None  # where somebody waits for it: rospy.Publisher
    _periods = -1

    def __init__(self) -> None:
        super().__init__()
        self.folder: Any = None  # once it has begun: ResultFolder
        self._period = round(NANOSECONDS / self.configuration.control.rate)
        self._sampling = round(NANOSECONDS / self.configuration.imu.rate)
        self._simulator = make_simulator_interface(self.configuration)
        if not self._simulator.lock_step:
            self._progress = advertise(topics.PROGRESS, Header, latch=True)

    def processed(self, stamp: int) -> None:
        """Learn that this node has done with all until a stamp [ns], sample by sample.

        A simulator that does not wait by itself is told so with the last sample of each control
        period.
        """
        periods = (stamp + self._sampling - 1) // self._period
        if self._progress is not None and periods != self._periods:
            self._periods = periods
            self._report(rospy.Time(nsecs=stamp))

    def needs_nothing(self) -> None:
        """Say that no node has to wait for this one, until it has processed a sample again."""
        self._periods = -1
        if self._progress is not None:
            self._report(ALL_TIME)

    def _report(self, stamp) -> None:
        self._progress.publish(Header(stamp=stamp, frame_id=self.name))

    def offer_start(self) -> None:
        """To be called at the end of the subclass's constructor."""
        rospy.Service(f"{self.name}/start", StartStopTime, self._on_start)

    @abstractmethod
    def prepare(self, start: float, stop: float) -> None:
        """Get ready for the drive between the recording's stamps ``start`` and ``stop`` [s].

        Raises FrameworkError: why the experiment cannot be done.
        """

    def _on_start(self, request):
        try:
            if self.folder is not None:
                raise FrameworkError(f"{self.name}: an experiment is running already")
            self.folder = ResultFolder.from_prefix(request.file_prefix)
            self.prepare(request.start.to_sec(), request.stop.to_sec())
            self.wait_until(
                lambda: not self._unpublished(),
                lambda: f"publishers of {', '.join(self._unpublished())}",
            )
        except FrameworkError as error:
            if self.interrupted:
                # The caller gets a signal, too, and would report a refusal as the cause of the end.
                # Without an answer its call ends with this process.
                threading.Event().wait()
            return StartStopTimeResponse(success=False, message=str(error))
        return StartStopTimeResponse(success=True, message="")

    def _unpublished(self) -> list[str]:
        return [i.resolved_name for i in self.inputs if i.get_num_connections() == 0]

    def reference_trajectory(self) -> ReferenceTrajectory:
        """Return what path_follower says where the robot is to be; it does before the start.

        Raises SimulatorError: it has said nothing within the time for starting up.
        """
        received: list[ReferenceTrajectory] = []
        subscriber = self.subscribe(
            topics.REFERENCE_TRAJECTORY, ReferenceTrajectory, received.append
        )
        try:
            self.wait_until(lambda: received, f"a message on {topics.REFERENCE_TRAJECTORY}")
        finally:
            subscriber.unregister()
        return received[0]

    def ensure_not_ended(self) -> None:
        """Refuse to get ready while the main thread closes: what is opened then would be left.

        Raises SimulatorError.
        """
        if self.ended:
            raise SimulatorError(f"{self.name}: ended before it was ready")

    def wait_for_last_messages(self, complete, received, over, what: str) -> None:
        """Wait until a drive is complete, as long as messages of it still come.

        Raises SimulatorError. ``complete``, ``over``: return whether all is there, and whether the
        robot has arrived; ``received``: returns a number that grows with the drive's messages;
        ``what``: as of :meth:`.Node.wait_until`.
        """
        before = None
        while True:
            try:
                return self.wait_until(complete, what, last_messages_timeout(self.configuration))
            except SimulatorError:
                now = received()
                if self.ended or not over() or now == before:
                    raise
                before = now

    def read_what_is_there(self, received, timeout: float | None = None) -> None:
        """Leave messages that have been sent already, but not yet read, the time for it.

        ``received``: returns how many messages have come so far; ``timeout``: wall-clock seconds
        after which those that still come are new ones, by default those for the last messages.
        """
        if timeout is None:
            timeout = last_messages_timeout(self.configuration)
        deadline = time.monotonic() + timeout
        before = None
        while received() != before and time.monotonic() < deadline:
            before = received()
            time.sleep(0.1)  # without a message: all that were sent count as read
