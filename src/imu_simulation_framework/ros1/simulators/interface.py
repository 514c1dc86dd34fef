"""The one interface through which nodes speak to a simulator.

Beside it there are topics, which are the same for all (``/clock``, ``imu/data``,
``ground_truth/state``, ``wheel_velocity_controller/command``). Which simulator runs is known to
whoever starts it, to its own nodes and to no other.
"""

from __future__ import annotations

import contextlib
import importlib
import threading
from abc import ABC, abstractmethod
from typing import Collection, Mapping, Sequence

import rospy
import yaml
from geometry_msgs.msg import Pose2D
from std_msgs.msg import Header
from std_srvs.srv import Empty

from ...core import topics
from ...core.errors import SimulatorError
from ...core.settings import Settings, to_mapping
from ...drive.configuration import Configuration
from ...drive.experiment.environment import measures_magnetic_field
from ...drive.experiment.imu import SPECIFICATION, make_experiment_imu
from ...drive.experiment_arguments import EXPERIMENT_PARAMETERS
from ...srv import SetImuParameters, SetPose
from ..answers import MASTER_TIMEOUT, Background, wait_while_alive, within

CALL_TIMEOUT = 30.0  # wall-clock seconds that a simulator has for an answer


class SimulatorInterface(ABC):
    """Set the robot's pose, set the IMU's parameters, wait until ready."""

    lock_step: bool
    """Whether simulated time stands still until a command answers the last tick."""

    applies_specification: bool = False
    """Whether it simulates an IMU's specification itself; else imu_error_model makes one of the
    simulator's ideal IMU."""

    imu_topic: str = topics.IMU
    """On which the simulator publishes; another node may stand between it and imu/data."""

    may_lack: Collection[str] = ()
    """Topics on which nobody may publish."""

    silence: float = CALL_TIMEOUT
    """Wall-clock seconds without a sign of life, after which a node is not waited for."""

    @abstractmethod
    def wait_until_ready(self, timeout: float) -> None:
        """Return when the robot stands in the world and its topics and services are there.

        Raises SimulatorError: after ``timeout`` seconds of wall clock; says what is missing.
        """

    @abstractmethod
    def set_pose(self, x: float, y: float, yaw: float) -> None:
        """Put the robot at rest at (x, y) [m], yaw [rad] of the world frame.

        Raises SimulatorError: the simulator refuses, or does not answer.
        """

    @abstractmethod
    def set_imu_parameters(self, model: str, parameters: Mapping[str, float], seed: int) -> None:
        """Give the simulated IMU its error model; its drift starts anew.

        Where simulated time runs freely, the drift starts with ``start_drift``.
        Raises SimulatorError: the simulator refuses, or does not answer.
        """

    def start_drift(self, model: str, parameters: Mapping[str, float]) -> None:  # noqa: B027
        """Start the drift of the simulated IMU, while simulated time stands still before a drive.

        Parameters
        ----------
        model : str
            Name of the IMU's error model, as for :meth:`.SimulatorInterface.set_imu_parameters`.
        parameters : mapping of str to float
            Parameters that differ from the model's defaults.

        Raises
        ------
        SimulatorError
            If the simulator refuses or does not answer.
        """

    def irregular(self, model: str) -> tuple[str, ...]:
        """Return which of imu_simulated and ground_truth have not exactly equal intervals."""
        return ()

    def publishes_imu_bias(self, model: str) -> bool:
        """Return whether there is a topic with this simulated IMU's biases."""
        return True

    def why_stopped(self) -> str:
        """Return what somebody has done to stop simulated time for good; else empty.

        Raises SimulatorError: the simulator does not answer, as one that is merely slow may not.
        """
        return ""

    def why_silent(self) -> str:
        """Return what keeps simulated time from going on, if that is known; else empty."""
        return ""

    def begin_drive(  # noqa: B027
        self,
        control_period: float,
        real_time_factor: float,
        sampling_period: float,
        participants: Sequence[str] = (),
    ) -> None:
        """Learn that the first command follows; one that does not wait has to be held back.

        Simulated time then stands still until :meth:`.SimulatorInterface.commanded`. Raises
        SimulatorError: the simulator refuses, or does not answer.

        ``control_period``: simulated seconds from one command to the next; ``real_time_factor``: 0:
        as fast as possible; ``sampling_period``: simulated seconds from one sample to the next;
        ``participants`` (sequence of str): nodes that have taken in all that was measured when this
        returns.
        """

    def commanded(self) -> None:  # noqa: B027
        """Learn that the first command was given."""

    def answered(self, stamp: float) -> None:  # noqa: B027
        """Learn that what happened at this simulated time [s] was answered with a command."""

    def end_drive(self) -> None:  # noqa: B027
        """Learn that no command follows but that the robot shall stop."""


def call(service: rospy.ServiceProxy, *arguments, timeout: float = CALL_TIMEOUT):
    """Call a service, and return its answer.

    rospy itself would wait for ever. Raises SimulatorError: it is not there, breaks off, or has not
    answered after ``timeout`` seconds of wall clock.
    """
    name = service.resolved_name
    try:
        answered, answer = within(timeout, service, *arguments)
    except (rospy.ServiceException, rospy.ROSException) as error:
        raise SimulatorError(f"service {name} did not answer ({error})") from None
    if not answered:
        raise SimulatorError(f"service {name} did not answer within {timeout:g} s")
    return answer


def call_service(service: rospy.ServiceProxy, *arguments, silence: float = CALL_TIMEOUT) -> None:
    """Call a service ``<node>/...`` that answers with ``success`` and ``message``.

    It may take long: it is waited for as long as its node lives. Raises SimulatorError: it is not
    there, breaks off, shows no life, or answers with a failure. ``*arguments``: of the service;
    ``silence``: wall-clock seconds without a sign of life.
    """
    name = service.resolved_name
    asked = Background(service, *arguments)
    try:
        wait_while_alive(asked, name, silence)
    except (rospy.ServiceException, rospy.ROSException) as error:
        raise SimulatorError(f"service {name} did not answer ({error})") from None
    if not asked.value.success:
        raise SimulatorError(f"service {name} refused: {asked.value.message}")


def wait_for_service(name: str, timeout: float) -> None:
    """Wait for a service to be advertised.

    Raises SimulatorError: after ``timeout`` seconds of wall clock.
    """
    try:
        # The master may be silent, too.
        if within(timeout + MASTER_TIMEOUT, rospy.wait_for_service, name, timeout)[0]:
            return
    except rospy.ROSException:
        pass
    raise SimulatorError(f"service {rospy.resolve_name(name)} was not there after {timeout:g} s")


def wait_until_processed(participants: Sequence[str], stamp: float, timeout: float) -> list[str]:
    """Wait until nodes have processed samples later than a simulated time.

    Parameters
    ----------
    participants : sequence of str
        Names of the nodes, each of which reports on ``experiment/progress``.
    stamp : float
        Simulated time [s].
    timeout : float
        Wall-clock seconds after which those that are behind are not waited for any longer.

    Returns
    -------
    list of str
        The nodes that are still behind; empty when all have processed such a sample.
    """
    processed: dict[str, float] = {}
    reported = threading.Condition()

    def on_progress(report) -> None:
        with reported:
            processed[report.frame_id] = report.stamp.to_sec()
            reported.notify_all()

    def behind() -> list[str]:
        return [name for name in participants if processed.get(name, 0.0) <= stamp]

    subscriber = rospy.Subscriber(topics.PROGRESS, Header, on_progress, tcp_nodelay=True)
    try:
        with reported:
            reported.wait_for(lambda: not behind(), timeout)
            return behind()
    finally:
        subscriber.unregister()


SET_POSE = "mujoco_simulator/set_pose"
SET_IMU_PARAMETERS = "mujoco_simulator/set_imu_parameters"
END_DRIVE = "mujoco_simulator/end_drive"


class MujocoSimulatorInterface(SimulatorInterface):
    """Speaks to ``mujoco_simulator.py`` through its services."""

    lock_step = True
    applies_specification = True

    _drives = False

    def wait_until_ready(self, timeout):
        for name in (SET_POSE, SET_IMU_PARAMETERS):
            wait_for_service(name, timeout)

    def set_pose(self, x, y, yaw):
        proxy = rospy.ServiceProxy(SET_POSE, SetPose)
        call_service(proxy, Pose2D(x, y, yaw), silence=self.silence)

    def set_imu_parameters(self, model, parameters, seed):
        # Numbers are written so that they read back equal.
        plain = {
            name: to_mapping(value) if isinstance(value, Settings) else value
            for name, value in parameters.items()
        }
        proxy = rospy.ServiceProxy(SET_IMU_PARAMETERS, SetImuParameters)
        call_service(proxy, model, yaml.safe_dump(plain), seed, silence=self.silence)

    def begin_drive(self, control_period, real_time_factor, sampling_period, participants=()):
        self._drives = True

    def end_drive(self):
        # A simulator that is silent is not waited for.
        if self._drives:
            self._drives = False
            with contextlib.suppress(SimulatorError):
                call(rospy.ServiceProxy(END_DRIVE, Empty), timeout=2.0)


SET_POSE_EXTERNAL = "external_robot/set_pose"

PLACED = f"{EXPERIMENT_PARAMETERS}/placed"
"""Parameter with the newest stamp of the ground truth [s] that is of before the pose was set.

The next experiment on this master clears it."""


class ExternalInterface(SimulatorInterface):
    """Speaks to ``external_robot.py``, which speaks to the robot; neither waits for us."""

    lock_step = False
    may_lack = (
        *(topics.CLOCK, topics.TRANSFORMS, topics.STATIC_TRANSFORMS),
        topics.JOINT_STATES,
    )

    def wait_until_ready(self, timeout):
        # A little longer than external_robot waits, which says what is missing.
        wait_for_service(SET_POSE_EXTERNAL, timeout + 5.0)

    def set_pose(self, x, y, yaw):
        proxy = rospy.ServiceProxy(SET_POSE_EXTERNAL, SetPose)
        call_service(proxy, Pose2D(x, y, yaw), silence=self.silence)

    def begin_drive(self, control_period, real_time_factor, sampling_period, participants=()):
        """Wait until everybody has taken in where the robot stands since its pose was set."""
        behind = wait_until_processed(participants, rospy.get_param(PLACED), self.silence)
        if behind:
            raise SimulatorError(
                f"gave up waiting for {', '.join(behind)} to take in what was published; "
                f"or {self.why_silent()}"
            )

    def set_imu_parameters(self, model, parameters, seed):
        """Leave the robot's IMU as it is."""

    def irregular(self, model):
        return ("imu_simulated", "ground_truth")

    def publishes_imu_bias(self, model):
        return model == SPECIFICATION

    def why_silent(self):
        return "nothing comes from the robot's odometry: is its simulator paused, or has it ended?"


SIMULATOR_INTERFACES = {
    "mujoco": ("interface", "MujocoSimulatorInterface"),
    "gazebo": ("gazebo", "GazeboInterface"),
    "external": ("interface", "ExternalInterface"),
}
"""Name in config.ini -> module and class; imported only when it is used, since Gazebo's messages
are only where it is."""


def make_simulator_interface(configuration: Configuration) -> SimulatorInterface:
    """Return the interface of the simulator that the configuration names."""
    module, class_name = SIMULATOR_INTERFACES[configuration.simulation.simulator]
    simulator = getattr(importlib.import_module(f"{__package__}.{module}"), class_name)()
    # Longer than for a command: a node may compute.
    simulator.silence = 3.0 * configuration.simulation.command_timeout
    if needs_error_model(configuration, simulator):
        simulator.imu_topic = topics.IMU_IDEAL
    return simulator


def needs_error_model(configuration: Configuration, simulator: SimulatorInterface) -> bool:
    """Whether the simulator's IMU is an ideal one that imu_error_model turns into another."""
    return configuration.imu.model == SPECIFICATION and not simulator.applies_specification


def publishes_magnetic_field(configuration: Configuration, simulator: SimulatorInterface) -> bool:
    """Return whether there is a topic with what a magnetometer measures.

    A simulator with plug-ins of its own has none but that of a specification.
    """
    ours = simulator.applies_specification or needs_error_model(configuration, simulator)
    return ours and measures_magnetic_field(configuration)


def publishes_calibration(configuration: Configuration, simulator: SimulatorInterface) -> bool:
    """Return whether there is a topic on which a BNO055 says how far it is calibrated."""
    ours = simulator.applies_specification or needs_error_model(configuration, simulator)
    return ours and bool(make_experiment_imu(configuration).bno055_mode)
