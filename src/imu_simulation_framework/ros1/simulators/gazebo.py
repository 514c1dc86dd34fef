"""Interface to Gazebo 11, and pacing, which makes Gazebo wait for the nodes."""

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

# Control periods by which simulated time may be ahead of the last message to which a command
# responded.
MAX_LAG = 2.0

# Control periods by which simulated time may be ahead of a participant, limited by socket buffers.
MAX_PARTICIPANT_LAG = 10.0

# Physics waits half a step after a multiple of the control period, between two samples [s].
LIMIT_MARGIN = 0.5 / PHYSICS_RATE

# Wall-clock seconds after which the command of a control period is assumed to be lost.
MAX_SILENCE = 5.0

# Wall-clock seconds between repetitions of the limit; without them, physics would continue.
REPEAT_PERIOD = 1.0

PACE_PERIOD = 0.01  # wall-clock seconds between checks of simulated time

LATEST_TIME = rospy.Time(0xFFFFFFFF, 999999999)  # later than any simulated time


class GazeboPace:
    """Publisher of ``simulation_limit``, the simulated time at which physics waits.

    Gazebo does not wait for nodes. On a busy machine, messages would queue up, the robot would
    follow commands for a past position, and recorders would lose messages. The ground truth plug-in
    therefore stops physics at a limit, which advances with the commands and with the progress that
    participants report on ``experiment/progress``.

    Parameters
    ----------
    control_period : float
        Control period in simulated time [s].
    timeout : float
        Wall-clock timeout for the plug-in to subscribe [s].

    Raises
    ------
    SimulatorError
        The plug-in does not subscribe in time.
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
                    "Gazebo's ground truth plug-in does not subscribe to "
                    f"{self._publisher.resolved_name}: build this package's workspace again"
                )
            time.sleep(PACE_PERIOD)
        self._reports = rospy.Subscriber(
            topics.PROGRESS, Header, self._on_progress, tcp_nodelay=True
        )

    def hold(self, sampling_period: float, participants: Sequence[str], timeout: float) -> None:
        """Stop physics at the next control period, and wait until all participants are up to date.

        Parameters
        ----------
        sampling_period : float
            Sampling period of ground truth and IMU in simulated time [s].
        participants : sequence of str
            Names of the nodes that report their progress.
        timeout : float
            Wall-clock timeout for the participants to process all samples [s].

        Raises
        ------
        SimulatorError
            A participant is late, or Gazebo does not respond.
        """
        deadline = time.monotonic() + timeout
        threading.Thread(target=self._repeat_limit, daemon=True).start()
        while True:
            # Physics stops immediately at a past limit, so that it cannot pass the next limit.
            self._hold_at(0.0)
            pause_time = (int(_simulated_time() / self._period) + 2.0) * self._period
            self._hold_at(pause_time)
            self._wait_for_participants(
                participants, pause_time + LIMIT_MARGIN - sampling_period, deadline
            )
            now = _simulated_time()
            while now < pause_time - LIMIT_MARGIN:
                if time.monotonic() > deadline or rospy.is_shutdown():
                    raise SimulatorError(f"Gazebo: simulated time has stopped at {now:.3f} s")
                time.sleep(PACE_PERIOD)
                now = _simulated_time()
            if now < pause_time + 2.0 / PHYSICS_RATE:
                return

    def _hold_at(self, limit: float) -> None:
        with self._lock:
            self._limit, self._answered = limit, limit - MAX_LAG * self._period
            self._publish_limit(limit)

    def _wait_for_participants(self, participants, stamp, deadline) -> None:
        def find_slow_nodes() -> list[str]:
            with self._lock:
                return [name for name in participants if self._progress.get(name, 0.0) <= stamp]

        while find_slow_nodes():
            if time.monotonic() > deadline or rospy.is_shutdown():
                raise SimulatorError(
                    f"Gazebo: timeout while waiting for {', '.join(find_slow_nodes())} to process "
                    "the published samples"
                )
            time.sleep(PACE_PERIOD)

    def release(self) -> None:
        """Let physics continue; from now on, each control period requires a command."""
        with self._lock:
            self._answered_at = time.monotonic()
            self._answered += MAX_LAG * self._period
            self._advance()

    @property
    def answered_until(self) -> float:
        """Simulated time of the latest message for which a command was received [s]."""
        with self._lock:
            return self._newest

    @property
    def slow_participants(self) -> list[str]:
        """Names of the nodes for which physics is waiting."""
        with self._lock:
            if self._limit is None:
                return []
            reach = self._limit - MAX_PARTICIPANT_LAG * self._period
            return [name for name, stamp in sorted(self._progress.items()) if stamp <= reach]

    def on_command(self, stamp: float) -> None:
        """Advance the limit after the command for a message.

        Parameters
        ----------
        stamp : float
            Stamp of the message [s].
        """
        with self._lock:
            self._answered_at = time.monotonic()
            self._newest = max(self._newest, stamp)
            self._answered = max(self._answered, stamp)
            self._advance()

    def end(self) -> None:
        """End pacing, so that physics no longer waits."""
        self._ended.set()
        self._reports.unregister()
        with self._lock:
            self._limit = None
            self._publisher.publish(LATEST_TIME)

    def _on_progress(self, message) -> None:
        with self._lock:
            self._progress[message.frame_id] = message.stamp.to_sec()
            if self._limit is not None:
                self._advance()

    def _advance(self) -> None:
        """Publish the limit if it has advanced; the caller must hold the lock."""
        if self._ended.is_set():
            return
        slowest = min(self._progress.values(), default=math.inf)
        limit = min(
            self._answered + MAX_LAG * self._period,
            slowest + MAX_PARTICIPANT_LAG * self._period,
        )
        if self._limit is None or limit > self._limit:
            self._limit = limit
            self._publish_limit(limit)

    def _publish_limit(self, limit: float) -> None:
        self._publisher.publish(rospy.Time.from_sec(limit + LIMIT_MARGIN))

    def _repeat_limit(self) -> None:
        while not self._ended.wait(REPEAT_PERIOD):
            self._republish_limit()

    def _republish_limit(self) -> None:
        """Publish the limit again, and advance it if the command of a control period was lost."""
        with self._lock:
            if self._limit is None:
                return
            if time.monotonic() - self._answered_at > MAX_SILENCE:
                self._answered_at = time.monotonic()
                self._answered = self._limit
                self._advance()
            self._publish_limit(self._limit)


def _simulated_time() -> float:
    world = rospy.ServiceProxy("/gazebo/get_world_properties", GetWorldProperties)
    return call(world).sim_time


def set_speed(real_time_factor: float, gravity: float | None = None) -> None:
    """Set the physics rate and gravity.

    Parameters
    ----------
    real_time_factor : float
        Real-time factor; 0: fastest rate at which Gazebo does not lose messages.
    gravity : float, optional
        Gravity, downwards [m/s^2]; by default unchanged.

    Raises
    ------
    SimulatorError
        Gazebo rejects the request or does not respond.
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
        raise SimulatorError(f"Gazebo rejected the update rate: {answer.status_message}")


MODEL = "robot"  # name of the robot model in Gazebo

# Parameter that is true when the robot is spawned and its controllers run.
READY_PARAMETER = f"{EXPERIMENT_PARAMETERS}/robot_stands"

HECTOR_SENSORS = ("accel", "rate", "yaw")
_DRIFT_KEYS = ("gaussian_noise", "offset", "drift", "drift_frequency")
# Parameters that are set at run time for each sensor of Hector's plug-in.
HECTOR_KEYS = {
    "rate": (*_DRIFT_KEYS, "scale_error"),
    "accel": (*_DRIFT_KEYS, "scale_error"),
    # The yaw's scale factor, named scale_error in the plug-in, keeps its default value of 1.
    "yaw": _DRIFT_KEYS,
}

# Speed below which the robot is stationary [m/s, rad/s].
STANDSTILL_SPEED = 1e-3

# Number of stationary samples after which a jump of the pose no longer affects the IMU.
SETTLED_SAMPLES = 50

POLL_PERIOD = 0.05  # wall-clock seconds between checks of a condition

# Tolerance of the pose after the robot was placed [m, rad].
POSE_TOLERANCE = 0.05
SETTLING_TIMEOUT = 30.0  # wall-clock seconds; timeout for the robot to settle


def choose_plugin(model: str) -> str:
    """Return the plug-in that simulates an IMU model or preset.

    The ideal IMU is Hector's plug-in without errors, because it has constant sampling periods.

    Parameters
    ----------
    model : str
        Name of the model or preset.

    Returns
    -------
    str
        ``hector`` or ``generic``.
    """
    return "generic" if PRESETS[model].model == "generic" else "hector"


class GazeboInterface(SimulatorInterface):
    """Interface to gzserver, in which the node ``gazebo_robot`` spawns the robot."""

    lock_step = False

    _pace = None

    def wait_until_ready(self, timeout):
        deadline = time.monotonic() + timeout
        _wait(
            lambda: rospy.get_param(READY_PARAMETER, False),
            deadline,
            "gazebo_robot to spawn the robot and to start its controllers",
        )
        physics = call(rospy.ServiceProxy("/gazebo/get_physics_properties", GetPhysicsProperties))
        if physics.pause:
            raise SimulatorError("Gazebo's physics is paused: unpause it to run an experiment")
        for topic, message_type, plugin in (
            (
                topics.GROUND_TRUTH,
                Odometry,
                "the ground truth plug-in of this package, built only where Gazebo is installed,",
            ),
            (self.imu_topic, Imu, "its IMU plug-in, of hector_gazebo_plugins or gazebo_plugins,"),
        ):
            try:
                remaining = max(0.1, deadline - time.monotonic())
                rospy.wait_for_message(topic, message_type, timeout=remaining)
            except rospy.ROSException:
                raise SimulatorError(
                    f"Gazebo: no message on {topic} for {timeout:g} s; {plugin} is missing"
                ) from None

    def set_pose(self, x, y, yaw):
        state = ModelState(model_name=MODEL, reference_frame="world")
        state.pose.position.x, state.pose.position.y = x, y
        # The robot's wheels rest on ODE's contact layer, 1 mm above the ground.
        state.pose.position.z = 0.001
        q = state.pose.orientation
        q.x, q.y, q.z, q.w = quaternion_from_roll_pitch_yaw((0.0, 0.0, yaw))
        answer = call(rospy.ServiceProxy("/gazebo/set_model_state", SetModelState), state)
        if not answer.success:
            raise SimulatorError(f"Gazebo did not set the robot's pose: {answer.status_message}")
        self._wait_until_settled(x, y, yaw)

    def _wait_until_settled(self, x, y, yaw) -> None:
        """Wait until the jump of the pose no longer affects the IMU samples."""
        settled = []

        def on_ground_truth(message):
            p, q = message.pose.pose.position, message.pose.pose.orientation
            v, w = message.twist.twist.linear, message.twist.twist.angular
            speeds = (v.x, v.y, v.z, w.x, w.y, w.z)
            heading = yaw_from_quaternion((q.x, q.y, q.z, q.w))
            is_placed = max(abs(p.x - x), abs(p.y - y)) < POSE_TOLERANCE
            is_turned = abs(difference(heading, yaw)) < POSE_TOLERANCE
            if is_placed and is_turned and max(map(abs, speeds)) < STANDSTILL_SPEED:
                settled.append(True)
            else:
                settled.clear()

        subscriber = rospy.Subscriber(topics.GROUND_TRUTH, Odometry, on_ground_truth)
        try:
            _wait(
                lambda: len(settled) >= SETTLED_SAMPLES,
                time.monotonic() + SETTLING_TIMEOUT,
                f"the robot to be stationary at x = {x:.3f}, y = {y:.3f}, yaw = {yaw:.3f}",
            )
        finally:
            subscriber.unregister()

    def set_imu_parameters(self, model, parameters, seed):
        """Set Hector's parameters except drifts, which ``start_drift`` sets.

        The parameters of the generic plug-in are set when the robot is spawned. The random numbers
        of both plug-ins cannot be seeded.
        """
        for sensor, values in _hector_parameters(model, parameters).items():
            _set_hector_parameters(sensor, {**values, "drift": 0.0})

    def start_drift(self, model, parameters):
        for sensor, values in _hector_parameters(model, parameters).items():
            if values["drift"]:
                _set_hector_parameters(sensor, values)

    def irregular_signals(self, model):
        # Gazebo's IMU sensor is updated in a thread that is sometimes late.
        return ("imu_simulated",) if choose_plugin(model) == "generic" else ()

    def publishes_imu_bias(self, model):
        return choose_plugin(model) == "hector"

    def stop_reason(self):
        physics = rospy.ServiceProxy("/gazebo/get_physics_properties", GetPhysicsProperties)
        world = rospy.ServiceProxy("/gazebo/get_world_properties", GetWorldProperties)
        if call(physics, timeout=2.0).pause:
            return "Gazebo's physics is paused"
        pace = self._pace
        # Read before the service call, so that progress during the call does not look like a reset.
        last_time = 0.0 if pace is None else pace.answered_until
        time = call(world, timeout=2.0).sim_time
        if time < last_time - LIMIT_MARGIN:  # differences below the margin are rounding errors
            return (
                f"simulated time went back from {last_time:.2f} to {time:.2f} s: check whether "
                "the simulation was reset"
            )
        return ""

    def silence_reason(self):
        try:
            stopped = self.stop_reason()
        except SimulatorError:
            return "gzserver does not respond"
        pace = self._pace
        slow_participants = [] if pace is None else pace.slow_participants
        return stopped or (
            f"Gazebo waits for {', '.join(slow_participants)}" if slow_participants else ""
        )

    def begin_drive(self, control_period, real_time_factor, sampling_period, participants=()):
        set_speed(real_time_factor)
        self._pace = GazeboPace(control_period)
        self._pace.hold(sampling_period, participants, self.silence)

    def on_first_command(self):
        if self._pace is not None:
            self._pace.release()

    def on_command(self, stamp):
        pace = self._pace
        if pace is not None:
            pace.on_command(stamp)

    def end_drive(self):
        # Several threads may end the drive at the same time.
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


def _set_hector_parameters(sensor, values) -> None:
    """Set parameters of a sensor of Hector's plug-in, and check that they were accepted.

    Raises
    ------
    SimulatorError
        The plug-in does not respond, or has not accepted a value.
    """
    server = f"{topics.IMU}/{sensor}"
    try:
        client = Client(server, timeout=10.0)
        result = client.update_configuration(values)
        client.close()
    except (
        rospy.ROSException,
        rospy.ServiceException,
        DynamicReconfigureCallbackException,
        DynamicReconfigureParameterException,
    ) as error:
        raise SimulatorError(
            f"Hector's plug-in does not accept parameters on {server}: {error}"
        ) from None
    for key, value in values.items():
        if abs(result[key] - value) > 1e-9:
            raise SimulatorError(
                f"Hector's plug-in has set {server}/{key} to {result[key]} instead of {value}"
            )


def _wait(condition, deadline, awaited) -> None:
    while not condition():
        if time.monotonic() > deadline or rospy.is_shutdown():
            raise SimulatorError(f"Gazebo: timeout while waiting for {awaited}")
        time.sleep(POLL_PERIOD)
