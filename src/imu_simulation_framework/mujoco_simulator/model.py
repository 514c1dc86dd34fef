"""The MuJoCo model of the robot on its ground."""

from __future__ import annotations

from typing import Sequence

import mujoco
import numpy as np

from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.magnetism.bars import Bar
from imu_simulation_framework.magnetism.ferrous import FerrousBody
from imu_simulation_framework.motion.terrain import Terrain
from imu_simulation_framework.robot.description import robot_description
from imu_simulation_framework.robot.parameters import RobotParameters
from imu_simulation_framework.robot_names import ROBOT_FRAME

GROUND = "ground"
# Where the degrees of freedom are in MuJoCo's vectors of positions and velocities; the wheels' are
# the rest.
BASE_POSITION, BASE_QUATERNION, WHEEL_POSITIONS = slice(0, 3), slice(3, 7), slice(7, None)
BASE_VELOCITY, BASE_ANGULAR_VELOCITY, WHEEL_VELOCITIES = slice(0, 3), slice(3, 6), slice(6, None)

# Contacts this stiff let the robot sink in by 2 um instead of MuJoCo's default 0.3 mm, which would
# make the wheels' effective radius, and with it every distance, 0.17 % too small, and slide
# sideways in curves by a quarter. They cost no time: the solver needs one iteration either way.
_CONTACT_TIME_CONSTANT = 0.005  # s
_CONTACT_IMPEDANCE = (0.99, 0.999, 0.001)


def build_model(
    parameters: RobotParameters,
    physics_rate: float,
    terrain: Terrain | None = None,
    bodies: Sequence[FerrousBody] = (),
):
    """Return the MjModel of the robot, free on level ground, its wheels velocity-controlled.

    The model's degrees of freedom are the free joint of base_footprint, then the wheels in the
    order of ``wheel_joints`` of :class:`.RobotParameters`; so are its actuators.

    Parameters
    ----------
    parameters : RobotParameters
    physics_rate : float
        Physics steps per second [Hz].
    terrain : Terrain, optional
        Bumps on the ground; it is level without.
    bodies : sequence of FerrousBody
        Shapes in the world that nothing touches.

    Raises
    ------
    ConfigurationError
        The description cannot be expanded, or the physics rate is too low for the motors.
    """
    spec = _specification(robot_description(parameters))
    # A URDF's root link is fixed to the world unless it gets a joint.
    _body(spec, ROBOT_FRAME).add_freejoint()
    _add_ground(spec, terrain)
    _add_bodies(spec, bodies)
    for joint in parameters.wheel_joints:
        _add_velocity_control(spec, joint, parameters)
    model = spec.compile()
    model.opt.timestep = 1.0 / physics_rate
    # Not an implicit integrator: those solve the contacts without regard to the motors' damping
    # and apply it afterwards, so that every change of the command kicks the robot forward.
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    # Friction that is equal in all directions; the pyramidal cone depends on the heading.
    model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    model.dof_armature[WHEEL_VELOCITIES] = parameters.motor_inertia
    _set_contacts(model, parameters)
    _require_stable_motors(model, parameters, physics_rate)
    return model


def _specification(urdf):
    # Without fusestatic="false" the IMU's link would vanish into its parent.
    settings = '<mujoco><compiler fusestatic="false" discardvisual="true"/></mujoco>'
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


def _add_velocity_control(spec, joint, parameters):
    actuator = spec.add_actuator()
    actuator.name = joint
    actuator.target = joint
    actuator.trntype = mujoco.mjtTrn.mjTRN_JOINT
    # torque = gain * (commanded velocity - velocity), within the limit
    actuator.gaintype = mujoco.mjtGain.mjGAIN_FIXED
    actuator.gainprm = _padded(parameters.velocity_gain)
    actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE
    actuator.biasprm = _padded(0.0, 0.0, -parameters.velocity_gain)
    actuator.forcelimited = True
    actuator.forcerange = [-parameters.max_wheel_torque, parameters.max_wheel_torque]


def _padded(*values):
    padded = np.zeros(mujoco.mjNGAIN)
    padded[: len(values)] = values
    return padded


def _set_contacts(model, parameters):
    for index in range(model.ngeom):
        name = model.geom(index).name
        model.geom_solref[index] = _CONTACT_TIME_CONSTANT, 1.0
        model.geom_solimp[index, :3] = _CONTACT_IMPEDANCE
        # A contact takes the larger friction of its two partners unless one has priority.
        model.geom_priority[index] = 0 if name.startswith(GROUND) else 1
        if "caster" in name:
            model.geom_friction[index, 0] = parameters.caster_friction
            # Three values have friction, one has none and is cheaper.
            model.geom_condim[index] = 3 if parameters.caster_friction > 0.0 else 1
        elif "wheel" in name:
            model.geom_friction[index, 0] = parameters.wheel_friction


def _require_stable_motors(model, parameters, physics_rate):
    # Explicit integration of torque = gain * error oscillates when a step's torque changes the
    # velocity by more than the error; least inertia has a wheel in the air.
    mujoco.mj_setConst(model, mujoco.MjData(model))
    inertia = float(min(model.dof_M0[WHEEL_VELOCITIES]))
    lowest = parameters.velocity_gain / inertia
    if physics_rate < lowest:
        raise ConfigurationError(
            f"{parameters.path}: drive.velocity_gain {parameters.velocity_gain} needs a physics "
            f"rate of at least {lowest:.0f} Hz with wheels of this inertia, but it is "
            f"{physics_rate} Hz."
        )
