"""Interface between nodes and a simulator.

In addition to this interface, nodes communicate with any simulator through the same topics:
``/clock``, ``imu/data``, ``ground_truth/state`` and ``wheel_velocity_controller/command``.
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

CALL_TIMEOUT = 30.0  # wall-clock seconds; timeout for a response from a simulator


class SimulatorInterface(ABC):
    """Interface to a simulator, which sets the robot's pose and IMU parameters, and runs the drive.

    Attributes
    ----------
    lock_step : bool
        Whether simulated time waits for a command after each control period.
    applies_specification : bool
        Whether the simulator applies the specification of an IMU. If not, imu_error_model adds the
        errors to the simulator's ideal IMU.
    imu_topic : str
        Topic of the simulator's IMU, which imu_error_model may convert to ``imu/data``.
    optional_topics : collection of str
        Topics that the simulator need not publish.
    silence : float
        Wall-clock time without a response of a node after which waiting ends [s].
    """

    lock_step: bool
    applies_specification: bool = False
    imu_topic: str = topics.IMU
    optional_topics: Collection[str] = ()
    silence: float = CALL_TIMEOUT

    @abstractmethod
    def wait_until_ready(self, timeout: float) -> None:
        """Wait until the robot is spawned and its topics and services are available.

        Parameters
        ----------
        timeout : float
            Wall-clock timeout [s].

        Raises
        ------
        SimulatorError
            A topic or a service is missing after the timeout.
        """

    @abstractmethod
    def set_pose(self, x: float, y: float, yaw: float) -> None:
        """Place the stationary robot at a pose in the world frame.

        Parameters
        ----------
        x, y : float
            Position [m].
        yaw : float
            Yaw [rad].

        Raises
        ------
        SimulatorError
            The simulator rejects the request or does not respond.
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
            Parameters that differ from the defaults of the model.
        seed : int
            Seed of the random numbers.

        Raises
        ------
        SimulatorError
            The simulator rejects the request or does not respond.
        """

    def start_drift(self, model: str, parameters: Mapping[str, float]) -> None:  # noqa: B027
        """Start the drift of the simulated IMU while simulated time is stopped before a drive.

        Parameters
        ----------
        model : str
            Name of the error model, see :meth:`.SimulatorInterface.set_imu_parameters`.
        parameters : mapping of str to float
            Parameters that differ from the defaults of the model.

        Raises
        ------
        SimulatorError
            The simulator rejects the request or does not respond.
        """

    def irregular_signals(self, model: str) -> tuple[str, ...]:
        """Return which of ``imu_simulated`` and ``ground_truth`` are unevenly sampled.

        Parameters
        ----------
        model : str
            Name of the error model.

        Returns
        -------
        tuple of str
            Names of the signals.
        """
        return ()

    def publishes_imu_bias(self, model: str) -> bool:
        """Return whether the simulator publishes the bias of an IMU model.

        Parameters
        ----------
        model : str
            Name of the IMU model.

        Returns
        -------
        bool
            Whether there is a topic ``imu/data/bias``.
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
            The simulator does not respond, possibly because it is slow.
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
        """Prepare for the first command; a simulator without lock-step stops simulated time.

        Simulated time is then stopped until :meth:`.SimulatorInterface.on_first_command`, and the
        participants have processed all samples so far.

        Parameters
        ----------
        control_period : float
            Control period in simulated time [s].
        real_time_factor : float
            Real-time factor; 0: as fast as possible.
        sampling_period : float
            Sampling period in simulated time [s].
        participants : sequence of str
            Names of the participating nodes.

        Raises
        ------
        SimulatorError
            The simulator rejects the request or does not respond.
        """

    def on_first_command(self) -> None:  # noqa: B027
        """Release simulated time after the first command."""

    def on_command(self, stamp: float) -> None:  # noqa: B027
        """Process a command that responds to a message.

        Parameters
        ----------
        stamp : float
            Simulated time of this message [s].
        """

    def end_drive(self) -> None:  # noqa: B027
        """End the drive; afterwards, commands only stop the robot."""


def call(service: rospy.ServiceProxy, *arguments, timeout: float = CALL_TIMEOUT):
    """Call a service with a timeout, which service calls of rospy do not support.

    Parameters
    ----------
    service : rospy.ServiceProxy
        Proxy of the service to call.
    *arguments
        Fields of the request.
    timeout : float
        Wall-clock timeout [s].

    Returns
    -------
    genpy.Message
        Response of the service.

    Raises
    ------
    SimulatorError
        The service is not available, fails, or does not respond in time.
    """
    name = service.resolved_name
    try:
        has_answered, answer = call_with_timeout(timeout, service, *arguments)
    except (rospy.ServiceException, rospy.ROSException) as error:
        raise SimulatorError(f"service {name} did not respond ({error})") from None
    if not has_answered:
        raise SimulatorError(f"service {name} did not respond within {timeout:g} s")
    return answer


def call_service(service: rospy.ServiceProxy, *arguments, silence: float = CALL_TIMEOUT) -> None:
    """Call a service of a node whose response has the fields ``success`` and ``message``.

    The call may take a long time; it waits while the node that provides the service is responsive.

    Parameters
    ----------
    service : rospy.ServiceProxy
        Proxy of the service to call.
    *arguments
        Fields of the request.
    silence : float
        Wall-clock time without a response of the node after which waiting ends [s].

    Raises
    ------
    SimulatorError
        The service is not available, fails or rejects the request, or its node does not respond.
    """
    name = service.resolved_name
    background_call = BackgroundCall(service, *arguments)
    try:
        wait_while_alive(background_call, name, silence)
    except (rospy.ServiceException, rospy.ROSException) as error:
        raise SimulatorError(f"service {name} did not respond ({error})") from None
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
        Wall-clock timeout [s].

    Raises
    ------
    SimulatorError
        The service is not advertised in time.
    """
    try:
        # rospy.wait_for_service blocks if the master does not respond.
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
        Wall-clock timeout for slow nodes [s].

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
    """Interface to the services of the node ``mujoco_simulator``."""

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
        # YAML preserves all digits of floats, so that they are read back unchanged.
        plain = {
            name: to_mapping(value) if isinstance(value, Settings) else value
            for name, value in parameters.items()
        }
        proxy = rospy.ServiceProxy(SET_IMU_PARAMETERS, SetImuParameters)
        call_service(proxy, model, yaml.safe_dump(plain), seed, silence=self.silence)

    def begin_drive(self, control_period, real_time_factor, sampling_period, participants=()):
        self._drives = True

    def end_drive(self):
        # The drive may be ending because the simulator does not respond.
        if self._drives:
            self._drives = False
            with contextlib.suppress(SimulatorError):
                call(rospy.ServiceProxy(END_DRIVE, Empty), timeout=2.0)


SET_POSE_EXTERNAL = "external_robot/set_pose"

# Parameter with the stamp of the last ground truth before the pose was set [s].
PLACED_PARAMETER = f"{EXPERIMENT_PARAMETERS}/placed"


class ExternalInterface(SimulatorInterface):
    """Interface to the node ``external_robot``; the robot does not wait for the experiment."""

    lock_step = False
    optional_topics = (
        *(topics.CLOCK, topics.TRANSFORMS, topics.STATIC_TRANSFORMS),
        topics.JOINT_STATES,
    )

    def wait_until_ready(self, timeout):
        # external_robot has the same timeout, and its error message names the missing topic.
        wait_for_service(SET_POSE_EXTERNAL, timeout + 5.0)

    def set_pose(self, x, y, yaw):
        proxy = rospy.ServiceProxy(SET_POSE_EXTERNAL, SetPose)
        call_service(proxy, Pose2D(x, y, yaw), silence=self.silence)

    def begin_drive(self, control_period, real_time_factor, sampling_period, participants=()):
        """Wait until all participants have processed a sample of the robot at its new pose."""
        slow_nodes = wait_until_processed(
            participants, rospy.get_param(PLACED_PARAMETER), self.silence
        )
        if slow_nodes:
            raise SimulatorError(
                f"timeout while waiting for {', '.join(slow_nodes)} to process the published "
                f"samples; possibly, {self.silence_reason()}"
            )

    def set_imu_parameters(self, model, parameters, seed):
        """Do nothing, because the IMU belongs to the external robot."""

    def irregular_signals(self, model):
        return ("imu_simulated", "ground_truth")

    def publishes_imu_bias(self, model):
        return model == SPECIFICATION

    def silence_reason(self):
        return "the robot publishes no odometry; check that its simulator is running"


# Modules and classes of the simulators in config.ini; they are imported only if they are used.
SIMULATOR_INTERFACES = {
    "mujoco": ("interface", "MujocoSimulatorInterface"),
    "gazebo": ("gazebo", "GazeboInterface"),
    "external": ("interface", "ExternalInterface"),
}


def make_simulator_interface(configuration: Configuration) -> SimulatorInterface:
    """Create the interface to the configured simulator.

    Parameters
    ----------
    configuration : Configuration
        Settings of the experiment.

    Returns
    -------
    SimulatorInterface
        Interface to the simulator.
    """
    module, class_name = SIMULATOR_INTERFACES[configuration.simulation.simulator]
    simulator = getattr(importlib.import_module(f"{__package__}.{module}"), class_name)()
    # The computations of a service may take longer than a command.
    simulator.silence = 3.0 * configuration.simulation.command_timeout
    if needs_error_model(configuration, simulator):
        simulator.imu_topic = topics.IMU_IDEAL
    return simulator


def needs_error_model(configuration: Configuration, simulator: SimulatorInterface) -> bool:
    """Return whether imu_error_model must add errors to the ideal IMU of the simulator.

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
    """Return whether magnetometer readings are published, which requires a specification.

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
