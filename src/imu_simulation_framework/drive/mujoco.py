"""The robot in MuJoCo: commands of its drivetrain in, true motion and ideal IMU out."""

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
# Where the base's degrees of freedom are in MuJoCo's vectors of positions and velocities; then come
# the driven wheels', and those of what steers with the wheels on it.
BASE_POSITION, BASE_QUATERNION = slice(0, 3), slice(3, 7)
BASE_VELOCITY, BASE_ANGULAR_VELOCITY, BASE_FREEDOM = slice(0, 3), slice(3, 6), 6

# Contacts this stiff let the robot sink in by 2 um instead of MuJoCo's default 0.3 mm, which would
# make the wheels' effective radius, and with it every distance, 0.17 % too small, and slide
# sideways in curves by a quarter. They cost no time: the solver needs one iteration either way.
_CONTACT_TIME_CONSTANT = 0.005  # s
_CONTACT_IMPEDANCE = (0.99, 0.999, 0.001)

_STEERING_BANDWIDTH = 100.0  # rad/s, of what holds a steering joint at its angle


def build_model(
    parameters: RobotParameters,
    physics_rate: float,
    terrain: Terrain | None = None,
    bodies: Sequence[FerrousBody] = (),
):
    """Return the MjModel of the robot, free on level ground, its wheels velocity-controlled.

    The model's degrees of freedom are the free joint of base_footprint, then the driven wheels in
    the order of ``wheel_joints`` of :class:`.RobotParameters`, then what steers and rolls; its
    actuators are those of the driven wheels, then of the steering joints. Raises
    ConfigurationError: the description cannot be expanded, or the physics rate is too low for the
    motors.

    ``physics_rate``: physics steps per second [Hz]; ``terrain``: bumps on the ground; it is level
    without; ``bodies``: shapes in the world that nothing touches.
    """
    try:
        spec = _specification(robot_description(parameters))
    except ValueError as error:
        raise _refused(parameters, error) from None
    # A URDF's root link is fixed to the world unless it gets a joint.
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
        raise _refused(parameters, error) from None
    model.opt.timestep = 1.0 / physics_rate
    # Not an implicit integrator: those solve the contacts without regard to the motors' damping
    # and apply it afterwards, so that every change of the command kicks the robot forward.
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    # Friction that is equal in all directions; the pyramidal cone depends on the heading.
    model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    for joint in parameters.wheel_joints:
        model.dof_armature[_degree_of_freedom(model, joint)] = parameters.motors.motor_inertia
    for joint in parameters.steering_joints:
        # What a critically damped motor of this bandwidth drives.
        inertia = parameters.steering_gain / _STEERING_BANDWIDTH**2
        model.dof_armature[_degree_of_freedom(model, joint)] = inertia
    _set_contacts(model, parameters)
    _require_stable_motors(model, parameters, physics_rate)
    return model


def _refused(parameters, error) -> ConfigurationError:
    reason = " ".join(str(error).split())
    return ConfigurationError(f"{parameters.path}: MuJoCo refuses the robot: {reason}")


def _degree_of_freedom(model, joint) -> int:
    return int(model.joint(joint).dofadr[0])


def _specification(urdf):
    # Without fusestatic="false" the IMU's link would vanish into its parent. What is only seen may
    # be in formats that MuJoCo does not read.
    settings = (
        '<mujoco><compiler fusestatic="false" discardvisual="true" inertiafromgeom="false"/>'
        "</mujoco>"
    )
    urdf = urdf.replace("</robot>", settings + "</robot>")
    if not hasattr(mujoco.MjSpec, "body"):
        # MuJoCo 3.2, the last one for Python 3.8: from_string is no constructor yet.
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
    ground.size = [0.0, 0.0, 1.0]  # zero: without end
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
        # A site has a shape and touches nothing.
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
    """Add a motor: torque = gain * command + bias * (1, position, velocity), within the limit."""
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
        # The robot touches the ground, and not itself, which a simple shape may at a steered wheel.
        model.geom_contype[index], model.geom_conaffinity[index] = is_robot, not is_robot
        # A contact takes the larger friction of its two partners unless one has priority.
        model.geom_priority[index] = is_robot
        wheel = wheels.get(int(model.geom_bodyid[index]))
        if wheel is not None:
            model.geom_friction[index, 0] = parameters.friction(wheel)
        elif "caster" in name or (parameters.description and is_robot):
            model.geom_friction[index, 0] = parameters.contact.caster_friction
            # Three values have friction, one has none and is cheaper.
            model.geom_condim[index] = 3 if parameters.contact.caster_friction > 0.0 else 1


def _require_stable_motors(model, parameters, physics_rate):
    # Explicit integration of torque = gain * error oscillates when a step's torque changes the
    # velocity by more than the error; least inertia has a wheel in the air.
    mujoco.mj_setConst(model, mujoco.MjData(model))
    wheels = [_degree_of_freedom(model, joint) for joint in parameters.wheel_joints]
    inertia = float(min(model.dof_M0[wheels]))
    gain = parameters.motors.velocity_gain
    lowest = gain / inertia
    if physics_rate < lowest:
        raise ConfigurationError(
            f"{parameters.path}: drive.velocity_gain {gain} needs a physics rate of at least "
            f"{lowest:.0f} Hz with wheels of this inertia, but it is {physics_rate} Hz."
        )


class Motors:
    """Controllers of the motors, once per sample.

    The driven wheels of a side are commanded alike. MuJoCo's actuators act in each physics step, in
    proportion to the error. In a curve the wheels drive against the robot's inertia, and by that
    alone it would turn 1 % too slowly at 1.2 m/s and 0.8 rad/s; an integral takes the standing
    error away. What steers is led to its angle at its rate. A command acts after the robot's delay,
    rounded to sample periods.

    ``period``: sample period [s].
    """

    def __init__(self, parameters: RobotParameters, period: float):
        self._drivetrain = drivetrain = parameters.drivetrain
        # The integral acts as an addition to the commanded velocity, worth no more than what
        # the motor can give, so that it does not wind up while a wheel is held.
        factor = parameters.motors.velocity_integral_gain * period / parameters.motors.velocity_gain
        # Taking more than half of the error per sample would make slow samplings oscillate.
        self._factor = min(factor, 0.5)
        self._limit = parameters.motors.max_wheel_torque / parameters.motors.velocity_gain
        self._per_side = len(parameters.wheel_joints) // len(WHEELS)
        self._delay = round(parameters.motors.command_delay / period)
        self._angle = getattr(drivetrain, "max_steering_angle", 0.0)
        self._turn = getattr(drivetrain, "max_steering_rate", 0.0) * period
        self.reset()

    def reset(self):
        """Command standstill, straight ahead, and forget."""
        steering = len(self._drivetrain.commands) - len(WHEELS)
        self._commanded = [0.0] * len(WHEELS) * self._per_side, [0.0] * steering
        self._integrals = [0.0] * len(WHEELS) * self._per_side
        self._angles = [0.0] * steering
        self._on_the_way = deque([self._commanded] * self._delay)

    def command(self, *commands):
        """Set what is wanted, see :attr:`.Drivetrain.commands`; beyond the limits it is cut off."""
        limit, most = self._drivetrain.limits.max_wheel_velocity, self._angle
        sides = (min(max(side, -limit), limit) for side in commands[: len(WHEELS)])
        wheels = [wanted for wanted in sides for _ in range(self._per_side)]
        angles = [min(max(angle, -most), most) for angle in commands[len(WHEELS) :]]
        self._commanded = wheels, angles

    def control(self, velocities):
        """Return what MuJoCo's actuators are to hold, given the driven wheels' velocities [rad/s].

        These are velocities [rad/s], then angles of what steers [rad].
        """
        integrals, factor, limit = self._integrals, self._factor, self._limit
        held = []
        self._on_the_way.append(self._commanded)
        wheels, steering = self._on_the_way.popleft()
        for wheel, wanted in enumerate(wheels):
            integral = integrals[wheel] + factor * (wanted - velocities[wheel])
            integrals[wheel] = integral = min(max(integral, -limit), limit)
            held.append(wanted + integral)
        if steering:
            turn, angles = self._turn, self._angles
            steps = (min(max(w - angle, -turn), turn) for w, angle in zip(steering, angles))
            self._angles = [angle + step for angle, step in zip(angles, steps)]
            held += self._angles
        return held


class IntegratingImu:
    """From the base's motion at the sample times to angular velocity and specific force.

    The angular velocity is the rotation since the last sample over the period. The specific force
    is the change of the IMU's velocity over the period, less gravity; in the base's axes
    ``f = dv/dt + omega x v + g up`` (Groves: Principles of GNSS, Inertial, and Multisensor
    Integrated Navigation Systems, section 5.3), its mean taken by the trapezoidal rule.

    Quaternions are in MuJoCo's order w, x, y, z. What was observed at the ends of n sample periods
    are the velocity of the base's origin in the base's axes [m/s], the orientation of the IMU in
    the world (n, 4), and in the IMU's axes its angular velocity [rad/s] and the specific force
    [m/s^2], (n, 3) each. All is computed with plain numbers, to the bits of MuJoCo's functions:
    to call one of these for three numbers takes longer.

    ``position`` (sequence of 3 float): of the IMU in the base [m]; ``quaternion`` (sequence of 4
    float): orientation of the IMU in the base; ``rate``: samples per second [Hz]; ``gravity``
    [m/s^2].
    """

    def __init__(self, position, quaternion, rate, gravity):
        self.position = np.array(position, dtype=float)
        self.quaternion = np.array(quaternion, dtype=float)
        self._rate = rate
        self._gravity = gravity
        self._mounting: list[float] = self.quaternion.tolist()
        self._base_to_imu = _inverse(self._mounting)
        self._quaternion: Sequence[float] = ()
        self._motion: tuple[float, ...] = ()

    def start(self, quaternion) -> tuple[np.ndarray, ...]:
        """Begin anew with a base at rest; return what is observed of one sample at rest."""
        self._quaternion = quaternion.tolist()
        rest = [(0.0, 0.0, 0.0)]
        velocities, orientations, (self._motion,) = self._observe([self._quaternion], rest, rest)
        up = (self._gravity * part for part in self._motion[6:])
        force = [_rotated(self._base_to_imu, up)]
        return tuple(map(np.array, (velocities, orientations, rest, force)))

    def samples(self, quaternions, velocities, angular_velocities) -> tuple[np.ndarray, ...]:
        """Take the base's motion at the ends of consecutive periods; return what is observed.

        ``quaternions`` (ndarray (n, 4)): orientation of the base in the world; ``velocities``
        (ndarray (n, 3)): of the base's origin in the world's axes [m/s]; ``angular_velocities``
        (ndarray (n, 3)): in the base's axes [rad/s].
        """
        quaternions = quaternions.tolist()
        velocities, orientations, motions = self._observe(
            quaternions, velocities.tolist(), angular_velocities.tolist()
        )
        rate, half_gravity, base_to_imu = self._rate, 0.5 * self._gravity, self._base_to_imu
        rates, forces = [], []
        for motion, quaternion in zip(motions, quaternions):
            vx, vy, vz, cx, cy, cz, ux, uy, uz = motion
            vx0, vy0, vz0, cx0, cy0, cz0, ux0, uy0, uz0 = self._motion
            self._motion = motion
            force = (
                rate * (vx - vx0) + 0.5 * (cx + cx0) + half_gravity * (ux + ux0),
                rate * (vy - vy0) + 0.5 * (cy + cy0) + half_gravity * (uy + uy0),
                rate * (vz - vz0) + 0.5 * (cz + cz0) + half_gravity * (uz + uz0),
            )
            x, y, z = _rotation_vector(_product(_inverse(self._quaternion), quaternion))
            self._quaternion = quaternion
            rates.append(_rotated(base_to_imu, (rate * x, rate * y, rate * z)))
            forces.append(_rotated(base_to_imu, force))
        return tuple(map(np.array, (velocities, orientations, rates, forces)))

    def _observe(self, quaternions, velocities, angular_velocities):
        # In the base's axes: velocity v of the IMU, omega x v, and the vertical.
        rx, ry, rz = self.position.tolist()
        in_base, orientations, motions = [], [], []
        rows = zip(quaternions, velocities, angular_velocities)
        for quaternion, velocity, (wx, wy, wz) in rows:
            world_to_base = _inverse(quaternion)
            vx, vy, vz = of_origin = _rotated(world_to_base, velocity)
            in_base.append(of_origin)
            orientations.append(_product(quaternion, self._mounting))
            vx += wy * rz - wz * ry
            vy += wz * rx - wx * rz
            vz += wx * ry - wy * rx
            turning = (wy * vz - wz * vy, wz * vx - wx * vz, wx * vy - wy * vx)
            motions.append((vx, vy, vz, *turning, *_rotated(world_to_base, _UP)))
        return in_base, orientations, motions


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


def _rotated(quaternion, vector):
    (w, x, y, z), (vx, vy, vz) = quaternion, vector
    tx = w * vx + y * vz - z * vy
    ty = w * vy + z * vx - x * vz
    tz = w * vz + x * vy - y * vx
    return (
        vx + 2.0 * (y * tz - z * ty),
        vy + 2.0 * (z * tx - x * tz),
        vz + 2.0 * (x * ty - y * tx),
    )


def _rotation_vector(quaternion):
    w, x, y, z = quaternion
    sine = math.sqrt(x * x + y * y + z * z)
    angle = 2.0 * math.atan2(sine, w)
    if angle > math.pi:
        angle -= 2.0 * math.pi
    if sine < _NO_TURN:
        return angle, 0.0, 0.0
    one = 1.0 / sine
    return angle * (one * x), angle * (one * y), angle * (one * z)


_UP = 0.0, 0.0, 1.0
_NO_TURN = 1e-15  # sine of half an angle, which has no axis

_SETTLING_TIME = 2.0  # s; the contacts' oscillation dies out within tenths of it
_REST = 1e-6  # m/s and rad/s
_MAX_TILT = math.radians(3.0)
_XYZW = [1, 2, 3, 0]  # MuJoCo's quaternions are in the order w, x, y, z


class SimulatorState(NamedTuple):
    """The robot at one sample time, or at several: all then have the samples as their first axis.

    All arrays are the receiver's own.

    ``time`` [s]. ``position`` (3,) [m] and ``orientation`` (4,) [quaternion x, y, z, w] of
    base_footprint in the world; its ``linear_velocity`` (3,) [m/s] and ``angular_velocity`` (3,)
    [rad/s] in its own axes; ``wheel_positions`` (w,) [rad] and ``wheel_velocities`` (w,) [rad/s],
    in the order of ``joints`` of :class:`.RobotParameters`, what steers included. Of the IMU:
    ``imu_orientation`` (4,) in the world and, in the IMU's axes, ``imu_angular_velocity`` (3,)
    [rad/s] and ``specific_force`` (3,) [m/s^2], both as means over the sample period that ends now.
    ``wheel_torques`` [N m] are those of the driven wheels' motors in the last physics step, or
    means over the sample period where these were asked for.
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
        """Return one of several samples."""
        return SimulatorState(*(values[number] for values in cast(Any, self)))


class MujocoSimulator:
    """The robot on its ground, advanced one sample period at a time.

    The IMU's signals are the changes of orientation and velocity over a sample period, divided by
    it: what an IMU that integrates internally delivers, and how Gazebo's plug-ins compute theirs.
    Unlike MuJoCo's own sensors they do not lag the pose by a physics step and do not alias the
    contacts' oscillations, and the summed angular velocity is the orientation.

    The same commands give the same states, bit for bit, for one version of MuJoCo. Raises
    ConfigurationError: the rates do not fit together, or the robot's description cannot be
    expanded. Raises SimulatorError: the robot does not stand still on the ground. ``physics_rate``:
    physics steps per second [Hz]; ``sample_rate``: samples per second [Hz]; the physics rate must
    be a multiple of it; ``terrain`` (Terrain): bumps on the ground; it is level without;
    ``bodies``: shown where they are; nothing touches them; ``gravity`` [m/s^2]; ``mean_torques``:
    whether the motors' torques are means over the sample period, which takes some time.
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
        self._model.opt.gravity[:] = (0.0, 0.0, -check_number("gravity", gravity, above=0.0))
        self._data = mujoco.MjData(self._model)
        self.gravity = gravity
        # Views of MuJoCo's memory; to ask for one takes as long as to copy it.
        self._position = self._data.qpos
        self._velocity = self._data.qvel
        self._control = self._data.ctrl
        self._torques = self._data.actuator_force
        self._base_position = self._data.qpos[BASE_POSITION]
        self._base_quaternion = self._data.qpos[BASE_QUATERNION]
        driven = len(parameters.wheel_joints)
        self._wheel_velocities = self._data.qvel[BASE_FREEDOM : BASE_FREEDOM + driven]
        found = [_degree_of_freedom(self._model, name) for name in parameters.joints]
        self._velocities_of = np.array(found)
        # Of the free joint's a quaternion takes the place of three angles.
        self._positions_of = self._velocities_of + 1
        self._steering = self._positions_of[driven : self._model.nu]
        self._warnings = self._data.warning.number
        self.sample_period = 1.0 / sample_rate
        self._motors = Motors(parameters, self.sample_period)
        # With the base at the world's origin, world axes are the base's.
        self._base_position[:] = 0.0
        self._base_quaternion[:] = 1.0, 0.0, 0.0, 0.0
        mujoco.mj_kinematics(self._model, self._data)
        imu = self._data.body(IMU_FRAME)
        self._imu = IntegratingImu(imu.xpos, imu.xquat, sample_rate, gravity)
        self._rest_position, self._rest_quaternion = self._settle(parameters)
        self.reset()

    @property
    def state(self) -> SimulatorState:
        """The state after the last step or change of the pose."""
        return self._states.sample(-1)

    @property
    def imu_mounting(self) -> tuple[np.ndarray, np.ndarray]:
        """Place of the IMU in the base (3,) [m], and its orientation there (4,), x, y, z, w."""
        return self._imu.position, self._imu.quaternion[_XYZW]

    def reset(self, x=0.0, y=0.0, yaw=0.0) -> SimulatorState:
        """Go back to time zero, with the robot at rest at this pose [m, m, rad]."""
        mujoco.mj_resetData(self._model, self._data)
        self._samples = 0
        return self.set_pose(x, y, yaw)

    def set_pose(self, x, y, yaw) -> SimulatorState:
        """Put the robot, at rest and standing on the ground, at this pose [m, m, rad].

        Time goes on, the wheels keep their angles, the command becomes zero, and what steers is
        straight. The IMU feels nothing of the jump. Raises SimulatorError: the pose is not finite.
        """
        if not all(map(math.isfinite, (x, y, yaw))):
            raise SimulatorError(f"The robot cannot be put at x = {x}, y = {y}, yaw = {yaw}.")
        turn = np.empty(4)
        mujoco.mju_axisAngle2Quat(turn, np.array([0.0, 0.0, 1.0]), yaw)
        mujoco.mju_rotVecQuat(self._base_position, self._rest_position, turn)
        self._base_position[:2] += x, y
        mujoco.mju_mulQuat(self._base_quaternion, turn, self._rest_quaternion)
        self._data.qvel[:] = 0.0
        self._position[self._steering] = 0.0
        self._motors.reset()
        # The solver starts from the last accelerations; those of another pose are wrong here.
        self._data.qacc_warmstart[:] = 0.0
        self._stand_on_bumps(x, y)
        samples = self._imu.start(self._base_quaternion)
        position, velocity = (part[np.newaxis].copy() for part in (self._position, self._velocity))
        self._keep(position, velocity, np.zeros((1, self._model.nu)), samples)
        return self.state

    def command(self, *commands):
        """Command the drivetrain, see :attr:`.Drivetrain.commands`, as far as its limits go.

        Raises SimulatorError: a number is not finite.
        """
        if not all(map(math.isfinite, commands)):
            raise SimulatorError(f"The wheels cannot turn with {join_names(commands)}.")
        self._motors.command(*commands)

    def step(self) -> SimulatorState:
        """Advance by one sample period. Raises SimulatorError: the physics became unstable."""
        return self.steps(1).sample(0)

    def steps(self, count: int) -> SimulatorState:
        """Advance by several sample periods, at least one; return all their samples.

        Raises SimulatorError: the physics became unstable.
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
        # MuJoCo answers instability with a warning, and by setting the robot back to the origin.
        if np.count_nonzero(self._warnings):
            time = self._samples / self._sample_rate
            raise SimulatorError(f"The physics became unstable at {time:g} s.")
        samples = self._imu.samples(
            positions[:, BASE_QUATERNION],
            velocities[:, BASE_VELOCITY],
            velocities[:, BASE_ANGULAR_VELOCITY],
        )
        return self._keep(positions, velocities, torques, samples)

    def _keep(self, positions, velocities, torques, samples) -> SimulatorState:
        """Put observed samples together; the last one is the state from now on."""
        velocity, imu_quaternion, rate, force = samples
        self._states = SimulatorState(
            np.arange(self._samples + 1 - len(positions), self._samples + 1) / self._sample_rate,
            positions[:, BASE_POSITION],
            positions[:, BASE_QUATERNION].take(_XYZW, axis=1),
            velocity,
            velocities[:, BASE_ANGULAR_VELOCITY],
            positions.take(self._positions_of, axis=1),
            velocities.take(self._velocities_of, axis=1),
            imu_quaternion.take(_XYZW, axis=1),
            rate,
            force,
            torques[:, : len(self._wheel_velocities)],
        )
        return self._states

    def _stand_on_bumps(self, x, y):
        """Let the robot down onto the bumps below it, if there are any; no time passes."""
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
        """Return the place and the orientation of the base of a robot that stands at the origin."""
        # MuJoCo's contacts are compliant: the robot sinks in a little before it stands.
        mujoco.mj_resetData(self._model, self._data)
        self._wait_until_settled()
        if not np.all(np.abs(self._data.qvel) < _REST):
            raise SimulatorError(
                f"{parameters.path}: the robot does not stand still on level ground"
            )
        position, quaternion = self._base_position.copy(), self._base_quaternion.copy()
        tilt = 2.0 * math.hypot(quaternion[1], quaternion[2])
        if tilt > _MAX_TILT:
            raise SimulatorError(
                f"{parameters.path}: the robot leans by {math.degrees(tilt):.0f} deg on level "
                "ground: its wheels and casters do not reach equally far down, or it falls over"
            )
        # What little it moved and turned while it sank does not belong to standing still.
        position[:2] = 0.0
        quaternion[3] = 0.0
        mujoco.mju_normalize4(quaternion)
        return position, quaternion
