"""Simulation of the robot in MuJoCo, from commands to ground truth and ideal IMU signals."""

from __future__ import annotations

import math
from collections import deque
from typing import Any, NamedTuple, Sequence, cast

import numpy as np

from ..core.checks import check_number
from ..core.errors import ConfigurationError, SimulatorError, import_optional
from ..core.sentences import join_names
from ..core.tables import WHEELS
from ..core.topics import IMU_FRAME, ROBOT_FRAME
from ..core.units import WORLD_GRAVITY
from ..motion.drives import Terrain
from ..sensors.imu_models.base import ImuTruth
from ..sensors.magnetism.bodies import Bar, FerrousBody
from .robots.files import robot_description
from .robots.parameters import RobotParameters

mujoco = import_optional("mujoco", "the robot in MuJoCo")

GROUND = "ground"
# Indices of the base in MuJoCo's position and velocity vectors, followed by wheels and steering.
BASE_POSITION, BASE_QUATERNION = slice(0, 3), slice(3, 7)
BASE_VELOCITY, BASE_ANGULAR_VELOCITY, BASE_FREEDOM = slice(0, 3), slice(3, 6), 6

# With this contact stiffness the robot sinks into the ground by 2 um, at the same run time. With
# MuJoCo's default it sinks by 0.3 mm, which reduces the effective wheel radius by 0.17 %.
_CONTACT_TIME_CONSTANT = 0.005  # s
_CONTACT_IMPEDANCE = (0.99, 0.999, 0.001)

_STEERING_BANDWIDTH = 100.0  # rad/s; bandwidth of the position controller of a steering joint


def build_model(
    parameters: RobotParameters,
    physics_rate: float,
    terrain: Terrain | None = None,
    bodies: Sequence[FerrousBody] = (),
):
    """Return the MuJoCo model of a freely moving robot with velocity-controlled wheels.

    The degrees of freedom of the model are the free joint of base_footprint, followed by the driven
    wheels in the order of ``wheel_joints`` of :class:`.RobotParameters`, the steering joints and
    the rolling joints. The actuators drive the driven wheels, followed by the steering joints.

    Parameters
    ----------
    parameters : RobotParameters
        Parameters and description of the robot.
    physics_rate : float
        Physics steps per second [Hz].
    terrain : Terrain, optional
        Bumps on the ground, which is level by default.
    bodies : sequence of FerrousBody
        Magnetic bodies, shown as shapes without contacts.

    Returns
    -------
    mujoco.MjModel
        Compiled model.

    Raises
    ------
    ConfigurationError
        The description cannot be expanded, or the physics rate is too low for the motors.
    """
    try:
        spec = _specification(robot_description(parameters))
    except ValueError as error:
        raise _rejection(parameters, error) from None
    # The root link of a URDF is fixed to the world unless a free joint is added.
    _body(spec, ROBOT_FRAME).add_freejoint()
    _add_ground(spec, terrain)
    _add_bodies(spec, bodies)
    for joint in parameters.wheel_joints:
        gain = parameters.motors.velocity_gain
        _add_motor(spec, joint, parameters.motors.max_wheel_torque, gain, (0.0, 0.0, -gain))
    for joint in parameters.steering_joints:
        gain = parameters.steering_gain
        _add_motor(spec, joint, gain, gain, (0.0, -gain, -2.0 * gain / _STEERING_BANDWIDTH))
    try:
        model = spec.compile()
    except ValueError as error:
        raise _rejection(parameters, error) from None
    model.opt.timestep = 1.0 / physics_rate
    # With an implicit integrator, each change of a command would push the robot forward.
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    # Friction with an elliptic cone is isotropic; with a pyramidal cone it depends on the heading.
    model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    for joint in parameters.wheel_joints:
        model.dof_armature[_degree_of_freedom(model, joint)] = parameters.motors.motor_inertia
    for joint in parameters.steering_joints:
        # With this inertia the position controller is critically damped.
        inertia = parameters.steering_gain / _STEERING_BANDWIDTH**2
        model.dof_armature[_degree_of_freedom(model, joint)] = inertia
    _set_contacts(model, parameters)
    _require_stable_motors(model, parameters, physics_rate)
    return model


def _rejection(parameters, error) -> ConfigurationError:
    reason = " ".join(str(error).split())
    return ConfigurationError(f"{parameters.path}: MuJoCo rejects the robot: {reason}")


def _degree_of_freedom(model, joint) -> int:
    return int(model.joint(joint).dofadr[0])


def _specification(urdf):
    # With fusestatic, MuJoCo would merge the IMU link into its parent link.
    # Visual meshes are discarded, because MuJoCo does not support all mesh formats.
    settings = (
        '<mujoco><compiler fusestatic="false" discardvisual="true" inertiafromgeom="false"/>'
        "</mujoco>"
    )
    urdf = urdf.replace("</robot>", settings + "</robot>")
    if not hasattr(mujoco.MjSpec, "body"):
        # In MuJoCo 3.2, the last version for Python 3.8, from_string is an instance method.
        spec = mujoco.MjSpec()
        spec.from_string(urdf)
        return spec
    return mujoco.MjSpec.from_string(urdf)


def _body(spec, name):
    return spec.body(name) if hasattr(spec, "body") else spec.find_body(name)


def _add_ground(spec, terrain):
    ground = spec.worldbody.add_geom()
    ground.name = GROUND
    ground.type = mujoco.mjtGeom.mjGEOM_PLANE
    ground.size = [0.0, 0.0, 1.0]  # a size of zero means an unbounded plane
    if terrain is None:
        return
    for index, middle in enumerate(terrain.spheres()):
        bump = spec.worldbody.add_geom()
        bump.name = f"{GROUND}_bump_{index}"
        bump.type = mujoco.mjtGeom.mjGEOM_SPHERE
        bump.size = [terrain.radius, 0.0, 0.0]
        bump.pos = middle


def _add_bodies(spec, bodies):
    for index, body in enumerate(bodies):
        # A site has a shape, but no contacts.
        site = spec.worldbody.add_site()
        site.name = f"iron_{index}"
        is_bar = isinstance(body, Bar)
        site.type = mujoco.mjtGeom.mjGEOM_BOX if is_bar else mujoco.mjtGeom.mjGEOM_ELLIPSOID
        site.size = [0.5 * side for side in body.size]
        site.pos = body.position
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, body.rotation.reshape(-1))
        site.quat = quaternion


def _add_motor(spec, joint, limit, gain, bias):
    """Add a motor with the limited torque gain * command + dot(bias, (1, position, velocity))."""
    actuator = spec.add_actuator()
    actuator.name = joint
    actuator.target = joint
    actuator.trntype = mujoco.mjtTrn.mjTRN_JOINT
    actuator.gaintype = mujoco.mjtGain.mjGAIN_FIXED
    actuator.gainprm[0] = gain
    actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE
    actuator.biasprm[:3] = bias
    actuator.forcelimited = True
    actuator.forcerange = [-limit, limit]


def _set_contacts(model, parameters):
    rolling = parameters.wheel_joints + parameters.rolling_joints
    wheels = {int(model.jnt_bodyid[model.joint(name).id]): name for name in rolling}
    for index in range(model.ngeom):
        name = model.geom(index).name
        model.geom_solref[index] = _CONTACT_TIME_CONSTANT, 1.0
        model.geom_solimp[index, :3] = _CONTACT_IMPEDANCE
        is_robot = not name.startswith(GROUND)
        # The robot collides only with the ground, as its shapes may overlap at a steered wheel.
        model.geom_contype[index], model.geom_conaffinity[index] = is_robot, not is_robot
        # Without a priority, MuJoCo uses the larger friction of the two geoms in contact.
        model.geom_priority[index] = is_robot
        wheel = wheels.get(int(model.geom_bodyid[index]))
        if wheel is not None:
            model.geom_friction[index, 0] = parameters.friction(wheel)
        elif "caster" in name or (parameters.description and is_robot):
            model.geom_friction[index, 0] = parameters.contact.caster_friction
            # Contacts of dimension 1 have no friction and require less computation.
            model.geom_condim[index] = 3 if parameters.contact.caster_friction > 0.0 else 1


def _require_stable_motors(model, parameters, physics_rate):
    # Explicit integration oscillates if the torque, gain * error, overcorrects within a step.
    # The smallest inertia is that of a wheel without ground contact.
    mujoco.mj_setConst(model, mujoco.MjData(model))
    wheels = [_degree_of_freedom(model, joint) for joint in parameters.wheel_joints]
    inertia = float(min(model.dof_M0[wheels]))
    gain = parameters.motors.velocity_gain
    min_rate = gain / inertia
    if physics_rate < min_rate:
        raise ConfigurationError(
            f"{parameters.path}: the physics rate is {physics_rate} Hz, expected at least "
            f"{min_rate:.0f} Hz for drive.velocity_gain {gain} and the inertia of these wheels"
        )


class Motors:
    """Motor controllers, which are updated once per sample period.

    All driven wheels on a side receive the same command. In each physics step, MuJoCo's actuators
    apply a torque proportional to the velocity error. Proportional control alone has a steady-state
    error, for example a yaw rate that is 1 % too low at 1.2 m/s and 0.8 rad/s; an integral removes
    it. The steering rate is limited. Commands take effect after the command delay of the robot,
    rounded to sample periods.

    Parameters
    ----------
    parameters : RobotParameters
        Parameters and description of the robot.
    period : float
        Sample period [s].
    """

    def __init__(self, parameters: RobotParameters, period: float):
        self._drivetrain = drivetrain = parameters.drivetrain
        # The integral is added to the commanded velocity; its limit prevents windup.
        factor = parameters.motors.velocity_integral_gain * period / parameters.motors.velocity_gain
        # A factor above one half would cause oscillations at low sample rates.
        self._factor = min(factor, 0.5)
        self._limit = parameters.motors.max_wheel_torque / parameters.motors.velocity_gain
        self._per_side = len(parameters.wheel_joints) // len(WHEELS)
        self._delay = round(parameters.motors.command_delay / period)
        self._max_angle = getattr(drivetrain, "max_steering_angle", 0.0)
        self._max_turn = getattr(drivetrain, "max_steering_rate", 0.0) * period
        self.reset()

    def reset(self):
        """Set commands and steering angles to zero, and discard integrals and delayed commands."""
        steering = len(self._drivetrain.commands) - len(WHEELS)
        self._commanded = [0.0] * len(WHEELS) * self._per_side, [0.0] * steering
        self._integrals = [0.0] * len(WHEELS) * self._per_side
        self._angles = [0.0] * steering
        self._delayed_commands = deque([self._commanded] * self._delay)

    def command(self, *commands):
        """Set the commands, limited to the maximum wheel velocity and steering angle.

        Parameters
        ----------
        *commands : float
            Commands as in :attr:`.Drivetrain.commands`.
        """
        limit, max_angle = self._drivetrain.limits.max_wheel_velocity, self._max_angle
        sides = (min(max(side, -limit), limit) for side in commands[: len(WHEELS)])
        wheels = [velocity for velocity in sides for _ in range(self._per_side)]
        angles = [min(max(angle, -max_angle), max_angle) for angle in commands[len(WHEELS) :]]
        self._commanded = wheels, angles

    def control(self, velocities):
        """Return the set points for MuJoCo's actuators.

        Parameters
        ----------
        velocities : sequence of float
            Velocities of the driven wheels [rad/s].

        Returns
        -------
        list of float
            Velocities of the driven wheels [rad/s], then angles of the steering joints [rad].
        """
        integrals, factor, limit = self._integrals, self._factor, self._limit
        set_points = []
        self._delayed_commands.append(self._commanded)
        wheels, steering = self._delayed_commands.popleft()
        for wheel, commanded in enumerate(wheels):
            integral = integrals[wheel] + factor * (commanded - velocities[wheel])
            integrals[wheel] = integral = min(max(integral, -limit), limit)
            set_points.append(commanded + integral)
        if steering:
            turn, angles = self._max_turn, self._angles
            steps = (min(max(goal - angle, -turn), turn) for goal, angle in zip(steering, angles))
            self._angles = [angle + step for angle, step in zip(angles, steps)]
            set_points += self._angles
        return set_points


class IntegratingImu:
    """Ideal IMU that integrates the motion of the base over each sample period.

    The angular velocity is the rotation since the last sample, divided by the period. The specific
    force is the mean acceleration of the IMU over the period minus gravity. In the axes of the base
    it is ``f = dv/dt + omega x v + g up`` (Groves: Principles of GNSS, Inertial, and Multisensor
    Integrated Navigation Systems, section 5.3), averaged with the trapezoidal rule.

    The results are identical to the last bit, regardless of how many samples a call computes.

    Parameters
    ----------
    position : sequence of 3 float
        Position of the IMU in the base [m].
    quaternion : sequence of 4 float
        Orientation (w, x, y, z) of the IMU in the base.
    rate : float
        Samples per second [Hz].
    gravity : float
        Gravity [m/s^2].
    """

    def __init__(self, position, quaternion, rate, gravity):
        self.position = np.array(position, dtype=float)
        self.quaternion = np.array(quaternion, dtype=float)
        self._rate = rate
        self._gravity = gravity
        self._base_to_imu = _inverse(self.quaternion.tolist())
        self._orientation = np.array([0.0, 0.0, 0.0, 1.0])
        self._motion = np.zeros(9)

    def start(self, orientation):
        """Restart from a stationary base.

        Parameters
        ----------
        orientation : ndarray, shape (4,)
            Orientation (x, y, z, w) of the base.
        """
        self._orientation = np.array(orientation, dtype=float)
        zero = np.zeros((1, 3))
        (self._motion,) = self._motions(self._orientation[np.newaxis], zero, zero)

    def measure(self, orientations, velocities, angular_velocities) -> ImuTruth:
        """Return the signals of the IMU at consecutive samples.

        Parameters
        ----------
        orientations : ndarray, shape (n, 4)
            Orientation (x, y, z, w) of the base in the world at the ends of the periods.
        velocities : ndarray, shape (n, 3)
            Velocity of the base origin in the axes of the base [m/s].
        angular_velocities : ndarray, shape (n, 3)
            Angular velocity of the base in base axes [rad/s].

        Returns
        -------
        ImuTruth
            Orientation of the IMU in the world, and means over the sample periods of the angular
            velocity and specific force in the axes of the IMU.
        """
        motions = self._motions(orientations, velocities, angular_velocities)
        before = np.concatenate([self._motion[np.newaxis], motions[:-1]])
        earlier = np.concatenate([self._orientation[np.newaxis], orientations[:-1]])
        self._motion, self._orientation = motions[-1], np.array(orientations[-1])
        vx, vy, vz, cx, cy, cz, ux, uy, uz = motions.T
        vx0, vy0, vz0, cx0, cy0, cz0, ux0, uy0, uz0 = before.T
        rate, half_gravity = self._rate, 0.5 * self._gravity
        force = (
            rate * (vx - vx0) + 0.5 * (cx + cx0) + half_gravity * (ux + ux0),
            rate * (vy - vy0) + 0.5 * (cy + cy0) + half_gravity * (uy + uy0),
            rate * (vz - vz0) + 0.5 * (cz + cz0) + half_gravity * (uz + uz0),
        )
        quaternions = _scalar_first(orientations)
        rotation = _product(_inverse(_scalar_first(earlier)), quaternions)
        rotation_rates = tuple(rate * angle for angle in _rotation_vectors(rotation))
        rates = np.column_stack(_rotate(self._base_to_imu, rotation_rates))
        forces = np.column_stack(_rotate(self._base_to_imu, force))
        w, x, y, z = _product(quaternions, self.quaternion.tolist())
        return ImuTruth(np.column_stack([x, y, z, w]), rates, forces)

    def _motions(self, orientations, velocities, angular_velocities) -> np.ndarray:
        """Return the IMU velocity v, omega x v and the up vector in base axes, shape (n, 9)."""
        rx, ry, rz = self.position.tolist()
        (vx, vy, vz), (wx, wy, wz) = velocities.T, angular_velocities.T
        vx = vx + (wy * rz - wz * ry)
        vy = vy + (wz * rx - wx * rz)
        vz = vz + (wx * ry - wy * rx)
        turning = (wy * vz - wz * vy, wz * vx - wx * vz, wx * vy - wy * vx)
        up = _rotate(_inverse(_scalar_first(orientations)), _UP)
        return np.column_stack([vx, vy, vz, *turning, *up])


def _scalar_first(orientations):
    """Split quaternions (x, y, z, w), shape (n, 4), into the components w, x, y, z."""
    x, y, z, w = orientations.T
    return w, x, y, z


def _inverse(quaternion):
    w, x, y, z = quaternion
    return w, -x, -y, -z


def _product(first, second):
    (w, x, y, z), (w2, x2, y2, z2) = first, second
    return (
        w * w2 - x * x2 - y * y2 - z * z2,
        w * x2 + x * w2 + y * z2 - z * y2,
        w * y2 - x * z2 + y * w2 + z * x2,
        w * z2 + x * y2 - y * x2 + z * w2,
    )


def _rotate(quaternion, vector):
    (w, x, y, z), (vx, vy, vz) = quaternion, vector
    tx = w * vx + y * vz - z * vy
    ty = w * vy + z * vx - x * vz
    tz = w * vz + x * vy - y * vx
    return (
        vx + 2.0 * (y * tz - z * ty),
        vy + 2.0 * (z * tx - x * tz),
        vz + 2.0 * (x * ty - y * tx),
    )


def _rotation_vectors(quaternions):
    """Convert quaternion components to the components of rotation vectors [rad]."""
    w, x, y, z = quaternions
    sine = np.sqrt(x * x + y * y + z * z)
    # math.atan2 is used, because NumPy's arctan2 may differ in the last bit between processors.
    angle = 2.0 * np.array(list(map(math.atan2, sine.tolist(), w.tolist())))
    angle = np.where(angle > math.pi, angle - 2.0 * math.pi, angle)
    is_turned = sine >= _MIN_SINE
    scale = 1.0 / np.where(is_turned, sine, 1.0)
    return (
        np.where(is_turned, angle * (scale * x), angle),
        np.where(is_turned, angle * (scale * y), 0.0),
        np.where(is_turned, angle * (scale * z), 0.0),
    )


_UP = 0.0, 0.0, 1.0
_MIN_SINE = 1e-15  # sine of half the rotation angle, below which the rotation axis is undefined

_SETTLING_TIME = 2.0  # s; contact oscillations decay within some tenths of a second
_MAX_STANDSTILL_VELOCITY = 1e-6  # m/s and rad/s; upper limit for a robot that has settled
_MAX_TILT = math.radians(3.0)
_XYZW = [1, 2, 3, 0]  # MuJoCo's quaternions have the order w, x, y, z


class SimulatorState(NamedTuple):
    """State of the robot at one or several sample times, along the first axis of all arrays.

    The arrays are copies, so that callers may store them.

    Attributes
    ----------
    time : float or ndarray
        Simulated time [s].
    position, orientation : ndarray, shapes (3,) and (4,)
        Position [m] and quaternion (x, y, z, w) of base_footprint in the world.
    linear_velocity, angular_velocity : ndarray, shape (3,)
        Velocity [m/s] and angular velocity [rad/s] of base_footprint in base axes.
    wheel_positions, wheel_velocities : ndarray, shape (w,)
        Angles [rad] and velocities [rad/s] of the ``joints`` of :class:`.RobotParameters`,
        including the steering joints.
    wheel_torques : ndarray, shape (d,)
        Motor torques of the d driven wheels in the last physics step, or their means over the
        sample period [N m].
    """

    time: Any  # float, or ndarray for several samples
    position: np.ndarray
    orientation: np.ndarray
    linear_velocity: np.ndarray
    angular_velocity: np.ndarray
    wheel_positions: np.ndarray
    wheel_velocities: np.ndarray
    wheel_torques: np.ndarray

    def sample(self, number: int) -> SimulatorState:
        """Return the state at a single sample time.

        Parameters
        ----------
        number : int
            Index of the sample.

        Returns
        -------
        SimulatorState
            State at that time.
        """
        return SimulatorState(*(values[number] for values in cast(Any, self)))


class MujocoSimulator:
    """Simulation of the robot on the ground in steps of one sample period.

    The IMU signals are the changes in orientation and velocity over a sample period, divided by the
    period, as an IMU with internal integration and Gazebo's plug-ins output them. In contrast to
    MuJoCo's built-in sensors, they do not lag the pose by a physics step, they do not alias contact
    oscillations, and the integrated rotations match the orientation. Since the motion does not
    depend on the IMU, :meth:`measure` computes the signals separately for many samples at once.

    With the same version of MuJoCo, the same commands result in bit-identical states.

    Parameters
    ----------
    parameters : RobotParameters
        Parameters and description of the robot.
    physics_rate : float
        Physics steps per second [Hz], a multiple of the sample rate.
    sample_rate : float
        Samples per second [Hz].
    terrain : Terrain, optional
        Bumps on the ground, which is level by default.
    bodies : sequence of FerrousBody
        Magnetic bodies, shown as shapes without contacts.
    gravity : float
        Gravity [m/s^2].
    mean_torques : bool
        Whether to average the motor torques over the sample period, which takes more time.

    Raises
    ------
    ConfigurationError
        The physics rate is not a multiple of the sample rate, or the robot's description cannot be
        expanded.
    SimulatorError
        The robot does not come to rest on level ground, or tips over.
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
                f"the physics rate is {physics_rate} Hz, expected a multiple of the sample rate, "
                f"{sample_rate} Hz"
            )
        self._terrain = terrain
        self._footprint = parameters.footprint_radius
        self._mean_torques = mean_torques
        self._sample_rate = sample_rate
        self._steps_per_sample = int(physics_rate // sample_rate)
        self._model = build_model(parameters, physics_rate, terrain, bodies)
        self._model.opt.gravity[:] = (0.0, 0.0, -check_number("gravity", gravity, above=0.0))
        self._data = mujoco.MjData(self._model)
        self.gravity = gravity
        # Views of MuJoCo's memory are stored, as creating a view takes as long as copying its data.
        self._position = self._data.qpos
        self._velocity = self._data.qvel
        self._control = self._data.ctrl
        self._torques = self._data.actuator_force
        self._base_position = self._data.qpos[BASE_POSITION]
        self._base_quaternion = self._data.qpos[BASE_QUATERNION]
        driven = len(parameters.wheel_joints)
        self._wheel_velocities = self._data.qvel[BASE_FREEDOM : BASE_FREEDOM + driven]
        freedoms = [_degree_of_freedom(self._model, name) for name in parameters.joints]
        self._joint_velocities = np.array(freedoms)
        # The orientation of the free joint has four components, its angular velocity only three.
        self._joint_positions = self._joint_velocities + 1
        self._steering = self._joint_positions[driven : self._model.nu]
        self._warnings = self._data.warning.number
        self.sample_period = 1.0 / sample_rate
        self._motors = Motors(parameters, self.sample_period)
        # In this pose, the axes of the base coincide with the axes of the world.
        self._base_position[:] = 0.0
        self._base_quaternion[:] = 1.0, 0.0, 0.0, 0.0
        mujoco.mj_kinematics(self._model, self._data)
        imu = self._data.body(IMU_FRAME)
        self._imu = IntegratingImu(imu.xpos, imu.xquat, sample_rate, gravity)
        self._settled_position, self._settled_quaternion = self._settle(parameters)
        self.reset()

    @property
    def state(self) -> SimulatorState:
        """State after the last step or pose change."""
        return self._states.sample(-1)

    @property
    def imu_mounting(self) -> tuple[np.ndarray, np.ndarray]:
        """Position [m] and quaternion (x, y, z, w) of the IMU in the base frame."""
        return self._imu.position, self._imu.quaternion[_XYZW]

    def reset(self, x=0.0, y=0.0, yaw=0.0) -> SimulatorState:
        """Reset the time to zero, and place the stationary robot at a pose.

        Parameters
        ----------
        x, y : float, optional
            Position [m].
        yaw : float, optional
            Yaw [rad].

        Returns
        -------
        SimulatorState
            State of the robot.
        """
        mujoco.mj_resetData(self._model, self._data)
        self._samples = 0
        return self.set_pose(x, y, yaw)

    def set_pose(self, x, y, yaw) -> SimulatorState:
        """Place the stationary robot on the ground at a pose.

        The simulated time and the wheel angles do not change, commands and steering angles are
        reset to zero, and the IMU does not measure the jump.

        Parameters
        ----------
        x, y : float
            Position [m].
        yaw : float
            Yaw [rad].

        Returns
        -------
        SimulatorState
            State of the robot.

        Raises
        ------
        SimulatorError
            The pose is not finite.
        """
        if not all(map(math.isfinite, (x, y, yaw))):
            raise SimulatorError(
                f"the robot's pose is x = {x}, y = {y}, yaw = {yaw}, expected finite numbers"
            )
        turn = np.empty(4)
        mujoco.mju_axisAngle2Quat(turn, np.array([0.0, 0.0, 1.0]), yaw)
        mujoco.mju_rotVecQuat(self._base_position, self._settled_position, turn)
        self._base_position[:2] += x, y
        mujoco.mju_mulQuat(self._base_quaternion, turn, self._settled_quaternion)
        self._data.qvel[:] = 0.0
        self._position[self._steering] = 0.0
        self._motors.reset()
        # The solver would start from the last accelerations, which belong to the previous pose.
        self._data.qacc_warmstart[:] = 0.0
        self._stand_on_bumps(x, y)
        position, velocity = (part[np.newaxis].copy() for part in (self._position, self._velocity))
        self._store(position, velocity, np.zeros((1, self._model.nu)))
        self._imu.start(self._states.orientation[-1])
        return self.state

    def command(self, *commands):
        """Set the commands, limited to the maximum wheel velocity and steering angle.

        Parameters
        ----------
        *commands : float
            Commands as in :attr:`.Drivetrain.commands`.

        Raises
        ------
        SimulatorError
            A command is not finite.
        """
        if not all(map(math.isfinite, commands)):
            raise SimulatorError(
                f"wheel commands are {join_names(commands)}, expected finite numbers"
            )
        self._motors.command(*commands)

    def step(self) -> SimulatorState:
        """Advance by one sample period, see :meth:`steps`.

        Returns
        -------
        SimulatorState
            State after the step.
        """
        return self.steps(1).sample(0)

    def steps(self, count: int) -> SimulatorState:
        """Advance by one or more sample periods.

        Parameters
        ----------
        count : int
            Number of sample periods, at least one.

        Returns
        -------
        SimulatorState
            States at all sample times.

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
                torque[:] = 0.0
                for _ in range(self._steps_per_sample):
                    mujoco.mj_step(model, data)
                    torque += self._torques
                torque /= self._steps_per_sample
            else:
                mujoco.mj_step(model, data, self._steps_per_sample)
                torque[:] = self._torques
            position[:] = self._position
            velocity[:] = self._velocity
        self._samples += count
        # After an instability MuJoCo increments a warning counter and resets the robot.
        if np.count_nonzero(self._warnings):
            time = self._samples / self._sample_rate
            raise SimulatorError(f"the physics became unstable at {time:g} s")
        return self._store(positions, velocities, torques)

    def measure(self, states: SimulatorState) -> ImuTruth:
        """Return the ideal IMU signals for consecutive states.

        Parameters
        ----------
        states : SimulatorState
            States of several samples that directly follow the last call or the last pose change.

        Returns
        -------
        ImuTruth
            IMU signals at these samples.
        """
        return self._imu.measure(
            states.orientation, states.linear_velocity, states.angular_velocity
        )

    def _store(self, positions, velocities, torques) -> SimulatorState:
        """Store samples as the current states, and return them."""
        # Plain floats are faster than arrays for rotating a few vectors.
        rows = zip(positions[:, BASE_QUATERNION].tolist(), velocities[:, BASE_VELOCITY].tolist())
        velocity = np.array([_rotate(_inverse(quaternion), vector) for quaternion, vector in rows])
        self._states = SimulatorState(
            np.arange(self._samples + 1 - len(positions), self._samples + 1) / self._sample_rate,
            positions[:, BASE_POSITION],
            positions[:, BASE_QUATERNION].take(_XYZW, axis=1),
            velocity,
            velocities[:, BASE_ANGULAR_VELOCITY],
            positions.take(self._joint_positions, axis=1),
            velocities.take(self._joint_velocities, axis=1),
            torques[:, : len(self._wheel_velocities)],
        )
        return self._states

    def _stand_on_bumps(self, x, y):
        """Lower the robot onto the bumps below it, if any, without advancing the time."""
        terrain = self._terrain
        if terrain is None or not terrain.has_bumps_near(x, y, self._footprint):
            return
        self._base_position[2] += terrain.height
        time = self._data.time
        self._data.ctrl[:] = 0.0
        self._wait_until_settled()
        self._data.time = time
        self._data.qvel[:] = 0.0
        self._data.qacc_warmstart[:] = 0.0

    def _wait_until_settled(self):
        steps = round(_SETTLING_TIME * self._sample_rate * self._steps_per_sample)
        mujoco.mj_step(self._model, self._data, steps)

    def _settle(self, parameters):
        """Return the base position and quaternion of a stationary robot at the origin."""
        # The robot sinks into MuJoCo's compliant contacts before it comes to rest.
        mujoco.mj_resetData(self._model, self._data)
        self._wait_until_settled()
        if not np.all(np.abs(self._data.qvel) < _MAX_STANDSTILL_VELOCITY):
            raise SimulatorError(
                f"{parameters.path}: the robot does not come to rest on level ground"
            )
        position, quaternion = self._base_position.copy(), self._base_quaternion.copy()
        tilt = 2.0 * math.hypot(quaternion[1], quaternion[2])
        if tilt > _MAX_TILT:
            raise SimulatorError(
                f"{parameters.path}: the robot is tilted by {math.degrees(tilt):.0f} deg on level "
                "ground: the lowest points of its wheels and casters are not at the same height, "
                "or it tips over"
            )
        # The small horizontal motion while the robot sinks in is not part of the pose.
        position[:2] = 0.0
        quaternion[3] = 0.0
        mujoco.mju_normalize4(quaternion)
        return position, quaternion
