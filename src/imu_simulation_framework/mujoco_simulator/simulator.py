"""The robot in MuJoCo: commanded wheel velocities in, true motion and true IMU signals out."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Sequence, cast

import mujoco
import numpy as np

from imu_simulation_framework.checked_values import checked_number
from imu_simulation_framework.constants import WORLD_GRAVITY
from imu_simulation_framework.errors import ConfigurationError, SimulatorError
from imu_simulation_framework.magnetism.ferrous import FerrousBody
from imu_simulation_framework.mujoco_simulator.integrating_imu import IntegratingImu
from imu_simulation_framework.mujoco_simulator.model import (
    BASE_ANGULAR_VELOCITY,
    BASE_POSITION,
    BASE_QUATERNION,
    BASE_VELOCITY,
    WHEEL_POSITIONS,
    WHEEL_VELOCITIES,
    build_model,
)
from imu_simulation_framework.mujoco_simulator.motors import WheelMotors
from imu_simulation_framework.robot.parameters import RobotParameters
from imu_simulation_framework.robot_names import IMU_FRAME
from imu_simulation_framework.sensors.imu_models import ImuTruth

_SETTLING_TIME = 2.0  # s; the contacts' oscillation dies out within tenths of it
_REST = 1e-6  # m/s and rad/s
_XYZW = [1, 2, 3, 0]  # MuJoCo's quaternions are in the order w, x, y, z


class SimulatorState(NamedTuple):
    """The robot at one sample time, or at several: all then have the samples as their first axis.

    All arrays are the receiver's own.

    ``time`` [s]. ``position`` (3,) [m] and ``orientation`` (4,) [quaternion x, y, z, w] of
    base_footprint in the world; its ``linear_velocity`` (3,) [m/s] and ``angular_velocity`` (3,)
    [rad/s] in its own axes; ``wheel_positions`` (w,) [rad] and ``wheel_velocities`` (w,) [rad/s],
    in the order of ``wheel_joints`` of :class:`.RobotParameters`. Of the IMU: ``imu_orientation``
    (4,) in the world and, in the IMU's axes, ``imu_angular_velocity`` (3,) [rad/s] and
    ``specific_force`` (3,) [m/s^2], both as means over the sample period that ends now.
    ``wheel_torques`` (w,) [N m] are those of the motors in the last physics step, or means over the
    sample period where these were asked for.
    """

    time: Any  # float, or ndarray of several
    position: np.ndarray
    orientation: np.ndarray
    linear_velocity: np.ndarray
    angular_velocity: np.ndarray
    wheel_positions: np.ndarray
    wheel_velocities: np.ndarray
    imu_orientation: np.ndarray
    imu_angular_velocity: np.ndarray
    specific_force: np.ndarray
    wheel_torques: np.ndarray

    @property
    def imu_truth(self) -> ImuTruth:
        """What an IMU without errors would say."""
        return ImuTruth(self.imu_orientation, self.imu_angular_velocity, self.specific_force)

    def sample(self, number: int) -> SimulatorState:
        """Return one of several samples, counted from 0."""
        return SimulatorState(*(values[number] for values in cast(Any, self)))


class MujocoSimulator:
    """The robot on its ground, advanced one sample period at a time.

    The IMU's signals are the changes of orientation and velocity over a sample period, divided by
    it: what an IMU that integrates internally delivers, and how Gazebo's plug-ins compute theirs.
    Unlike MuJoCo's own sensors they do not lag the pose by a physics step and do not alias the
    contacts' oscillations, and the summed angular velocity is the orientation.

    The same commands give the same states, bit for bit, for one version of MuJoCo.

    Parameters
    ----------
    parameters : RobotParameters
    physics_rate : int
        Physics steps per second [Hz].
    sample_rate : int
        Samples per second [Hz]; the physics rate must be a multiple of it.
    terrain : Terrain, optional
        Bumps on the ground; it is level without.
    bodies : sequence of FerrousBody
        Shown where they are; nothing touches them.
    gravity : float
        [m/s^2]
    mean_torques : bool
        Whether the motors' torques are means over the sample period, which takes some time.

    Raises
    ------
    ConfigurationError
        The rates do not fit together, or the robot's description cannot be expanded.
    SimulatorError
        The robot does not stand still on the ground.
    """

    def __init__(
        self,
        parameters: RobotParameters,
        physics_rate=1000,
        sample_rate=100,
        terrain=None,
        bodies: Sequence[FerrousBody] = (),
        gravity: float = WORLD_GRAVITY,
        mean_torques: bool = False,
    ):
        if not (physics_rate >= sample_rate > 0 and physics_rate % sample_rate == 0):
            raise ConfigurationError(
                f"The physics rate, {physics_rate} Hz, must be a multiple of the sample rate, "
                f"{sample_rate} Hz."
            )
        self._terrain = terrain
        self._footprint = parameters.footprint_radius
        self._mean_torques = mean_torques
        self._sample_rate = sample_rate
        self._steps_per_sample = int(physics_rate // sample_rate)
        self._model = build_model(parameters, physics_rate, terrain, bodies)
        self._model.opt.gravity[:] = (0.0, 0.0, -checked_number("gravity", gravity, above=0.0))
        self._data = mujoco.MjData(self._model)
        self._gravity = gravity
        # Views of MuJoCo's memory; to ask for one takes as long as to copy it.
        self._position = self._data.qpos
        self._velocity = self._data.qvel
        self._control = self._data.ctrl
        self._torques = self._data.actuator_force
        self._base_position = self._data.qpos[BASE_POSITION]
        self._base_quaternion = self._data.qpos[BASE_QUATERNION]
        self._wheel_velocities = self._data.qvel[WHEEL_VELOCITIES]
        self._warnings = self._data.warning.number
        self._motors = WheelMotors(parameters, self.sample_period)
        self._imu = self._mount_imu()
        self._state: SimulatorState | None = None
        self._rest_position, self._rest_quaternion = self._settle()
        self.reset()

    @property
    def gravity(self) -> float:
        """Acceleration due to gravity [m/s^2]."""
        return self._gravity

    @property
    def state(self) -> SimulatorState:
        """The state after the last step or change of the pose."""
        state = self._state
        if state is None:
            state = self._state = self._states.sample(-1)
        return state

    @property
    def imu_mounting(self) -> tuple[np.ndarray, np.ndarray]:
        """Place of the IMU in the base (3,) [m], and its orientation there (4,), x, y, z, w."""
        return self._imu.position, self._imu.quaternion[_XYZW]

    @property
    def sample_period(self) -> float:
        """Seconds from one sample to the next."""
        return 1.0 / self._sample_rate

    def reset(self, x=0.0, y=0.0, yaw=0.0) -> SimulatorState:
        """Go back to time zero, with the robot at rest at this pose [m, m, rad]."""
        mujoco.mj_resetData(self._model, self._data)
        self._samples = 0
        return self.set_pose(x, y, yaw)

    def set_pose(self, x, y, yaw) -> SimulatorState:
        """Put the robot, at rest and standing on the ground, at this pose [m, m, rad].

        Time goes on, the wheels keep their angles, the command becomes zero. The IMU feels
        nothing of the jump.

        Raises
        ------
        SimulatorError
            The pose is not finite.
        """
        if not all(map(math.isfinite, (x, y, yaw))):
            raise SimulatorError(f"The robot cannot be put at x = {x}, y = {y}, yaw = {yaw}.")
        turn = np.empty(4)
        mujoco.mju_axisAngle2Quat(turn, np.array([0.0, 0.0, 1.0]), yaw)
        mujoco.mju_rotVecQuat(self._base_position, self._rest_position, turn)
        self._base_position[:2] += x, y
        mujoco.mju_mulQuat(self._base_quaternion, turn, self._rest_quaternion)
        self._data.qvel[:] = 0.0
        self._motors.reset()
        # The solver starts from the last accelerations; those of another pose are wrong here.
        self._data.qacc_warmstart[:] = 0.0
        if self._terrain is not None:
            self._stand_on_bumps(x, y)
        samples = self._imu.start(self._base_quaternion)
        data = self._data
        self._keep(
            data.qpos[np.newaxis].copy(),
            data.qvel[np.newaxis].copy(),
            np.zeros((1, self._model.nu)),
            samples,
        )
        return self.state

    def set_wheel_velocities(self, left, right):
        """Command the wheels of each side [rad/s]; what exceeds their largest velocity is cut off.

        Raises
        ------
        SimulatorError
            A velocity is not finite.
        """
        if not (math.isfinite(left) and math.isfinite(right)):
            raise SimulatorError(f"The wheels cannot turn with {left} and {right} rad/s.")
        self._motors.command(left, right)

    def step(self) -> SimulatorState:
        """Advance by one sample period.

        Raises
        ------
        SimulatorError
            The physics became unstable.
        """
        return self.steps(1).sample(0)

    def steps(self, count: int) -> SimulatorState:
        """Advance by several sample periods, at least one; return all their samples.

        Raises
        ------
        SimulatorError
            The physics became unstable.
        """
        data, model = self._data, self._model
        positions = np.empty((count, model.nq))
        velocities = np.empty((count, model.nv))
        torques = np.empty((count, model.nu))
        control, wheels = self._motors.control, self._wheel_velocities
        for position, velocity, torque in zip(positions, velocities, torques):
            self._control[:] = control(wheels.tolist())
            if self._mean_torques:
                torque[:] = self._step_by_step()
            else:
                mujoco.mj_step(model, data, self._steps_per_sample)
                torque[:] = self._torques
            position[:] = self._position
            velocity[:] = self._velocity
        self._samples += count
        self._require_stable()
        samples = self._imu.samples(
            positions[:, BASE_QUATERNION],
            velocities[:, BASE_VELOCITY],
            velocities[:, BASE_ANGULAR_VELOCITY],
        )
        return self._keep(positions, velocities, torques, samples)

    def _step_by_step(self) -> np.ndarray:
        """Advance by a sample period; return the motors' mean torques in it."""
        total = np.zeros(self._model.nu)
        for _ in range(self._steps_per_sample):
            mujoco.mj_step(self._model, self._data)
            total += self._torques
        return total / self._steps_per_sample

    def _keep(self, positions, velocities, torques, samples) -> SimulatorState:
        """Put observed samples together; the last one is the state from now on."""
        count = len(positions)
        states = SimulatorState(
            np.arange(self._samples + 1 - count, self._samples + 1) / self._sample_rate,
            positions[:, BASE_POSITION],
            positions[:, BASE_QUATERNION][:, _XYZW],
            samples.velocity,
            velocities[:, BASE_ANGULAR_VELOCITY],
            positions[:, WHEEL_POSITIONS],
            velocities[:, WHEEL_VELOCITIES],
            samples.imu_quaternion[:, _XYZW],
            samples.imu_angular_velocity,
            samples.imu_specific_force,
            torques,
        )
        self._states = states
        self._state = None
        return states

    def _mount_imu(self):
        # With the base at the world's origin, world axes are the base's.
        self._base_position[:] = 0.0
        self._base_quaternion[:] = 1.0, 0.0, 0.0, 0.0
        mujoco.mj_kinematics(self._model, self._data)
        imu = self._data.body(IMU_FRAME)
        return IntegratingImu(imu.xpos, imu.xquat, self._sample_rate, self._gravity)

    def _stand_on_bumps(self, x, y):
        """Let the robot down onto the bumps below it, if there are any; no time passes."""
        if not self._terrain.has_bumps_near(x, y, self._footprint):
            return
        self._base_position[2] += self._terrain.height
        time = self._data.time
        self._data.ctrl[:] = 0.0
        self._wait_until_settled()
        self._data.time = time
        self._data.qvel[:] = 0.0
        self._data.qacc_warmstart[:] = 0.0

    def _wait_until_settled(self):
        steps = round(_SETTLING_TIME * self._sample_rate * self._steps_per_sample)
        mujoco.mj_step(self._model, self._data, steps)

    def _settle(self):
        """Return the place and the orientation of the base of a robot that stands at the origin."""
        # MuJoCo's contacts are compliant: the robot sinks in a little before it stands.
        mujoco.mj_resetData(self._model, self._data)
        self._wait_until_settled()
        if not np.all(np.abs(self._data.qvel) < _REST):
            raise SimulatorError(
                "The robot does not stand still on the ground with the given parameters."
            )
        position, quaternion = self._base_position.copy(), self._base_quaternion.copy()
        # What little it moved and turned while it sank does not belong to standing still.
        position[:2] = 0.0
        quaternion[3] = 0.0
        mujoco.mju_normalize4(quaternion)
        return position, quaternion

    def _require_stable(self):
        # MuJoCo answers instability with a warning, and by setting the robot back to the origin.
        if self._warnings.any():
            raise SimulatorError(
                f"The physics became unstable at {self._samples / self._sample_rate:g} s."
            )
