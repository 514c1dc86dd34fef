"""Commands and odometry of a robot with its own controllers, in the world of the experiment."""

from __future__ import annotations

import math
import struct
from collections import deque

import numpy as np
from scipy.spatial.transform import Rotation

from ...core.angles import difference, quaternion_product, yaw_from_quaternion
from ...core.errors import SimulatorError
from ...core.stamps import NANOSECONDS
from ...recordings.messages import IMU
from ..drivetrain import Drivetrain

_ORIENTATION = struct.Struct("<5d")  # quaternion, first covariance element (-1: no orientation)

STANDSTILL_SPEED = 0.02  # speed and yaw rate below which the robot is stationary [m/s, rad/s]

# Time without a command, measured by odometry stamps, after which the robot is stopped [s].
LONGEST_SILENCE = 0.5


class ExternalRobotSession:
    """Interface between an experiment and a robot that accepts speed and yaw rate commands.

    The pose of the robot cannot be set. Its odometry is therefore shifted, and rotated about the
    vertical, so that the robot starts at the first pose of the drive.

    Parameters
    ----------
    drivetrain : Drivetrain
        Drivetrain whose commands are converted, which may differ from the drivetrain of the robot.
    period : float
        Command period [s].
    twist_in_world : bool
        Whether the odometry's twist is given in the odometry frame instead of the robot frame.
    """

    def __init__(self, drivetrain: Drivetrain, period: float, twist_in_world: bool = False) -> None:
        self._drivetrain = drivetrain
        self._period = period
        self._silence = round(max(LONGEST_SILENCE, 3.0 * period) * NANOSECONDS)
        self._twist_in_world = twist_in_world
        self._origin: np.ndarray = np.zeros(3)
        self._place: np.ndarray = np.zeros(3)
        self._turn = 0.0
        self._newest: tuple[int, np.ndarray] | None = None
        self._commanded_at: int | None = None
        self._stopped = True
        self._unanswered: deque[int] = deque()
        self._ahead = 0  # number of commands that arrived before the corresponding state
        self._latest = 0.0

    def put(self, x: float, y: float, yaw: float) -> None:
        """Define the pose of the stationary robot in the world.

        Parameters
        ----------
        x, y : float
            Position [m].
        yaw : float
            Yaw [rad].

        Raises
        ------
        SimulatorError
            No odometry was received, or the robot is moving.
        """
        if self._newest is None:
            raise SimulatorError("no odometry of the robot was received")
        _, state = self._newest
        speed, turning = float(np.linalg.norm(state[7:10])), float(np.linalg.norm(state[10:]))
        if not max(speed, turning) < STANDSTILL_SPEED:
            raise SimulatorError(
                f"the robot is moving at {speed:.2g} m/s and {turning:.2g} rad/s, but must be "
                "stationary at the start of the drive"
            )
        self._origin = state[:3] * (1.0, 1.0, 0.0)
        self._place = np.array((x, y, 0.0))
        self._turn = float(difference(yaw, yaw_from_quaternion(state[3:7])))

    def odometry(self, stamp: int, state: np.ndarray) -> np.ndarray:
        """Return the state of the robot in the world of the experiment.

        Parameters
        ----------
        stamp : int
            Stamp [ns].
        state : numpy.ndarray, shape (13,)
            Position, orientation x, y, z, w, linear and angular velocity of the odometry.

        Returns
        -------
        numpy.ndarray, shape (13,)
            Same quantities in the world of the experiment, with velocities in the robot frame.
        """
        self._newest = stamp, state
        world_state = state.copy()
        x, y, z = state[:3] - self._origin
        cosine, sine = math.cos(self._turn), math.sin(self._turn)
        world_state[:3] = self._place + (cosine * x - sine * y, sine * x + cosine * y, z)
        world_state[3:7] = self._turned(state[3:7])
        if self._twist_in_world:
            twist = state[7:].reshape(2, 3)
            world_state[7:] = Rotation.from_quat(state[3:7]).apply(twist, inverse=True).ravel()
        return world_state

    def imu(self, data: bytes) -> bytearray:
        """Transform the orientation in a serialised IMU message to the world of the experiment.

        The message is modified without deserialising it, as plug-ins may publish at 1 kHz.

        Parameters
        ----------
        data : bytes
            Serialised sensor_msgs/Imu.

        Returns
        -------
        bytearray
            Serialised message.

        Raises
        ------
        SimulatorError
            The message has no orientation.
        """
        place = len(data) - IMU.payload.itemsize
        *quaternion, variance = _ORIENTATION.unpack_from(data, place)
        if variance == -1.0 or not abs(math.hypot(*quaternion) - 1.0) < 0.01:
            raise SimulatorError("has no orientation, which is required for its yaw")
        message = bytearray(data)
        _ORIENTATION.pack_into(message, place, *self._turned(quaternion), variance)
        return message

    def _turned(self, quaternion) -> tuple[float, ...]:
        half_angle = 0.5 * self._turn
        return quaternion_product(0.0, 0.0, math.sin(half_angle), math.cos(half_angle), *quaternion)

    def due(self, stamp: int) -> None:
        """Register a state to which the experiment must respond with a command.

        Parameters
        ----------
        stamp : int
            Stamp of the state [ns].
        """
        if self._ahead:
            self._ahead -= 1
        else:
            self._unanswered.append(stamp)

    def command(self, *commands: float) -> tuple[float, float]:
        """Convert drivetrain commands to speed and yaw rate, and register their delay.

        Parameters
        ----------
        *commands : float
            Commands as in :attr:`.Drivetrain.commands`.

        Returns
        -------
        v, yaw_rate : float
            Speed [m/s] and yaw rate [rad/s].
        """
        newest = 0 if self._newest is None else self._newest[0]
        command = self._drivetrain.forward(*commands)
        if self._unanswered:
            latency = (newest - self._unanswered.popleft()) / NANOSECONDS
            # Stop commands are repeated after the drive, without corresponding states.
            self._latest = max(self._latest, latency if any(command) else 0.0)
        elif self._commanded_at is not None:
            self._ahead += 1
        self._commanded_at, self._stopped = newest, False
        return command

    def left_alone(self) -> bool:
        """Return whether the robot must be stopped because no command has arrived recently.

        The result is true only once per interruption of the commands.

        Returns
        -------
        bool
            Whether the last command is older than the timeout.
        """
        if self._stopped or self._newest is None or self._commanded_at is None:
            return False
        self._stopped = self._newest[0] - self._commanded_at > self._silence
        return self._stopped

    def too_late(self) -> str:
        """Describe the largest command delay, if it exceeds two periods.

        Returns
        -------
        str
            Message; empty if no command was later than two periods.
        """
        if self._latest <= 2.0 * self._period:
            return ""
        return (
            f"commands were up to {self._latest:.2f} s late relative to the robot's state, "
            f"expected at most {2.0 * self._period:.2f} s: the nodes were slower than the robot, "
            "which increased the tracking error"
        )
