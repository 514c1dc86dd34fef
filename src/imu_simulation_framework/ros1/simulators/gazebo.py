"""Gazebo 11, with Hector's IMU plug-in, as a simulator of experiments; it waits for them."""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from typing import Sequence

import rospy
from dynamic_reconfigure import (
    DynamicReconfigureCallbackException,
    DynamicReconfigureParameterException,
)
from dynamic_reconfigure.client import Client
from gazebo_msgs.msg import ModelState
from gazebo_msgs.srv import (
    GetPhysicsProperties,
    GetWorldProperties,
    SetModelState,
    SetPhysicsProperties,
)
from geometry_msgs.msg import Vector3
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu
from std_msgs.msg import Header, Time

from ...core import topics
from ...core.angles import difference, quaternion_from_roll_pitch_yaw, yaw_from_quaternion
from ...core.errors import SimulatorError
from ...drive.experiment_arguments import EXPERIMENT_PARAMETERS
from ...drive.gazebo_world import HIGHEST_UPDATE_RATE, PHYSICS_RATE
from ...sensors.imu_models.plugins import IMU_MODELS, PRESETS
from ..node import advertise
from .interface import SimulatorInterface, call

MAX_LAG = 2.0  # control periods that simulated time may be ahead of the last answered message

MAX_LAG_OF_PARTICIPANTS = 10.0
"""Control periods that it may be ahead of a node that takes part: half a second at 20 Hz, of which
the network keeps every message."""

LIMIT_MARGIN = 0.5 / PHYSICS_RATE
"""Physics waits between two samples, half a step behind a multiple of the control period [s]."""

MAX_SILENCE = 5.0
"""Wall-clock seconds after which a control period goes on without its answer: it was lost."""

REPEAT_PERIOD = 1.0
"""Wall-clock seconds between two calls of the limit: physics does not wait for a dead node."""

PACE_PERIOD = 0.01

NO_LIMIT = rospy.Time(0xFFFFFFFF, 999999999)  # later than any simulated time


class GazeboPace:
    """Names the simulated time at which physics has to wait, on the topic ``simulation_limit``.

    Gazebo does not wait. On a busy machine messages then queue up between the nodes, the robot
    is driven by commands for where it was seconds ago, and who records falls behind until messages
    are lost. The plug-in of the ground truth holds physics at the limit. It moves on with the
    commands that are answered, and with what the participants report on ``experiment/progress``.
    Raises SimulatorError: the limits have no subscriber. ``control_period``: simulated seconds from
    one command to the next; ``timeout``: wall-clock seconds for Gazebo to listen.
    """

    def __init__(self, control_period: float, timeout: float = 10.0) -> None:
        self._period = control_period
        self._lock = threading.Lock()
        self._progress: dict[str, float] = {}
        self._answered = 0.0
        self._newest = 0.0
        self._answered_at = math.inf
        self._limit: float | None = None
        self._ended = threading.Event()
        self._publisher = advertise(topics.SIMULATION_LIMIT, Time)
        deadline = time.monotonic() + timeout
        while not self._publisher.get_num_connections():
            if time.monotonic() > deadline or rospy.is_shutdown():
                raise SimulatorError(
                    "Gazebo's plug-in of the ground truth does not listen on "
                    f"{self._publisher.resolved_name}: build this package's workspace again"
                )
            time.sleep(PACE_PERIOD)
        self._reports = rospy.Subscriber(
            topics.PROGRESS, Header, self._on_progress, tcp_nodelay=True
        )

    def hold(self, sampling_period: float, participants: Sequence[str], timeout: float) -> None:
        """Have physics wait at the next control period until everybody has taken in all of before.

        Raises SimulatorError: somebody is not there in time, or Gazebo does not answer.
        ``sampling_period``: simulated seconds from one sample of the ground truth, and of the IMU,
        to the next; ``participants`` (sequence of str): names of the nodes that report their
        progress; ``timeout``: wall-clock seconds that they have.
        """
        deadline = time.monotonic() + timeout
        threading.Thread(target=self._repeat, daemon=True).start()
        while True:
            # It may stop anywhere at first, so that it cannot run past where it is to stop.
            self._hold_at(0.0)
            held = (int(_simulated_time() / self._period) + 2.0) * self._period
            self._hold_at(held)
            self._wait_for(participants, held + LIMIT_MARGIN - sampling_period, deadline)
            now = _simulated_time()
            while now < held - LIMIT_MARGIN:
                if time.monotonic() > deadline or rospy.is_shutdown():
                    raise SimulatorError(f"Gazebo: simulated time stays at {now:.3f} s")
                time.sleep(PACE_PERIOD)
                now = _simulated_time()
            if now < held + 2.0 / PHYSICS_RATE:
                return

    def _hold_at(self, limit: float) -> None:
        with self._lock:
            self._limit, self._answered = limit, limit - MAX_LAG * self._period
            self._say(limit)

    def _wait_for(self, participants, stamp, deadline) -> None:
        def behind() -> list[str]:
            with self._lock:
                return [name for name in participants if self._progress.get(name, 0.0) <= stamp]

        while behind():
            if time.monotonic() > deadline or rospy.is_shutdown():
                raise SimulatorError(
                    f"Gazebo: gave up waiting for {', '.join(behind())} to take in what was "
                    "published"
                )
            time.sleep(PACE_PERIOD)

    def go_on(self) -> None:
        """From now on every control period has to be answered."""
        with self._lock:
            self._answered_at = time.monotonic()
            self._answered += MAX_LAG * self._period
            self._move()

    @property
    def answered_until(self) -> float:
        """The newest simulated time of a message that was answered [s]."""
        with self._lock:
            return self._newest

    @property
    def waits_for(self) -> list[str]:
        """Names of the nodes at which physics waits, if it does."""
        with self._lock:
            if self._limit is None:
                return []
            reach = self._limit - MAX_LAG_OF_PARTICIPANTS * self._period
            return [name for name, stamp in sorted(self._progress.items()) if stamp <= reach]

    def answered(self, stamp: float) -> None:
        """Learn that the command that answers the message of this stamp was given."""
        with self._lock:
            self._answered_at = time.monotonic()
            self._newest = max(self._newest, stamp)
            self._answered = max(self._answered, stamp)
            self._move()

    def end(self) -> None:
        """Nobody answers any more; let time run."""
        self._ended.set()
        self._reports.unregister()
        with self._lock:
            self._limit = None
            self._publisher.publish(NO_LIMIT)

    def _on_progress(self, message) -> None:
        with self._lock:
            self._progress[message.frame_id] = message.stamp.to_sec()
            if self._limit is not None:
                self._move()

    def _move(self) -> None:
        """Name the limit if it is another one now; the lock is held."""
        if self._ended.is_set():
            return
        slowest = min(self._progress.values(), default=math.inf)
        limit = min(
            self._answered + MAX_LAG * self._period,
            slowest + MAX_LAG_OF_PARTICIPANTS * self._period,
        )
        if self._limit is None or limit > self._limit:
            self._limit = limit
            self._say(limit)

    def _say(self, limit: float) -> None:
        self._publisher.publish(rospy.Time.from_sec(limit + LIMIT_MARGIN))

    def _repeat(self) -> None:
        while not self._ended.wait(REPEAT_PERIOD):
            self._look()

    def _look(self) -> None:
        """Name the limit once more; go on where the answer to a control period was lost."""
        with self._lock:
            if self._limit is None:
                return
            if time.monotonic() - self._answered_at > MAX_SILENCE:
                self._answered_at = time.monotonic()
                self._answered = self._limit
                self._move()
            self._say(self._limit)


def _simulated_time() -> float:
    world = rospy.ServiceProxy("/gazebo/get_world_properties", GetWorldProperties)
    return call(world).sim_time


def set_speed(real_time_factor: float, gravity: float | None = None) -> None:
    """As many physics steps per second of wall clock as the real-time factor wants.

    Raises SimulatorError: Gazebo refuses, or does not answer. ``real_time_factor``: 0: as fast as
    Gazebo loses no messages; ``gravity`` [m/s^2]; what it is by default.
    """
    current = call(rospy.ServiceProxy("/gazebo/get_physics_properties", GetPhysicsProperties))
    rate = real_time_factor * PHYSICS_RATE if real_time_factor > 0.0 else HIGHEST_UPDATE_RATE
    answer = call(
        rospy.ServiceProxy("/gazebo/set_physics_properties", SetPhysicsProperties),
        current.time_step,
        rate,
        current.gravity if gravity is None else Vector3(0.0, 0.0, -gravity),
        current.ode_config,
    )
    if not answer.success:
        raise SimulatorError(f"Gazebo did not take its update rate: {answer.status_message}")


MODEL = "robot"  # name of the robot's model in Gazebo

READY = f"{EXPERIMENT_PARAMETERS}/robot_stands"
"""Parameter that is true once the robot stands in the world and its controllers run.

The next experiment on this master clears it."""

HECTOR_SENSORS = ("accel", "rate", "yaw")
_DRIFTING = ("gaussian_noise", "offset", "drift", "drift_frequency")
HECTOR_KEYS = {
    "rate": (*_DRIFTING, "scale_error"),
    "accel": (*_DRIFTING, "scale_error"),
    # The yaw has a scale error, too, which stays as it was: 1.
    "yaw": _DRIFTING,
}
"""What each sensor of Hector's plug-in is told online."""

REST_SPEED = 1e-3  # a robot slower than this [m/s, rad/s] stands

SETTLED_SAMPLES = 50
"""IMU samples that have to pass, the robot standing, until a jump of its pose has left no trace."""

POLL_PERIOD = 0.05


def plugin_of(model: str) -> str:
    """Return which plug-in simulates an IMU model, or a preset of one: hector or generic.

    Hector's, with all errors zero, is also the ideal IMU: it measures at equal intervals.
    """
    return "generic" if PRESETS[model].model == "generic" else "hector"


class GazeboInterface(SimulatorInterface):
    """Speaks to gzserver, in which ``gazebo_robot`` has spawned the robot."""

    lock_step = False

    _pace = None

    def wait_until_ready(self, timeout):
        deadline = time.monotonic() + timeout
        _wait(
            lambda: rospy.get_param(READY, False),
            deadline,
            "gazebo_robot to put the robot into the world and to start its controllers",
        )
        physics = call(rospy.ServiceProxy("/gazebo/get_physics_properties", GetPhysicsProperties))
        if physics.pause:
            raise SimulatorError("Gazebo's physics is paused: unpause it to run an experiment")
        for topic, message_type, what in (
            (
                topics.GROUND_TRUTH,
                Odometry,
                "the ground truth's plug-in of this package, built where Gazebo is,",
            ),
            (self.imu_topic, Imu, "its IMU plug-in, of hector_gazebo_plugins or gazebo_plugins,"),
        ):
            try:
                left = max(0.1, deadline - time.monotonic())
                rospy.wait_for_message(topic, message_type, timeout=left)
            except rospy.ROSException:
                raise SimulatorError(
                    f"Gazebo: nothing on {topic} after {timeout:g} s; {what} is missing"
                ) from None

    def set_pose(self, x, y, yaw):
        state = ModelState(model_name=MODEL, reference_frame="world")
        state.pose.position.x, state.pose.position.y = x, y
        # Gazebo's robot stands a contact layer above the plane.
        state.pose.position.z = 0.001
        q = state.pose.orientation
        q.x, q.y, q.z, q.w = quaternion_from_roll_pitch_yaw((0.0, 0.0, yaw))
        answer = call(rospy.ServiceProxy("/gazebo/set_model_state", SetModelState), state)
        if not answer.success:
            raise SimulatorError(f"Gazebo did not set the robot's pose: {answer.status_message}")
        self._wait_until_settled(x, y, yaw)

    def _wait_until_settled(self, x, y, yaw) -> None:
        """Let pass the IMU samples that the jump has falsified."""
        settled = []

        def on_ground_truth(message):
            p, q = message.pose.pose.position, message.pose.pose.orientation
            v, w = message.twist.twist.linear, message.twist.twist.angular
            speeds = (v.x, v.y, v.z, w.x, w.y, w.z)
            heading = yaw_from_quaternion((q.x, q.y, q.z, q.w))
            there = abs(p.x - x) < 0.05 and abs(p.y - y) < 0.05
            turned = abs(difference(heading, yaw)) < 0.05
            if there and turned and max(map(abs, speeds)) < REST_SPEED:
                settled.append(True)
            else:
                settled.clear()

        subscriber = rospy.Subscriber(topics.GROUND_TRUTH, Odometry, on_ground_truth)
        try:
            _wait(
                lambda: len(settled) >= SETTLED_SAMPLES,
                time.monotonic() + 30.0,
                f"the robot to stand at x = {x:.3f}, y = {y:.3f}, yaw = {yaw:.3f}",
            )
        finally:
            subscriber.unregister()

    def set_imu_parameters(self, model, parameters, seed):
        """Set Hector's parameters except its drifts, which ``start_drift`` sets.

        The generic plug-in has its parameters from spawning. Neither plug-in's random numbers can
        be seeded.
        """
        for sensor, wanted in _hector_parameters(model, parameters).items():
            _set_hector_parameters(sensor, {**wanted, "drift": 0.0})

    def start_drift(self, model, parameters):
        for sensor, wanted in _hector_parameters(model, parameters).items():
            if wanted["drift"]:
                _set_hector_parameters(sensor, wanted)

    def irregular(self, model):
        # Gazebo's own IMU sensor measures in a thread that now and then comes late.
        return ("imu_simulated",) if plugin_of(model) == "generic" else ()

    def publishes_imu_bias(self, model):
        return plugin_of(model) == "hector"

    def why_stopped(self):
        physics = rospy.ServiceProxy("/gazebo/get_physics_properties", GetPhysicsProperties)
        world = rospy.ServiceProxy("/gazebo/get_world_properties", GetWorldProperties)
        if call(physics, timeout=2.0).pause:
            return "Gazebo's physics is paused"
        pace = self._pace
        # Read before Gazebo is asked: what is simulated meanwhile is no step back.
        known = 0.0 if pace is None else pace.answered_until
        time = call(world, timeout=2.0).sim_time
        if time < known - LIMIT_MARGIN:  # beyond what is rounded
            return (
                f"simulated time went back from {known:.2f} to {time:.2f} s: was the simulation "
                "reset?"
            )
        return ""

    def why_silent(self):
        try:
            stopped = self.why_stopped()
        except SimulatorError:
            return "gzserver does not answer"
        pace = self._pace
        late = [] if pace is None else pace.waits_for
        return stopped or (f"Gazebo waits for {', '.join(late)}" if late else "")

    def begin_drive(self, control_period, real_time_factor, sampling_period, participants=()):
        set_speed(real_time_factor)
        self._pace = GazeboPace(control_period)
        self._pace.hold(sampling_period, participants, self.silence)

    def commanded(self):
        if self._pace is not None:
            self._pace.go_on()

    def answered(self, stamp):
        pace = self._pace
        if pace is not None:
            pace.answered(stamp)

    def end_drive(self):
        # The drive may end in two threads.
        pace, self._pace = self._pace, None
        if pace is not None:
            pace.end()


def _hector_parameters(model, parameters) -> dict[str, dict[str, float]]:
    """Return the parameters of each sensor of Hector's plug-in; empty for the generic plug-in."""
    preset = PRESETS[model]
    if preset.model != "hector":
        return {}
    kind = IMU_MODELS["hector"].parameters
    values = dataclasses.asdict(kind(**{**preset.parameters, **parameters}))
    return {
        sensor: {key: values[f"{sensor}_{key}"] for key in HECTOR_KEYS[sensor]}
        for sensor in HECTOR_SENSORS
    }


def _set_hector_parameters(sensor, wanted) -> None:
    """Set parameters of one sensor of Hector's plug-in and check that they are in force.

    Raises
    ------
    SimulatorError
        If the plug-in does not answer or has not taken a value.
    """
    server = f"{topics.IMU}/{sensor}"
    try:
        client = Client(server, timeout=10.0)
        got = client.update_configuration(wanted)
        client.close()
    except (
        rospy.ROSException,
        rospy.ServiceException,
        DynamicReconfigureCallbackException,
        DynamicReconfigureParameterException,
    ) as error:
        raise SimulatorError(
            f"Hector's plug-in does not take parameters on {server}: {error}"
        ) from None
    for key, value in wanted.items():
        if abs(got[key] - value) > 1e-9:
            raise SimulatorError(
                f"Hector's plug-in has set {server}/{key} to {got[key]} instead of {value}"
            )


def _wait(condition, deadline, what) -> None:
    while not condition():
        if time.monotonic() > deadline or rospy.is_shutdown():
            raise SimulatorError(f"Gazebo: gave up waiting for {what}")
        time.sleep(POLL_PERIOD)
