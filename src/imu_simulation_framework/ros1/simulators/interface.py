"""Interface of the nodes to a simulator.

In addition to this interface, nodes exchange topics with the simulator, which are the same for all
simulators: ``/clock``, ``imu/data``, ``ground_truth/state`` and
``wheel_velocity_controller/command``.
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
from ..blocking_calls import MASTER_TIMEOUT, BackgroundCall, call_with_timeout, wait_while_alive

CALL_TIMEOUT = 30.0  # wall-clock seconds that a simulator has for a response


class SimulatorInterface(ABC):
    """Interface to a simulator: the robot's pose, the IMU's parameters, and the drive.

    Attributes
    ----------
    lock_step : bool
        Whether simulated time waits for a command after each control period.
    applies_specification : bool
        Whether the simulator applies an IMU's specification; otherwise imu_error_model adds its
        errors to the simulator's ideal IMU.
    imu_topic : str
        Topic of the simulator's IMU; imu_error_model may convert it to ``imu/data``.
    optional_topics : collection of str
        Topics that the simulator need not publish.
    silence : float
        Wall-clock time [s] without a response after which a node is given up.
    """

    lock_step: bool
    applies_specification: bool = False
    imu_topic: str = topics.IMU
    optional_topics: Collection[str] = ()
    silence: float = CALL_TIMEOUT

    @abstractmethod
    def wait_until_ready(self, timeout: float) -> None:
        """Wait until the robot is in the world and its topics and services are available.

        Parameters
        ----------
        timeout : float
            Wall-clock time [s].

        Raises
        ------
        SimulatorError
            If a topic or service is missing after this time.
        """

    @abstractmethod
    def set_pose(self, x: float, y: float, yaw: float) -> None:
        """Place the robot at rest at a pose in the world frame.

        Parameters
        ----------
        x, y : float
            Position [m].
        yaw : float
            Yaw [rad].

        Raises
        ------
        SimulatorError
            If the simulator refuses or does not answer.
        """

    @abstractmethod
    def set_imu_parameters(self, model: str, parameters: Mapping[str, float], seed: int) -> None:
        """Set the error model of the simulated IMU and restart its drift.

        Without lock-step, the drift starts with :meth:`.SimulatorInterface.start_drift`.

        Parameters
        ----------
        model : str
            Name of the error model.
        parameters : mapping of str to float
            Parameters that differ from the model's defaults.
        seed : int
            Seed of the random numbers.

        Raises
        ------
        SimulatorError
            If the simulator refuses or does not answer.
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

    def irregular_signals(self, model: str) -> tuple[str, ...]:
        """Return which of ``imu_simulated`` and ``ground_truth`` are not evenly sampled.

        Parameters
        ----------
        model : str
            Name of the IMU's error model.

        Returns
        -------
        tuple of str
            Names of the signals.
        """
        return ()

    def publishes_imu_bias(self, model: str) -> bool:
        """Return whether the simulator publishes the bias of an IMU with an error model.

        Parameters
        ----------
        model : str
            Name of the IMU model.

        Returns
        -------
        bool
            True for a topic ``imu/data/bias``.
        """
        return True

    def stop_reason(self) -> str:
        """Return the reason why simulated time has stopped permanently, for example a pause.

        Returns
        -------
        str
            Reason; empty if time may advance.

        Raises
        ------
        SimulatorError
            If the simulator does not answer, which a slow simulator may not do either.
        """
        return ""

    def silence_reason(self) -> str:
        """Return the known reason why simulated time does not advance.

        Returns
        -------
        str
            Reason; empty if it is unknown.
        """
        return ""

    def begin_drive(  # noqa: B027
        self,
        control_period: float,
        real_time_factor: float,
        sampling_period: float,
        participants: Sequence[str] = (),
    ) -> None:
        """Prepare the first command; a simulator without lock-step holds simulated time.

        Simulated time then stands still until :meth:`.SimulatorInterface.on_first_command`, and the
        participants have processed all samples so far.

        Parameters
        ----------
        control_period : float
            Simulated time between two commands [s].
        real_time_factor : float
            Simulated time per wall-clock time; 0: as fast as possible.
        sampling_period : float
            Simulated time between two samples [s].
        participants : sequence of str
            Names of the nodes that take part.

        Raises
        ------
        SimulatorError
            If the simulator refuses or does not answer.
        """

    def on_first_command(self) -> None:  # noqa: B027
        """Release simulated time after the first command."""

    def on_command(self, stamp: float) -> None:  # noqa: B027
        """Process the command that answers a message.

        Parameters
        ----------
        stamp : float
            Simulated time of the message [s].
        """

    def end_drive(self) -> None:  # noqa: B027
        """End the drive; further commands only stop the robot."""


def call(service: rospy.ServiceProxy, *arguments, timeout: float = CALL_TIMEOUT):
    """Call a service with a time limit, which rospy's own call lacks.

    Parameters
    ----------
    service : rospy.ServiceProxy
        Proxy of the service to call.
    *arguments
        Fields of the request.
    timeout : float
        Wall-clock time [s].

    Returns
    -------
    genpy.Message
        Response of the service.

    Raises
    ------
    SimulatorError
        If the service is not available, fails, or does not answer in time.
    """
    name = service.resolved_name
    try:
        has_answered, answer = call_with_timeout(timeout, service, *arguments)
    except (rospy.ServiceException, rospy.ROSException) as error:
        raise SimulatorError(f"service {name} did not answer ({error})") from None
    if not has_answered:
        raise SimulatorError(f"service {name} did not answer within {timeout:g} s")
    return answer


def call_service(service: rospy.ServiceProxy, *arguments, silence: float = CALL_TIMEOUT) -> None:
    """Call a service ``<node>/...`` whose response has the fields ``success`` and ``message``.

    The call may take long; it waits as long as the node of the service responds.

    Parameters
    ----------
    service : rospy.ServiceProxy
        Proxy of the service to call.
    *arguments
        Fields of the request.
    silence : float
        Wall-clock time [s] without a response of the node after which it is given up.

    Raises
    ------
    SimulatorError
        If the service is not available, fails, refuses, or its node does not respond.
    """
    name = service.resolved_name
    background_call = BackgroundCall(service, *arguments)
    try:
        wait_while_alive(background_call, name, silence)
    except (rospy.ServiceException, rospy.ROSException) as error:
        raise SimulatorError(f"service {name} did not answer ({error})") from None
    if not background_call.value.success:
        raise SimulatorError(
            f"service {name} rejected the request: {background_call.value.message}"
        )


def wait_for_service(name: str, timeout: float) -> None:
    """Wait until a service is advertised.

    Parameters
    ----------
    name : str
        Name of the service.
    timeout : float
        Wall-clock time [s].

    Raises
    ------
    SimulatorError
        If the service is not advertised in time.
    """
    try:
        # rospy.wait_for_service itself blocks if the master does not respond.
        if call_with_timeout(timeout + MASTER_TIMEOUT, rospy.wait_for_service, name, timeout)[0]:
            return
    except rospy.ROSException:
        pass
    raise SimulatorError(
        f"service {rospy.resolve_name(name)} was not available after {timeout:g} s"
    )


def wait_until_processed(participants: Sequence[str], stamp: float, timeout: float) -> list[str]:
    """Wait until nodes have processed samples later than a simulated time.

    Parameters
    ----------
    participants : sequence of str
        Names of the nodes, each of which reports on ``experiment/progress``.
    stamp : float
        Simulated time [s].
    timeout : float
        Wall-clock time [s] after which slow nodes are given up.

    Returns
    -------
    list of str
        Names of the nodes that have not processed such a sample.
    """
    processed: dict[str, float] = {}
    reported = threading.Condition()

    def on_progress(report) -> None:
        with reported:
            processed[report.frame_id] = report.stamp.to_sec()
            reported.notify_all()

    def find_slow_nodes() -> list[str]:
        return [name for name in participants if processed.get(name, 0.0) <= stamp]

    subscriber = rospy.Subscriber(topics.PROGRESS, Header, on_progress, tcp_nodelay=True)
    try:
        with reported:
            reported.wait_for(lambda: not find_slow_nodes(), timeout)
            return find_slow_nodes()
    finally:
        subscriber.unregister()


SET_POSE = "mujoco_simulator/set_pose"
SET_IMU_PARAMETERS = "mujoco_simulator/set_imu_parameters"
END_DRIVE = "mujoco_simulator/end_drive"


class MujocoSimulatorInterface(SimulatorInterface):
    """Interface to the node ``mujoco_simulator`` through its services."""

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
        # YAML writes floats with all digits, so that they are read back unchanged.
        plain = {
            name: to_mapping(value) if isinstance(value, Settings) else value
            for name, value in parameters.items()
        }
        proxy = rospy.ServiceProxy(SET_IMU_PARAMETERS, SetImuParameters)
        call_service(proxy, model, yaml.safe_dump(plain), seed, silence=self.silence)

    def begin_drive(self, control_period, real_time_factor, sampling_period, participants=()):
        self._drives = True

    def end_drive(self):
        # The drive may end because the simulator does not respond.
        if self._drives:
            self._drives = False
            with contextlib.suppress(SimulatorError):
                call(rospy.ServiceProxy(END_DRIVE, Empty), timeout=2.0)


SET_POSE_EXTERNAL = "external_robot/set_pose"

# Parameter with the stamp of the last ground truth [s] before the pose was set. The next experiment
# on this master clears it.
PLACED_PARAMETER = f"{EXPERIMENT_PARAMETERS}/placed"


class ExternalInterface(SimulatorInterface):
    """Interface to the node ``external_robot``, whose robot does not wait for the experiment."""

    lock_step = False
    optional_topics = (
        *(topics.CLOCK, topics.TRANSFORMS, topics.STATIC_TRANSFORMS),
        topics.JOINT_STATES,
    )

    def wait_until_ready(self, timeout):
        # external_robot has the same time limit, and its message names the missing topic.
        wait_for_service(SET_POSE_EXTERNAL, timeout + 5.0)

    def set_pose(self, x, y, yaw):
        proxy = rospy.ServiceProxy(SET_POSE_EXTERNAL, SetPose)
        call_service(proxy, Pose2D(x, y, yaw), silence=self.silence)

    def begin_drive(self, control_period, real_time_factor, sampling_period, participants=()):
        """Wait until all participants have processed a sample with the robot at its new pose."""
        slow_nodes = wait_until_processed(
            participants, rospy.get_param(PLACED_PARAMETER), self.silence
        )
        if slow_nodes:
            raise SimulatorError(
                f"gave up waiting for {', '.join(slow_nodes)} to process the published samples; "
                f"or {self.silence_reason()}"
            )

    def set_imu_parameters(self, model, parameters, seed):
        """Do nothing, as the robot has an IMU of its own."""

    def irregular_signals(self, model):
        return ("imu_simulated", "ground_truth")

    def publishes_imu_bias(self, model):
        return model == SPECIFICATION

    def silence_reason(self):
        return "the robot publishes no odometry; check that its simulator is running"


# Modules and classes of the simulators in config.ini. They are imported on use, as Gazebo's
# messages are only available where Gazebo is installed.
SIMULATOR_INTERFACES = {
    "mujoco": ("interface", "MujocoSimulatorInterface"),
    "gazebo": ("gazebo", "GazeboInterface"),
    "external": ("interface", "ExternalInterface"),
}


def make_simulator_interface(configuration: Configuration) -> SimulatorInterface:
    """Make the interface of the configured simulator.

    Parameters
    ----------
    configuration : Configuration
        Settings of the experiment.

    Returns
    -------
    SimulatorInterface
        Interface of the simulator.
    """
    module, class_name = SIMULATOR_INTERFACES[configuration.simulation.simulator]
    simulator = getattr(importlib.import_module(f"{__package__}.{module}"), class_name)()
    # A service may compute for longer than a command takes.
    simulator.silence = 3.0 * configuration.simulation.command_timeout
    if needs_error_model(configuration, simulator):
        simulator.imu_topic = topics.IMU_IDEAL
    return simulator


def needs_error_model(configuration: Configuration, simulator: SimulatorInterface) -> bool:
    """Return whether imu_error_model adds errors to the simulator's ideal IMU.

    Parameters
    ----------
    configuration : Configuration
        Settings of the experiment.
    simulator : SimulatorInterface
        Interface of the simulator.

    Returns
    -------
    bool
        Whether the node imu_error_model is needed.
    """
    return configuration.imu.model == SPECIFICATION and not simulator.applies_specification


def publishes_magnetic_field(configuration: Configuration, simulator: SimulatorInterface) -> bool:
    """Return whether a magnetometer's field is published, which requires a specification.

    Parameters
    ----------
    configuration : Configuration
        Settings of the experiment.
    simulator : SimulatorInterface
        Interface of the simulator.

    Returns
    -------
    bool
        Whether there is a topic of the magnetic field.
    """
    has_specification = _has_specification(configuration, simulator)
    return has_specification and measures_magnetic_field(configuration)


def publishes_calibration(configuration: Configuration, simulator: SimulatorInterface) -> bool:
    """Return whether the calibration status of a BNO055 is published.

    Parameters
    ----------
    configuration : Configuration
        Settings of the experiment.
    simulator : SimulatorInterface
        Interface of the simulator.

    Returns
    -------
    bool
        Whether there is a topic of the calibration status.
    """
    has_specification = _has_specification(configuration, simulator)
    return has_specification and bool(make_experiment_imu(configuration).bno055_mode)


def _has_specification(configuration, simulator) -> bool:
    return simulator.applies_specification or needs_error_model(configuration, simulator)
