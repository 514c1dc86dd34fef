"""Base class of nodes that path_follower starts and stops in an experiment."""

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
    """Return the timeout for the next message after a drive has ended.

    It is twice ``[simulation] command_timeout``, because both nodes and simulator may be slow.

    Parameters
    ----------
    configuration : Configuration
        Settings of the experiment.

    Returns
    -------
    float
        Wall-clock timeout [s].
    """
    return 2.0 * configuration.simulation.command_timeout


# Wall-clock timeout for queued messages after a signal [s]; other nodes may still be running.
EARLY_END_TIMEOUT = 3.0

LATEST_TIME = rospy.Time(0xFFFFFFFF, 999999999)  # later than any simulated time


class Participant(Node, ABC):
    """Node with a service ``<node>/start``, which responds when the node is ready.

    The node responds when all subscribers in ``inputs`` are connected, so that they receive the
    first message of the experiment.

    Attributes
    ----------
    inputs : tuple of rospy.Subscriber
        Subscribers that must be connected; set by the subclass.
    folder : ResultFolder or None
        Result folder; None before the start.
    """

    inputs: tuple = ()

    _progress: Any = None  # rospy.Publisher, set if the simulator does not run in lock-step
    _periods = -1

    def __init__(self) -> None:
        super().__init__()
        self.folder: Any = None
        self._period = round(NANOSECONDS / self.configuration.control.rate)
        self._sampling = round(NANOSECONDS / self.configuration.imu.rate)
        self._simulator = make_simulator_interface(self.configuration)
        if not self._simulator.lock_step:
            self._progress = advertise(topics.PROGRESS, Header, latch=True)

    def report_processed(self, stamp: int) -> None:
        """Report that this node has processed all samples up to a stamp.

        Call this method for each sample. Without lock-step, the simulator receives one report per
        control period.

        Parameters
        ----------
        stamp : int
            Stamp of the sample [ns].
        """
        periods = (stamp + self._sampling - 1) // self._period
        if self._progress is not None and periods != self._periods:
            self._periods = periods
            self._report(rospy.Time(nsecs=stamp))

    def report_idle(self) -> None:
        """Report that no node needs to wait for this node until its next processed sample."""
        self._periods = -1
        if self._progress is not None:
            self._report(LATEST_TIME)

    def _report(self, stamp) -> None:
        self._progress.publish(Header(stamp=stamp, frame_id=self.name))

    def offer_start(self) -> None:
        """Advertise the start service; call this at the end of the constructor of a subclass."""
        rospy.Service(f"{self.name}/start", StartStopTime, self._on_start)

    @abstractmethod
    def prepare(self, start: float, stop: float) -> None:
        """Prepare the node for a drive.

        Parameters
        ----------
        start, stop : float
            First and last stamp of the replayed part of the recording [s].

        Raises
        ------
        FrameworkError
            The experiment cannot run.
        """

    def _on_start(self, request):
        try:
            if self.folder is not None:
                raise FrameworkError(f"{self.name}: an experiment is already running")
            self.folder = ResultFolder.from_prefix(request.file_prefix)
            self.prepare(request.start.to_sec(), request.stop.to_sec())
            self.wait_until(
                lambda: not self._unpublished(),
                lambda: f"publishers of {', '.join(self._unpublished())}",
            )
        except FrameworkError as error:
            if self.interrupted:
                # No response is sent, because path_follower would report it as a failure, although
                # the user has interrupted the experiment.
                threading.Event().wait()
            return StartStopTimeResponse(success=False, message=str(error))
        return StartStopTimeResponse(success=True, message="")

    def _unpublished(self) -> list[str]:
        return [i.resolved_name for i in self.inputs if i.get_num_connections() == 0]

    def receive_reference_trajectory(self) -> ReferenceTrajectory:
        """Receive the reference trajectory that path_follower publishes before the start.

        Returns
        -------
        ReferenceTrajectory
            Poses over time.

        Raises
        ------
        SimulatorError
            No message arrives within ``[simulation] startup_timeout``.
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
        """Raise an error if the node is being closed, so that no new files are opened.

        Raises
        ------
        SimulatorError
            The node has ended.
        """
        if self.ended:
            raise SimulatorError(f"{self.name}: ended before it was ready")

    def wait_for_last_messages(self, is_complete, count, is_over, awaited: str) -> None:
        """Wait for the complete record of a drive as long as further messages arrive.

        Parameters
        ----------
        is_complete : callable
            Function that returns whether the record is complete.
        count : callable
            Function that returns a number that increases with each message of the drive.
        is_over : callable
            Function that returns whether the robot has reached the end of the drive.
        awaited : str
            Description for messages, see :meth:`.Node.wait_until`.

        Raises
        ------
        SimulatorError
            No further message arrives, the drive is not over, or the node ends.
        """
        timeout = last_messages_timeout(self.configuration)
        last_count = None
        while True:
            try:
                return self.wait_until(is_complete, awaited, timeout)
            except SimulatorError:
                new_count = count()
                if self.ended or not is_over() or new_count == last_count:
                    raise
                last_count = new_count

    def drain_queued_messages(self, count, timeout: float | None = None) -> None:
        """Wait until messages that have already been sent are received.

        Parameters
        ----------
        count : callable
            Function that returns the number of messages received so far.
        timeout : float, optional
            Wall-clock time after which further messages are considered new [s]; by default
            :func:`last_messages_timeout`.
        """
        if timeout is None:
            timeout = last_messages_timeout(self.configuration)
        deadline = time.monotonic() + timeout
        last_count = None
        while count() != last_count and time.monotonic() < deadline:
            last_count = count()
            time.sleep(0.1)  # if no message arrives during this time, the queues are empty
