"""ROS 2 nodes of an experiment, in which the robot in MuJoCo replays a recorded drive.

The sessions, topics and results are the same as in ROS 1. Custom messages are replaced by standard
messages, so that no message code has to be generated: named numbers with a stamp are sent as
sensor_msgs/JointState, and the reference trajectory as std_msgs/Float64MultiArray of time, x, y and
yaw.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
from geometry_msgs.msg import TransformStamped
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension, String
from std_srvs.srv import Empty

from ..core import topics
from ..core.angles import fast_yaw
from ..core.progress import DRIVE_BAR, progress_bar
from ..core.stamps import NANOSECONDS
from ..drive.experiment.environment import measures_magnetic_field
from ..drive.experiment.gnss_and_odometer import experiment_gnss, experiment_odometer
from ..drive.experiment.robot import make_follower
from ..drive.session.driving import DriveSession, TrackedPose, TrackingSession, prepared_drive
from ..drive.session.messages import (
    ground_truth_rows,
    imu_rows,
    magnetic_rows,
    motor_row,
    odometer_rows,
    pack_odometry,
    pack_states,
    true_pose,
)
from ..drive.session.recording import RecordingSession, write_results
from ..drive.session.yaws import YawSample, YawSession
from ..drive.summary import missing_figures_sentence, terminal_table
from ..drive.tracking.controllers import Reference, TrackingError
from ..recordings.messages import (
    ERROR_COORDINATES,
    IMU,
    ImuPackers,
    last_numbers,
    odometry_packer,
    stamp_of,
)
from ..sensors.gnss.specification import FixTopic, fix_topics
from ..sensors.imu_models.bno055_modes import CalibrationTexts
from .node import CHECK_PERIOD, get_message_class
from .participant import (
    MUJOCO,
    RECORDER,
    RESULT,
    ExperimentNode,
    Participant,
    simulator_node_name,
    stamp_in,
)

END_DRIVE = "mujoco_simulator/end_drive"  # service with which path_follower ends the drive

_REPEAT_PERIOD = 0.1  # wall-clock seconds between repetitions of the first samples
_PROGRESS_PERIOD = 2.0  # wall-clock seconds between progress messages
# Wall-clock seconds within which DDS finds a process again that was removed while suspended.
_RETURN_TIMEOUT = 60.0
_BATCH_SIZE = 10  # number of messages that are read together, in little more time than one message


class MujocoSimulatorNode(Participant):
    """Simulate the robot in MuJoCo in lock-step with the wheel commands.

    The node publishes the samples of a control period, then waits for the next command. Until the
    first command, simulated time is stopped and the node repeats the first samples for late
    subscribers.
    """

    program = MUJOCO

    def __init__(self, **options: Any) -> None:
        # The import is local, so that MuJoCo is not loaded in the processes of other nodes.
        from ..drive.session.simulation import SimulatedRobot

        super().__init__(**options)
        self._robot = SimulatedRobot(self.configuration)
        self.commands = self._robot.robot.drivetrain.commands
        imu = self._robot.imu
        self._packers = ImuPackers(imu.covariances(), imu.magnetic_covariance(), ros2=True)
        self._odometry = odometry_packer(topics.ROBOT_FRAME, ros2=True)
        self._time = self.advertise(topics.CLOCK, "rosgraph_msgs/Clock")
        self._joints = self.advertise(topics.JOINT_STATES, "sensor_msgs/JointState")
        self.advertise(topics.GROUND_TRUTH, "nav_msgs/Odometry")
        self.advertise(topics.IMU, IMU.name)
        self._bias = self.advertise(topics.IMU_BIAS, IMU.name)
        if measures_magnetic_field(self.configuration):
            self.advertise(topics.IMU_MAG, "sensor_msgs/MagneticField")
        positioning = self._robot.positioning
        self._fixes = [] if positioning is None else fix_topics(positioning.gnss)
        for fix_topic in self._fixes:
            self.advertise(fix_topic.topic, fix_topic.type_name)
        if self._robot.odometer is not None:
            self.advertise(topics.ODOMETER, "nav_msgs/Odometry")
        self._transforms = None
        try:
            self._transforms = self.advertise(topics.TRANSFORMS, "tf2_msgs/TFMessage")
        except ModuleNotFoundError:
            self.inform("tf2_msgs is not installed, so that /tf is not published")
        mode = imu.bno055_mode
        self._calibration = CalibrationTexts(mode) if mode else None
        if mode:
            self.advertise_text(topics.IMU_CALIBRATION)
        self._factor = self.configuration.simulation.real_time_factor
        self._timeout = self.configuration.simulation.command_timeout
        self._started: float | None = None  # wall-clock time of the first command [s]
        self._answered_at = 0.0
        self._ended = False
        self.create_service(Empty, END_DRIVE, self._on_end_drive)
        self._repeat_timer = self.add_timer(_REPEAT_PERIOD, self._repeat)

    def prepare(self) -> None:
        _, x, y, yaw = self.reference[:, 0].tolist()
        self._robot.set_pose(x, y, yaw)

    def _repeat(self, *_) -> None:
        if self._started is None and self.reference is not None:
            self._publish(self._robot.last)

    def on_command(self, *commands: float) -> None:
        now = time.monotonic()
        if self._started is None:
            self._started = now
            self._repeat_timer.cancel()
        if self._factor > 0.0:
            time.sleep(max(0.0, self._robot.time / self._factor - (now - self._started)))
        self._publish(self._robot.tick(*commands))
        self._answered_at = time.monotonic()

    def on_timer(self) -> None:
        super().on_timer()
        if self._started is None or self._ended:
            return
        if time.monotonic() - self._answered_at > self._timeout:
            self.fail(
                f"{self.program}: no command on {topics.WHEEL_COMMAND} for {self._timeout:g} s "
                f"at {self._robot.time:.2f} s of simulated time"
            )

    def _publish(self, samples) -> None:
        """Publish samples, starting with the ground truth, for which other nodes wait."""
        stamps, state = samples.stamps, samples.state
        self.send(topics.GROUND_TRUTH, pack_states(self._odometry, stamps, state))
        clock = Clock()
        clock.clock.sec, clock.clock.nanosec = divmod(int(stamps[-1]), NANOSECONDS)
        self._time.publish(clock)
        if samples.has_magnetic_field:
            self.send(topics.IMU_MAG, self._packers.field(*samples.magnetic_rows()))
        for fixes in samples.fixes:
            self._publish_fixes(fixes)
        if samples.odometry:
            odometry = pack_odometry(self._odometry, *samples.odometer_rows())
            self.send(topics.ODOMETER, odometry)
        read, rows = samples.imu_rows()
        self.send(topics.IMU, self._packers.data(read, rows))
        if self._calibration is not None:
            _, fields = samples.magnetic_rows() or (None, None)
            for text in self._calibration.add(read, rows[:, 4:7], rows[:, 7:], fields):
                self.send_text(topics.IMU_CALIBRATION, text)
        if self._bias.get_subscription_count():
            self.send(topics.IMU_BIAS, self._packers.bias(*samples.bias_rows()))
        if len(samples.wheels):
            joints = JointState(
                name=self._robot.robot.joints,
                position=state.wheel_positions[-1],
                velocity=state.wheel_velocities[-1],
            )
            joints.header.stamp = clock.clock
            self._joints.publish(joints)
        if self._transforms is not None and self._transforms.get_subscription_count():
            transform = TransformStamped(child_frame_id=topics.ROBOT_FRAME)
            transform.header.stamp, transform.header.frame_id = clock.clock, topics.WORLD_FRAME
            place, turn = transform.transform.translation, transform.transform.rotation
            place.x, place.y, place.z = state.position[-1].tolist()
            turn.x, turn.y, turn.z, turn.w = state.orientation[-1].tolist()
            self._transforms.publish(
                get_message_class("tf2_msgs/TFMessage")(transforms=[transform])
            )

    def _publish_fixes(self, table) -> None:
        for time_of_fix, fix in zip(table.index, table.to_dict("records")):
            for fix_topic in self._fixes:
                if fix_topic.is_known(fix):
                    message = get_message_class(fix_topic.type_name)()
                    header = message.header
                    header.frame_id = fix_topic.frame
                    stamp = divmod(round(time_of_fix * NANOSECONDS), NANOSECONDS)
                    header.stamp.sec, header.stamp.nanosec = stamp
                    fix_topic.fill(message, fix)
                    self.get_publisher(fix_topic.topic).publish(message)

    def _on_end_drive(self, _, response):
        self._ended = True
        return response


class ErrorPublisher(Participant):
    """Publish the tracking error once per control period."""

    program = "error_publisher"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        lock_step = self.configuration.simulation.simulator == "mujoco"
        self._session = TrackingSession(1.0 / self.configuration.control.rate, lock_step)
        self._publisher = self.advertise(topics.TRAJECTORY_ERROR, "sensor_msgs/JointState")
        self.subscribe(topics.GROUND_TRUTH, "nav_msgs/Odometry", self._on_ground_truth)

    def prepare(self) -> None:
        self._session.follow(Reference(*self.reference))

    def is_ready(self) -> bool:
        leaders = (PathFollower.program, RECORDER)
        return self._session.begun and self.is_connected_to(self._publisher, leaders)

    def on_command(self, *commands: float) -> None:
        self._session.commanded()

    def _on_ground_truth(self, data):
        tracked = self._session.ground_truth(true_pose(data))
        if tracked is not None:
            self._publisher.publish(_error_message(tracked))


def _error_message(tracked: TrackedPose) -> JointState:
    values = (tracked.time, *tracked.error, *tracked.reference, *tracked.actual)
    message = JointState(name=ERROR_COORDINATES.names, position=values)
    stamp = message.header.stamp
    stamp.sec, stamp.nanosec = divmod(tracked.stamp, NANOSECONDS)
    message.header.frame_id = topics.WORLD_FRAME
    return message


def _read_error(message: JointState) -> tuple[int, float, TrackingError]:
    time_from_start, *errors = message.position[:5]
    return stamp_in(message), time_from_start, TrackingError(*errors)


class PathFollower(ExperimentNode):
    """Replay a recorded drive by responding to each tracking error with a command.

    The node prepares the drive and the result folder. It ends when the recorder has received all
    messages of the drive.
    """

    program = "path_follower"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        configuration = self.configuration
        place = str(self._parameter_or("prepared", ""))
        with prepared_drive(configuration, place, self.inform, self.warn) as (drive, folder):
            self.publish_latched(RESULT, String(data=folder.prefix_path))
        follower = make_follower(configuration, drive.reference)
        self._session = DriveSession(follower)
        self._timeout = configuration.simulation.command_timeout
        self._started_at = self._answered_at = self._progressed_at = 0.0
        self._recorder_seen_at = 0.0
        self._bar = progress_bar(
            desc="driving",
            total=self._session.duration,
            bar_format=DRIVE_BAR,
            leave=False,
            disable=not self._parameter_or("show_progress", False) or None,
        )
        self._publisher = self.advertise(topics.WHEEL_COMMAND, "std_msgs/Float64MultiArray")
        self._end_drive = self.create_client(Empty, END_DRIVE)
        error = "sensor_msgs/JointState"
        self.subscribe(topics.TRAJECTORY_ERROR, error, self._on_error, raw=False)
        poses = np.array(follower.reference.poses())
        trajectory = Float64MultiArray(data=poses.ravel())
        labels = ("time, x, y, yaw", "sample")
        for name, size, stride in zip(labels, poses.shape, (poses.size, poses.shape[1])):
            trajectory.layout.dim.append(MultiArrayDimension(label=name, size=size, stride=stride))
        self.publish_latched(topics.REFERENCE_TRAJECTORY, trajectory)
        self.inform(
            f"driving {drive.name}: {self._session.duration:.1f} s, {drive.length:.1f} m, with "
            f"{configuration.control.controller}; results in {folder.folder}"
        )

    def _is_recorded(self) -> bool:
        """Return whether the recorder has unsubscribed, or has ended.

        DDS also removes a process that does not respond for 20 s, until it responds again.
        """
        listeners = self.get_subscriptions_info_by_topic(self._publisher.topic_name)
        if RECORDER in [listener.node_name for listener in listeners]:
            self._recorder_seen_at = time.monotonic()
            return False
        absent = time.monotonic() - self._recorder_seen_at
        return RECORDER in self.get_node_names() or absent > _RETURN_TIMEOUT

    def _on_error(self, message):
        if not self._started_at or self._session.finished:
            return
        _, time_from_start, error = _read_error(message)
        self._command(self._session.answer(time_from_start, error))
        if self._session.finished:
            self._recorder_seen_at = time.monotonic()
            self._bar.close()
            self._end_drive.call_async(Empty.Request())

    def _command(self, commands) -> None:
        self._answered_at = time.monotonic()
        self._publisher.publish(Float64MultiArray(data=commands))

    def on_timer(self) -> None:
        now = time.monotonic()
        if self._session.finished:
            self.ended = self._is_recorded()
        elif not self._started_at:
            simulator = simulator_node_name(self.configuration)
            if self.is_connected_to(self._publisher, (simulator, ErrorPublisher.program, RECORDER)):
                self._started_at = now
                self._command(self._session.begin())
        elif now - self._answered_at > self._timeout:
            self.fail(
                f"{self.program}: no message on {topics.TRAJECTORY_ERROR} for {self._timeout:g} s "
                f"after {self._session.time:.2f} s of simulated time: the simulator or "
                "error_publisher does not publish"
            )
        elif now - self._progressed_at > _PROGRESS_PERIOD:
            self._progressed_at = now
            self.inform(self._session.progress(now - self._started_at))
            self._bar.update(self._session.time - self._bar.n)


class ResultComparison(Participant):
    """Record the drive from the first command, and write the results at the end.

    If the node is terminated earlier, it writes the results of the incomplete drive.
    """

    program = RECORDER

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        configuration = self.configuration
        gnss = experiment_gnss(configuration)
        session = RecordingSession.from_configuration(configuration)
        self._session = session
        self._robot: Any = None
        self._commanded_at = 0.0
        # (queued messages, function that reads them, function that records them) for each topic
        self._batches: dict[str, tuple[list[bytes], Any, Any]] = {}
        self._received_topics: set[str] = set()
        self._is_complete = False
        # Other nodes report a missing message earlier, and more specifically.
        self._timeout = 2.0 * configuration.simulation.command_timeout
        self._silence = 0.0  # wall-clock time without a sample, except while suspended [s]
        self._subscribe_batched(topics.IMU, IMU.name, imu_rows, session.add_imu)
        truth = "nav_msgs/Odometry"
        self._subscribe_batched(
            topics.GROUND_TRUTH, truth, ground_truth_rows, session.add_ground_truth
        )
        if measures_magnetic_field(configuration):
            field = "sensor_msgs/MagneticField"
            self._subscribe_batched(
                topics.IMU_MAG, field, magnetic_rows, session.add_magnetic_field
            )
        if experiment_odometer(configuration) is not None:
            self._subscribe_batched(topics.ODOMETER, truth, odometer_rows, session.add_odometry)
        joints = "sensor_msgs/JointState"
        self._lock_step = configuration.simulation.simulator == "mujoco"
        if self._lock_step:
            self.subscribe(topics.JOINT_STATES, joints, self._on_joints, raw=False)
        self.subscribe(topics.TRAJECTORY_ERROR, joints, self._on_error, raw=False)
        for fix_topic in [] if gnss is None else fix_topics(gnss):
            callback = partial(self._on_fix, fix_topic)
            self.subscribe(fix_topic.topic, fix_topic.type_name, callback, raw=False)

    def _on_fix(self, topic: FixTopic, message) -> None:
        stamps, rows = np.array([stamp_in(message)]), np.array([topic.row(message)], dtype=float)
        self._session.add_fixes(topic.kind, stamps, rows)

    def _subscribe_batched(self, topic, type_name, read, add) -> None:
        messages: list[bytes] = []
        self._batches[topic] = messages, read, add

        def collect(data):
            self._silence = 0.0
            self._received_topics.add(topic)
            messages.append(data)
            if len(messages) >= _BATCH_SIZE:
                self._read_messages()

        self.subscribe(topic, type_name, collect)

    def _read_messages(self) -> None:
        for messages, read, add in self._batches.values():
            if messages:
                samples = read(messages)
                messages.clear()
                add(*samples)

    def prepare(self) -> None:
        self._session.ends_after(float(self.reference[0, -1]))
        self._session.record.keep_in(self.folder)

    def is_ready(self) -> bool:
        return len(self._received_topics) == len(self._batches) + self._lock_step

    def on_command(self, *commands: float) -> None:
        self._commanded_at = self._commanded_at or time.monotonic()
        self._session.add_command(*commands)

    def _on_joints(self, message):
        self._received_topics.add(topics.JOINT_STATES)
        if self._robot is None:
            from ..drive.experiment.robot import experiment_robot

            self._robot = experiment_robot(self.configuration)
        row = motor_row(message, self._robot)
        self._session.add_wheels(np.array([stamp_in(message)]), row[np.newaxis])

    def _on_error(self, message):
        self._session.add_error(*_read_error(message))

    def on_timer(self) -> None:
        super().on_timer()
        if self._is_complete:
            self._write()
        elif self._session.arrived:
            self._read_messages()
            self._is_complete = self._session.complete
            if self._is_complete:
                # path_follower ends when this node no longer subscribes, which frees memory.
                for subscription in list(self.subscriptions):
                    self.destroy_subscription(subscription)
        if self._commanded_at and not self._is_complete:
            self._silence += CHECK_PERIOD
            if self._silence > self._timeout:
                self.fail(
                    f"{self.program}: no sample for {self._timeout:g} s before the drive was "
                    "completely recorded; the simulator does not respond, or samples were lost"
                )

    def close(self) -> None:
        if self._session.over:
            return
        self._read_messages()
        if self._session.begun:
            self._write()
        else:
            self._session.record.discard()

    def _write(self) -> None:
        self._session.over = True
        wall_time = time.monotonic() - self._commanded_at
        sampled = ("imu_simulated", "ground_truth")
        # Without lock-step, samples may not be evenly spaced.
        irregular = () if self._lock_step else sampled
        summary = write_results(
            self.folder, self.configuration, self._session, wall_time, irregular
        )
        for name in sampled if self._lock_step else ():
            messages = summary["messages"][name]
            lost = messages["expected"] - messages["received"]
            if lost:
                self.warn(f"{lost} of {messages['expected']} messages of {name} were lost")
        print(terminal_table(summary), flush=True)
        print(f"results: {self.folder.folder}", flush=True)
        missing = missing_figures_sentence(self.folder, summary)
        if missing:
            self.fail(missing)
        self.ended = True


class ImuYawPublisher(Participant):
    """Publish the yaws of both IMUs and the ground truth, and yaw errors, for live views.

    The node subscribes to its inputs only while its outputs have subscribers.
    """

    program = "imu_yaw_publisher"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._session = YawSession()
        joints = "sensor_msgs/JointState"
        self._yaws = {topic: self.advertise(topic, joints) for topic in self._session.topics}
        self._subscribed: list[Any] = []
        self.subscribe(topics.TRAJECTORY_ERROR, joints, self._on_error, raw=False)

    def prepare(self) -> None:
        recorded = None
        if self.folder.path("imu_real.csv").exists():
            recorded = self.folder.read_columns("imu_real", ["yaw"])
        self._session.compare_with(self.folder.read_columns("reference", ["yaw"]), recorded)

    def on_timer(self) -> None:
        watched = any(publisher.get_subscription_count() for publisher in self._yaws.values())
        # The initial simulated yaw error is needed even before the first subscriber.
        needed = self.reference is not None and (watched or not self._session.begun)
        if needed and not self._subscribed:
            self._session.restart()
            previous_subscriptions = set(self.subscriptions)
            self.subscribe(topics.IMU, IMU.name, self._on_imu)
            self.subscribe(topics.GROUND_TRUTH, "nav_msgs/Odometry", self._on_ground_truth)
            self._subscribed = [
                new for new in self.subscriptions if new not in previous_subscriptions
            ]
        elif self._subscribed and not needed:
            while self._subscribed:
                self.destroy_subscription(self._subscribed.pop())

    def _on_error(self, message):
        stamp, time_from_start, _ = _read_error(message)
        self._session.begin(stamp - round(time_from_start * NANOSECONDS))

    def _on_imu(self, data):
        yaw = fast_yaw(*last_numbers(data, IMU)[:4])
        self._publish(self._session.add_imu(stamp_of(data), yaw))

    def _on_ground_truth(self, data):
        pose = true_pose(data)
        yaw = fast_yaw(*pose.orientation)
        self._publish(self._session.add_ground_truth(pose.stamp, yaw))

    def _publish(self, samples: list[YawSample]) -> None:
        for sample in samples:
            publisher = self._yaws[sample.topic]
            if publisher.get_subscription_count():
                values = [sample.yaw, sample.unwrapped]
                message = JointState(name=["yaw", "yaw_unwrapped"], position=values)
                stamp = message.header.stamp
                stamp.sec, stamp.nanosec = divmod(sample.stamp, NANOSECONDS)
                publisher.publish(message)
