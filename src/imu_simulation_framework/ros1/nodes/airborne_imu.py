"""Publish an IMU on a gimbal of an aircraft during a simulated or recorded flight.

Private parameters: ``~source``, a JSBSim script, a recorded flight, or ``udp:PORT``; ``~gimbal``,
``~imu`` and ``~gnss``, names or files; and further parameters documented in airborne.launch.
Topics: ``imu/data``, ``gnss/fix`` and ``gnss/velocity``; ``ground_truth/state`` of the aircraft,
``ground_truth/imu``, ``ground_truth/origin``; ``driven_path``, ``/clock`` and ``/tf``. Samples are
not dropped. If ``~answer`` is a topic, the node waits for a message on it after each tick.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import cast

import numpy as np
import rospy
from geometry_msgs.msg import PoseStamped, TransformStamped
from nav_msgs.msg import Odometry, Path
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, NavSatFix, NavSatStatus
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage

from ...core import topics
from ...core.checks import LARGEST_SEED
from ...core.errors import ConfigurationError
from ...core.settings import TextSettings, setting
from ...core.stamps import NANOSECONDS
from ...flight.airborne import AirborneImu
from ...flight.gimbal.specification import read_gimbal
from ...flight.recording import find_flight
from ...realistic_imu.node_sessions import read_arguments
from ...recordings.messages import STATE, ImuPackers, odometry_packer
from ...sensors.formats.registry import named_imu
from ...sensors.gnss.specification import read_gnss_specification
from ...sensors.simulation import ImuErrors
from ..messages import GnssPublisher, publish_packed
from ..node import Node, advertise, subscribe

_IDENTITY = (0.0, 0.0, 0.0, 1.0)  # quaternion x, y, z, w
_PATH_PERIOD = NANOSECONDS  # period of the points on the path [ns]


class FlightMessages:
    """Publisher of ground truth, clock, transforms and path of an :class:`.AirborneImu`.

    Message objects are reused, because a publisher without a queue serialises a message before it
    returns.

    Parameters
    ----------
    origin : ndarray, shape (3,)
        Origin of the world: latitude, longitude [rad] and height [m].
    antenna : sequence of 3 float
        Lever arm of the GNSS antenna [m].
    antenna_frame : str
        Frame of the lever arm.
    """

    def __init__(self, origin, antenna=(0.0, 0.0, 0.0), antenna_frame: str = topics.AIRCRAFT_FRAME):
        self._clock = advertise(topics.CLOCK, Clock)
        self._truth = advertise(topics.GROUND_TRUTH, Odometry)
        self._imu_truth = advertise(topics.GROUND_TRUTH_IMU, Odometry)
        self._transforms = advertise(topics.TRANSFORMS, TFMessage)
        self._path = advertise(topics.DRIVEN_PATH, Path)
        self._origin = rospy.Publisher(
            topics.GROUND_TRUTH_ORIGIN, NavSatFix, latch=True, queue_size=1
        )
        latitude, longitude = np.degrees(origin[:2]).tolist()
        place = NavSatFix(latitude=latitude, longitude=longitude, altitude=float(origin[2]))
        place.header.frame_id = topics.WORLD_FRAME
        place.status.status = NavSatStatus.STATUS_FIX
        self._origin.publish(place)
        frames = (topics.AIRCRAFT_FRAME, topics.IMU_FRAME)
        self._body_packer, self._imu_packer = map(odometry_packer, frames)
        chain = (topics.AIRCRAFT_FRAME, *topics.GIMBAL_FRAMES, topics.IMU_FRAME)
        pairs = [(topics.WORLD_FRAME, topics.AIRCRAFT_FRAME), *zip(chain, chain[1:])]
        self._stamp = rospy.Time()
        self._antenna = np.array([*antenna, *_IDENTITY])
        self._message = TFMessage(
            [self._transform(*pair) for pair in (*pairs, (antenna_frame, topics.GNSS_FRAME))]
        )
        self._flown = Path()
        self._flown.header.frame_id = topics.WORLD_FRAME
        self._next_point = -_PATH_PERIOD

    @property
    def publishers(self) -> tuple[rospy.Publisher, ...]:
        """Publishers of the topics on which no message may be lost."""
        return self._clock, self._truth, self._imu_truth, self._transforms

    def publish(self, tick) -> None:
        """Publish ground truth, clock, transforms and, once per second, the path.

        Parameters
        ----------
        tick : Tick
            Samples of one tick.
        """
        last = int(tick.stamps[-1])
        self._stamp.secs, self._stamp.nsecs = divmod(last, NANOSECONDS)
        publish_packed(
            self._truth, self._body_packer.pack(tick.stamps, dict(zip(STATE, tick.truth.T)))
        )
        if self._imu_truth.get_num_connections():
            fields = dict(zip(STATE, tick.imu_truth.T))
            publish_packed(self._imu_truth, self._imu_packer.pack(tick.stamps, fields))
        self._clock.publish(Clock(self._stamp))
        if self._transforms.get_num_connections():
            poses = np.vstack([tick.truth[-1, :7], tick.links, self._antenna])
            for message, pose in zip(self._message.transforms, poses.tolist()):
                place, turn = message.transform.translation, message.transform.rotation
                place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w = pose
            self._transforms.publish(self._message)
        if last >= self._next_point:
            self._next_point = last + _PATH_PERIOD
            self._flown.header.stamp = self._stamp
            point = PoseStamped(header=Header(frame_id=topics.WORLD_FRAME))
            place, turn = point.pose.position, point.pose.orientation
            row = tick.truth[-1, :7].tolist()
            place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w = row
            self._flown.poses.append(point)
            if self._path.get_num_connections():
                self._path.publish(self._flown)

    def _transform(self, parent, child):
        message = TransformStamped(child_frame_id=child)
        message.header.frame_id = parent
        message.header.stamp = self._stamp
        return message


@dataclass(frozen=True)
class AirborneArguments(TextSettings):
    """Private parameters of the node, which airborne.launch documents.

    Attributes
    ----------
    source : str
        JSBSim script, recorded flight or ``udp:PORT``.
    start, duration : float
        Start and duration of the flight [s].
    flight_rate : float
        Simulation rate of JSBSim [Hz].
    gimbal, imu, gnss : str
        Gimbal, IMU and receiver by name or file.
    gnss_on : str
        Mounting of the antenna, ``body`` or ``imu``.
    rate : float
        Sampling rate of the motion [Hz].
    seed : int
        Seed of all random numbers.
    tick : float
        Publishing period of samples and tf [s].
    real_time_factor : float
        Real-time factor; 0 means as fast as possible.
    listeners : int
        Number of subscribers for which the node waits.
    answer : str
        Topic on which the node waits for a response to each tick; empty to disable waiting.
    timeout : float
        Timeout for subscribers and responses [s].
    """

    source: str = setting("")
    start: float = setting(0.0, unit="s", minimum=0.0)
    duration: float = setting(200.0, unit="s", above=0.0)
    flight_rate: float = setting(50.0, unit="Hz", above=0.0)
    gimbal: str = setting("off")
    imu: str = setting("ideal")
    gnss: str = setting("")
    gnss_on: str = setting("body")
    rate: float = setting(100.0, unit="Hz", above=0.0)
    seed: int = setting(1, minimum=0, maximum=LARGEST_SEED)
    tick: float = setting(0.02, unit="s", above=0.0)
    real_time_factor: float = setting(1.0, minimum=0.0)
    listeners: int = setting(0, minimum=0)
    answer: str = setting("")
    timeout: float = setting(60.0, unit="s", above=0.0)


WAKE_PERIOD = 0.2  # wall-clock seconds between checks of whether the node has ended


class AirborneImuNode(Node):
    """Publish a flight tick by tick, and end with the flight."""

    name = "airborne_imu"
    has_settings = False
    nothing_to_save = True

    def __init__(self) -> None:
        super().__init__()
        arguments = read_arguments(
            AirborneArguments, self.name, lambda name, default: rospy.get_param(f"~{name}", default)
        )
        if not arguments.source:
            raise ConfigurationError(
                f"{self.name}: the private parameter source is empty, expected a JSBSim script, a "
                "recorded flight, or udp:PORT"
            )
        self._arguments = arguments
        self._receiver = read_gnss_specification(arguments.gnss) if arguments.gnss else None
        self._gimbal = read_gimbal(arguments.gimbal)
        self._named_imu = named_imu(arguments.imu)
        self._imu = advertise(topics.IMU, Imu)
        self._gnss = self._receiver and GnssPublisher(self._receiver, is_on_robot=False)
        self._answers = 0
        self._answered = threading.Condition()
        if arguments.answer:
            self._input = subscribe(arguments.answer, rospy.AnyMsg, self._on_answer)

    def run(self):
        """Publish tick by tick until the flight ends."""
        self._prepare()
        arguments, factor = self._arguments, self._arguments.real_time_factor
        self.wait_until(
            lambda: self._imu.get_num_connections() >= arguments.listeners,
            f"{arguments.listeners} subscribers of {self._imu.resolved_name}",
            arguments.timeout,
        )
        gnss_publishers = () if self._gnss is None else self._gnss.publishers
        self.wait_for_subscribers(self._imu, *gnss_publishers, *self._messages.publishers)
        first, last = int(self._flight.stamps[0]), int(self._flight.stamps[-1])
        rospy.loginfo("the flight of %.2f s begins", 1e-9 * (last - first))
        started = time.monotonic()
        for tick in self._flight.ticks(arguments.tick):
            if self.ended:
                break
            answers = self._answers
            self._messages.publish(tick)
            if self._gnss is not None and len(tick.fixes):
                self._gnss.publish(tick.fixes)
            # The IMU is published last, when subscribers have all other messages of the tick.
            if len(tick.imu_stamps) and self._imu.get_num_connections():
                publish_packed(self._imu, self._packers.data(tick.imu_stamps, tick.imu))
            if factor > 0.0:
                lead = 1e-9 * (int(tick.stamps[-1]) - first) / factor
                self._ended.wait(max(0.0, lead - (time.monotonic() - started)))
            if arguments.answer:
                self._wait_for_answer(answers, 1e-9 * int(tick.stamps[-1]))
        else:
            rospy.loginfo("the flight has ended")
        self.finish()
        return super().run()

    def _prepare(self):
        """Read, simulate or start receiving the flight, and prepare the sensors."""
        arguments = self._arguments
        options = (arguments.duration, arguments.flight_rate, arguments.start)
        flight, remarks = find_flight(arguments.source, *options)
        self._flight = AirborneImu(
            flight.states,
            self._gimbal,
            cast(ImuErrors, self._named_imu.errors),
            self._receiver,
            arguments.rate,
            arguments.seed,
            gnss_on=arguments.gnss_on,
        )
        for remark in (*remarks, *self._named_imu.remarks):
            rospy.logwarn("%s", remark)
        for remark in self._flight.remarks:
            rospy.loginfo("%s", remark)
        antenna = (0.0, 0.0, 0.0) if self._receiver is None else self._receiver.lever_arm
        is_on_body = arguments.gnss_on == "body"
        antenna_frame = topics.AIRCRAFT_FRAME if is_on_body else topics.IMU_FRAME
        self._messages = FlightMessages(self._flight.origin, antenna, antenna_frame)
        self._packers = ImuPackers(self._flight.covariances, self._flight.magnetic_covariance)

    def _wait_for_answer(self, answers, time_of_flight):
        timeout = self._arguments.timeout
        deadline = time.monotonic() + timeout
        with self._answered:
            while not self.ended and self._answers <= answers:
                self._answered.wait(WAKE_PERIOD)
                if time.monotonic() > deadline and self._answers <= answers:
                    self.fail(
                        f"{self.name}: no message on {self._arguments.answer} for {timeout:g} s at "
                        f"{time_of_flight:.2f} s of the flight"
                    )

    def _on_answer(self, _):
        with self._answered:
            self._answers += 1
            self._answered.notify()
