"""User-defined robots, whose URDF is prepared for a simulator.

- Tables and topics refer to ``base_footprint``, on the ground below the midpoint of the driven
  wheels, and to ``imu_link``. If the description does not have these links in the right places,
  they are added, and an existing link with the same name is renamed.
- A driven wheel touches the ground as a sphere with the radius of the wheel, at one point of its
  centre plane. Boxes, cylinders and spheres have contacts, meshes do not. The links of the robot
  do not collide with each other.
- Driven wheels, steering joints and steered wheels can rotate. All other joints are fixed at zero,
  so that swivel casters slide.
- A link without ``inertial`` has no mass. In Gazebo, wheels, steered links and at least one other
  link need an inertia.
- The package in ``$(find PACKAGE)`` is searched in the folders above the xacro file, then in ROS.
- A xacro file is expanded in a process that is limited to 3 s of processor time, 300 MB of memory
  and 8 MiB of files. Its expressions must not use attributes that begin with an underscore. A
  description may have at most 1000 links.
- ``<mujoco>``, ``<gazebo>`` and ``<transmission>`` are ignored, because a ``diff_drive`` plug-in
  would command the same wheels.
- An IMU that is tilted by more than 20 degrees is rejected, because its yaw is not a heading. If
  its driver rotates the output to upright axes, set ``imu: {orientation: [0, 0, 0]}``.
- If the robot tilts by more than 60 degrees, the experiment ends and reports the time.
- ``gui:=true`` shows meshes whose package in ``package://PACKAGE`` is known to ROS, or is a folder
  above or next to the description.
"""

from __future__ import annotations

import importlib
import math
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Mapping, NamedTuple, Sequence
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from ...core.checks import check_list, check_numbers, check_text
from ...core.errors import ConfigurationError, prefix_errors
from ...core.sentences import quote
from ...core.settings import Settings, from_mapping, setting
from ...core.topics import IMU_FRAME, ROBOT_FRAME
from ...core.units import STANDARD_GRAVITY
from ...core.xacro_expansion import expand_description, find_package_above
from ..drivetrain import AckermannDrivetrain, DifferentialDrivetrain, Drivetrain, RobotLimits
from .parameters import LONGEST_DELAY, Contact, Motors, RobotParameters
from .urdf import Description, Pose

_POSITIVE: dict[str, Any] = {"above": 0.0, "maximum": 1e9}
_LENGTH: dict[str, Any] = {"minimum": 1e-3, "maximum": 1e3}  # m
_MULTIPLIER: dict[str, Any] = {"minimum": 0.1, "maximum": 10.0}
_RIM_ACCELERATION = 4.0  # default wheel acceleration, measured at the rim [m/s^2]
_POSITION_TOLERANCE = 1e-4  # distance below which two points coincide [m]
_TURNING = ("continuous", "revolute")  # joint types that can rotate
_MAX_IMU_TILT = math.radians(20.0)  # largest tilt at which the IMU yaw is still a heading [rad]
_STEERING_DEFLECTION = math.radians(0.5)  # deflection of a steering joint by wheel friction [rad]


def _check_names(name: str, value: Any) -> tuple[str, ...]:
    names = check_list(name, value, 8)
    joints = tuple(check_text(name, joint, needed=True) for joint in names)
    if not joints or len(set(joints)) < len(joints):
        raise ConfigurationError(f"{name} is {quote(value)}, expected a list of different joints")
    return joints


def _check_arguments(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"{name} is {quote(value)}, expected a mapping of names to values")
    return dict(value)


@dataclass(frozen=True)
class OwnImu(Settings):
    """Keys for the mounting of the IMU.

    Parameters
    ----------
    link : str
        Link of the IMU, by default ``imu_link``.
    position : 3 float, optional
        Position in ``base_footprint`` [m], which takes precedence over the link.
    orientation : 3 float, optional
        Roll, pitch and yaw in ``base_footprint`` [rad], which takes precedence over the link.
    """

    link: str = setting("")
    position: tuple[float, ...] | None = setting(None, check_numbers, count=3, unit="m")
    orientation: tuple[float, ...] | None = setting(None, check_numbers, count=3, unit="rad")


@dataclass(frozen=True)
class OwnDrive(Settings):
    """Keys for the motors, as in robot.yaml; missing values are derived from the description.

    Parameters
    ----------
    max_wheel_velocity : float, optional
        Velocity limit [rad/s], by default the limit of the joints; one of them is required.
    max_wheel_acceleration : float, optional
        Acceleration limit [rad/s^2], by default 4 m/s^2 at the rim.
    max_wheel_torque : float, optional
        Torque limit [N m], by default the limit of the joints or, if there is none, twice the
        torque at which a wheel slips.
    max_steering_angle : float, optional
        Steering limit to either side [rad], in addition to the limits of the joints; one of them is
        required.
    max_steering_rate : float, optional
        Steering rate limit [rad/s], by default the limit of the joints; one of them is required.
    velocity_gain, velocity_integral_gain, motor_inertia : float, optional
        Same as in ``urdf/robot.yaml``; by default proportional to the inertia that a wheel drives,
        with the ratios of the bundled robot. They have no effect in Gazebo.
    command_delay : float
        Delay before the wheels follow a command [s]; rejected in Gazebo.
    """

    max_wheel_velocity: float | None = setting(None, unit="rad/s", **_POSITIVE)
    max_wheel_acceleration: float | None = setting(None, unit="rad/s^2", **_POSITIVE)
    max_wheel_torque: float | None = setting(None, unit="N m", **_POSITIVE)
    max_steering_angle: float | None = setting(None, unit="rad", above=0.0, maximum=1.5)
    max_steering_rate: float | None = setting(None, unit="rad/s", **_POSITIVE)
    velocity_gain: float | None = setting(None, unit="N m s/rad", **_POSITIVE)
    velocity_integral_gain: float | None = setting(None, unit="N m/rad", minimum=0.0)
    motor_inertia: float | None = setting(None, unit="kg m^2", minimum=0.0)
    command_delay: float = setting(0.0, unit="s", minimum=0.0, maximum=LONGEST_DELAY)


@dataclass(frozen=True)
class OwnContact(Contact):
    """Keys for the contacts, as in robot.yaml.

    Parameters
    ----------
    wheel_friction : float, optional
        Coefficient of sliding friction of the driven wheels, by default 1.0. With several wheels
        per side, which slide in turns, the default is 0.4, because MuJoCo's contacts vibrate with
        higher values.
    friction_ratio : float
        Ratio of the friction coefficients of the right and the left driven wheels.
    caster_friction : float
        Coefficient of sliding friction of all other links.
    """

    wheel_friction: float | None = setting(None, **_POSITIVE)  # type: ignore[assignment]


@dataclass(frozen=True)
class OwnRobot(Settings):
    """Keys of a robot file with a user-defined description.

    Parameters
    ----------
    description : str
        URDF or xacro file, relative to the robot file.
    left_wheel, right_wheel : list of str
        Joints of the driven wheels, with the same number on both sides; the keys are those of
        ``diff_drive_controller``.
    steering : list of str, optional
        One or two joints that steer the free wheels of a car. Each of them turns about z and has at
        least one wheel joint below it, which turns about y.
    arguments : mapping
        Names and values of xacro arguments.
    wheel_radius : float, optional
        Radius of all driven wheels [m], by default the radius of their collision cylinders or
        spheres.
    turning_half_track : float, optional
        Half the track width of an ideal differential drive that turns like the robot [m]. The
        default is half the wheel separation or, with several wheels per side, the value identified
        from three turns in MuJoCo. It has no effect in Gazebo.
    sideslip_time : float, optional
        Sideslip angle to the inside of a turn per yaw rate [s], see
        :class:`.DifferentialDrivetrain`. By default it is identified from the same turns; it is 0
        if ``turning_half_track`` is set, and in Gazebo.
    wheel_separation_multiplier : float, optional
        Ratio of the effective track to the wheel separation, as in ``diff_drive_controller``; an
        alternative to ``turning_half_track``.
    left_wheel_radius_multiplier, right_wheel_radius_multiplier : float
        Factors of the wheel radius in the kinematics, as in ``diff_drive_controller``, for a
        controller that accounts for different wheels.
    imu : mapping
        Mounting of the IMU.
    drive : mapping
        Motors.
    contact : mapping
        Contacts with the ground.
    """

    description: str = setting(check=check_text, needed=True)
    left_wheel: tuple[str, ...] = setting(check=_check_names)
    right_wheel: tuple[str, ...] = setting(check=_check_names)
    steering: tuple[str, ...] | None = setting(None, _check_names)
    arguments: Mapping[str, Any] = setting(dict, _check_arguments)
    wheel_radius: float | None = setting(None, unit="m", **_LENGTH)
    turning_half_track: float | None = setting(None, unit="m", **_LENGTH)
    sideslip_time: float | None = setting(None, unit="s", minimum=-1.0, maximum=1.0)
    wheel_separation_multiplier: float | None = setting(None, **_MULTIPLIER)
    left_wheel_radius_multiplier: float = setting(1.0, **_MULTIPLIER)
    right_wheel_radius_multiplier: float = setting(1.0, **_MULTIPLIER)
    imu: OwnImu = setting(OwnImu, part=OwnImu)
    drive: OwnDrive = setting(OwnDrive, part=OwnDrive)
    contact: OwnContact = setting(OwnContact, part=OwnContact)


class _Part(NamedTuple):
    """Wheel with its radius, or steering joint with the wheels that it steers."""

    joint: Any
    link: str
    position: np.ndarray
    radius: float = 0.0
    wheels: Sequence[_Part] = ()


def own_robot(path: Path, content: Any, simulator: str) -> RobotParameters:
    """Return the parameters of a robot with a user-defined description.

    Parameters
    ----------
    path : Path
        Robot file.
    content : mapping
        Content of the file, with the keys of :class:`OwnRobot`.
    simulator : str
        Simulator, which determines how the robot turns.

    Returns
    -------
    RobotParameters
        Parameters; ``unknown_turning`` lists the fields that must be identified in MuJoCo.

    Raises
    ------
    ConfigurationError
        A key or the description is invalid.
    """
    with prefix_errors(f"{path}: "):
        robot = _read_keys(content)
    file = path.parent / robot.description
    text = expand_description(file, robot.arguments)
    if simulator == "gazebo":
        # Wheels in Gazebo do not slip in their rolling direction, see gazebo_description.
        robot = replace(
            robot, turning_half_track=None, wheel_separation_multiplier=None, sideslip_time=None
        )
    urdf = Description(text, file)
    _resolve_meshes(urdf)
    parameters = _parameters_from_description(urdf, robot, path)
    if simulator == "gazebo":
        _require_inertia(urdf, parameters)
    skids = robot.steering is None and len(robot.left_wheel) > 1
    if simulator != "mujoco" or not skids:
        return parameters
    if robot.turning_half_track or robot.wheel_separation_multiplier:
        return parameters
    unknown = ("half_track", "sideslip_time") if robot.sideslip_time is None else ("half_track",)
    return replace(parameters, unknown_turning=unknown)


def _read_keys(content: Any) -> OwnRobot:
    robot = from_mapping(OwnRobot, content, "the file")
    if robot.turning_half_track and robot.wheel_separation_multiplier:
        raise ConfigurationError(
            "turning_half_track and wheel_separation_multiplier are both given, expected one of "
            "them."
        )
    if robot.steering and robot.sideslip_time:
        raise ConfigurationError(
            "sideslip_time is set with steering, expected only with a differential drive"
        )
    return robot


def _resolve_meshes(urdf: Description) -> None:
    """Resolve the URIs of visual meshes in packages that contain the robot description.

    Visuals with meshes from packages that ROS cannot find are removed, because Gazebo would reject
    the robot.
    """
    for link in urdf.links.values():
        for visual in link.findall("visual"):
            mesh = visual.find("geometry/mesh")
            uri = "" if mesh is None else mesh.get("filename", "")
            scheme, _, location = uri.partition("://")
            if mesh is None or scheme != "package":
                continue
            name, _, inside = location.partition("/")
            package = find_package_above(urdf.path, name)
            if package is not None:
                mesh.set("filename", f"file://{package / inside}")
            elif not _is_ros_package(name):
                link.remove(visual)


def _is_ros_package(package: str) -> bool:
    with suppress(ImportError):
        return package in importlib.import_module("rospkg").RosPack().list()
    return False


class _Wheels(NamedTuple):
    """Driven wheels on each side, and steering joints from left to right with their wheels."""

    left: list[_Part]
    right: list[_Part]
    steering: list[_Part]

    @property
    def driven(self) -> list[_Part]:
        return self.left + self.right

    @property
    def rolling(self) -> list[_Part]:
        return [wheel for part in self.steering for wheel in part.wheels]

    @property
    def radius(self) -> float:
        """Mean radius of the driven wheels [m]."""
        return float(np.mean([wheel.radius for wheel in self.driven]))

    @property
    def tracks(self) -> list[float]:
        """Lateral distances between each left and each right wheel [m]."""
        return [left.position[1] - right.position[1] for left in self.left for right in self.right]

    @property
    def ground_point(self) -> np.ndarray:
        """Point on the ground below the midpoint of the driven wheels, in the root frame [m]."""
        point = np.mean([wheel.position for wheel in self.driven], axis=0)
        point[2] = min(wheel.position[2] - wheel.radius for wheel in self.driven)
        return point


def _parameters_from_description(urdf: Description, robot: OwnRobot, path: Path) -> RobotParameters:
    """Prepare a description for the simulator, and return the robot parameters."""
    wheels = _find_wheels(urdf, robot, path)
    ground_point = wheels.ground_point
    imu = _place_imu(urdf, robot.imu, ground_point, path)
    _place_footprint(urdf, ground_point)
    mass = _prepare_joints_and_contacts(urdf, wheels)
    friction = robot.contact.wheel_friction or (1.0 if len(wheels.left) == 1 else 0.4)
    grip = friction * mass * STANDARD_GRAVITY / len(wheels.driven + wheels.rolling)
    limits = _wheel_limits(urdf, wheels, robot.drive, path)
    steering_limits = None
    if wheels.steering:
        steering_limits = _steering_limits(urdf, wheels.steering, robot.drive, path)
    with prefix_errors(f"{path}: "):
        motors = _motors(urdf, wheels, robot.drive, limits, mass, grip)
        drivetrain = _drivetrain(wheels, robot, limits, steering_limits, ground_point)
    return RobotParameters(
        path=path,
        numbers={},
        wheel_joints=robot.left_wheel + robot.right_wheel,
        drivetrain=drivetrain,
        motors=motors,
        contact=replace(robot.contact, wheel_friction=friction),
        imu_position=tuple(imu.position.tolist()),
        imu_orientation=tuple(imu.rotation.as_euler("xyz").tolist()),
        footprint_radius=_footprint_radius(urdf, ground_point),
        description=ElementTree.tostring(urdf.tree, encoding="unicode"),
        steering_joints=tuple(part.joint.get("name") for part in wheels.steering),
        rolling_joints=tuple(wheel.joint.get("name") for wheel in wheels.rolling),
        # With this gain, friction at the wheel rim deflects a steering joint by the given angle.
        steering_gain=grip * wheels.radius / _STEERING_DEFLECTION,
    )


def _find_wheels(urdf: Description, robot: OwnRobot, path: Path) -> _Wheels:
    sides, radius = (robot.left_wheel, robot.right_wheel), robot.wheel_radius
    left, right = ([_wheel(urdf, name, radius) for name in names] for names in sides)
    if len(left) != len(right):
        raise ConfigurationError(
            f"{path}: left_wheel has {len(left)} joints and right_wheel {len(right)}, expected "
            "the same number on both sides."
        )
    if min(_Wheels(left, right, []).tracks) <= 0.0:
        raise ConfigurationError(
            f"{path}: a joint in left_wheel is not to the left of the joints in right_wheel"
        )
    steering = [_steering(urdf, name, left + right, radius) for name in robot.steering or ()]
    steering.sort(key=lambda part: -part.position[1])
    return _Wheels(left, right, steering)


def _wheel_limits(urdf: Description, wheels: _Wheels, drive: OwnDrive, path: Path) -> RobotLimits:
    velocity = drive.max_wheel_velocity or _limit(urdf, wheels.driven, "velocity")
    if not velocity:
        raise _unlimited(path, "max_wheel_velocity [rad/s]")
    acceleration = drive.max_wheel_acceleration or _RIM_ACCELERATION / wheels.radius
    return RobotLimits(velocity, acceleration)


def _motors(
    urdf: Description,
    wheels: _Wheels,
    drive: OwnDrive,
    limits: RobotLimits,
    mass: float,
    grip: float,
) -> Motors:
    """Return the motor parameters of the driven wheels.

    Parameters
    ----------
    urdf : Description
        Description of the robot.
    wheels : _Wheels
        Wheels of the robot.
    drive : OwnDrive
        Section ``drive`` of the robot file.
    limits : RobotLimits
        Limits of the driven wheels.
    mass : float
        Mass of the robot [kg].
    grip : float
        Force at which a wheel slips [N].
    """
    # Each wheel drives its share of the mass, and the gains have the ratios of the bundled robot.
    inertia = mass * wheels.radius**2 / len(wheels.driven)
    gain = drive.velocity_gain or 250.0 * inertia
    integral_gain, motor_inertia = drive.velocity_integral_gain, drive.motor_inertia
    torque = drive.max_wheel_torque or _limit(urdf, wheels.driven, "effort")
    return Motors(
        max_wheel_velocity=limits.max_wheel_velocity,
        max_wheel_acceleration=limits.max_wheel_acceleration,
        max_wheel_torque=torque or 2.0 * grip * wheels.radius,
        velocity_gain=gain,
        velocity_integral_gain=20.0 * gain if integral_gain is None else integral_gain,
        motor_inertia=gain / 1000.0 if motor_inertia is None else motor_inertia,
        command_delay=drive.command_delay,
    )


def _drivetrain(
    wheels: _Wheels,
    robot: OwnRobot,
    limits: RobotLimits,
    steering_limits: _SteeringLimits | None,
    ground_point: np.ndarray,
) -> Drivetrain:
    """Return the drivetrain, with Ackermann steering if there are steering joints."""
    separation = (robot.wheel_separation_multiplier or 1.0) * float(np.mean(wheels.tracks))
    half_track = robot.turning_half_track or 0.5 * separation
    multipliers = (robot.left_wheel_radius_multiplier, robot.right_wheel_radius_multiplier)
    if steering_limits is None:
        return DifferentialDrivetrain(
            wheels.radius, half_track, limits, multipliers, robot.sideslip_time or 0.0
        )
    places = tuple(tuple((part.position - ground_point)[:2].tolist()) for part in wheels.steering)
    return AckermannDrivetrain(
        wheels.radius, half_track, limits, multipliers, places, *steering_limits
    )


def _footprint_radius(urdf: Description, ground_point: np.ndarray) -> float:
    """Return the largest horizontal distance of a collision shape from the ground point [m]."""
    return max(
        math.hypot(*(pose.position[:2] - ground_point[:2])) + urdf.reach(shape)
        for _, _, pose, shape in urdf.collisions()
    )


def _unlimited(path: Path, key: str) -> ConfigurationError:
    return ConfigurationError(
        f"{path}: drive has no key {key}, required as the joints of the description have no limit"
    )


def _turning_joint(urdf: Description, name: str, direction: int, expected_axis: str) -> Any:
    """Return a joint after aligning its axis with an axis of the robot, 1 for y and 2 for z."""
    if name not in urdf.joints:
        raise urdf.fault(f"joint {name} is missing; choose from: {', '.join(urdf.joints)}")
    joint = urdf.joints[name]
    if joint.get("type") not in _TURNING:
        expected = "continuous" + (" or revolute, to steer" if direction == 2 else ", for a wheel")
        raise urdf.fault(f"joint {name} is {joint.get('type')}, expected {expected}")
    link = urdf.child(joint)
    axis = urdf.numbers(joint.find("axis"), "xyz", 3, "1 0 0")
    axis_component = urdf.pose(link).rotation.apply(axis / (np.linalg.norm(axis) or 1.0))[direction]
    if abs(axis_component) < 0.999:
        raise urdf.fault(f"joint {name} does not turn about {expected_axis}")
    if axis_component < 0.0:
        # The axis is reversed so that positive velocities move the robot forward or to the left.
        element = joint.find("axis")
        element = ElementTree.SubElement(joint, "axis") if element is None else element
        element.set("xyz", " ".join(repr(float(-value)) for value in axis))
    if urdf.links[link].find("inertial") is None:
        role = "a steered link" if direction == 2 else "a wheel"
        raise urdf.fault(f"link {link} has no inertial, required for {role}")
    return joint


def _wheel(urdf: Description, name: str, radius: float | None) -> _Part:
    joint = _turning_joint(urdf, name, 1, "the lateral axis y, expected for a wheel")
    link = urdf.child(joint)
    shapes = [shape for owner, _, _, shape in urdf.collisions() if owner == link]
    if radius is None:
        round_shapes = [s for s in shapes if s is not None and s.tag in ("cylinder", "sphere")]
        if not round_shapes:
            raise urdf.fault(
                f"link {link} has no cylinder or sphere as its collision; set wheel_radius"
            )
        radius = float(urdf.numbers(round_shapes[0], "radius", 1)[0])
    return _Part(joint, link, urdf.pose(link).position, radius)


def _steering(urdf: Description, name: str, driven: Sequence[_Part], radius: float | None) -> _Part:
    """Return a steering joint with the wheels that it steers."""
    joint = _turning_joint(urdf, name, 2, "the vertical axis z, expected for a steering joint")
    link = urdf.child(joint)
    turning = [
        other
        for other, candidate in urdf.joints.items()
        if other != name and candidate.get("type") in _TURNING
        if link in urdf.ancestors(urdf.child(candidate))
    ]
    if not turning:
        raise urdf.fault(f"link {link} has no wheel, required because joint {name} steers it")
    for wheel in driven:
        if wheel.joint.get("name") in turning:
            raise urdf.fault(f"joint {wheel.joint.get('name')} drives a wheel that {name} steers, "
                             "expected driven wheels that are not steered")  # fmt: skip
    wheels = [_wheel(urdf, other, radius) for other in turning]
    return _Part(joint, link, urdf.pose(link).position, wheels=wheels)


class _SteeringLimits(NamedTuple):
    """Steering angle [rad] and steering rate [rad/s] that all steering joints can reach."""

    angle: float
    rate: float


def _steering_limits(
    urdf: Description, steering: Sequence[_Part], drive: OwnDrive, path: Path
) -> _SteeringLimits:
    lower, upper = (_read_limits(urdf, steering, key) for key in ("lower", "upper"))
    angles = [min(-low, high) for low, high in zip(lower, upper) if low or high]
    if min(angles, default=1.0) <= 0.0:
        raise urdf.fault(
            "a steering joint can turn to one side only, expected limits on both sides of zero"
        )
    if drive.max_steering_angle is not None:
        angles.append(drive.max_steering_angle)
    if not angles:
        raise _unlimited(path, "max_steering_angle [rad]")
    rate = drive.max_steering_rate or _limit(urdf, steering, "velocity")
    if not rate:
        raise _unlimited(path, "max_steering_rate [rad/s]")
    return _SteeringLimits(min(angles), rate)


def _place_imu(urdf: Description, imu: OwnImu, ground_point: np.ndarray, path: Path) -> Pose:
    """Add imu_link if the description does not have it at the IMU; return the pose of the IMU."""
    footprint = Pose(Rotation.identity(), ground_point)
    link = imu.link or IMU_FRAME
    if link in urdf.links:
        place = footprint.inverse() * urdf.pose(link)
    elif imu.link or imu.position is None:
        similar = [name for name in urdf.links if "imu" in name.lower()]
        remedy = f"choose from {', '.join(similar)}" if similar else "set imu.position instead"
        raise ConfigurationError(
            f"{path}: the description has no link {link} for the IMU; {remedy}"
        )
    else:
        place = Pose(Rotation.identity(), np.zeros(3))
    if imu.position is not None:
        place = place._replace(position=np.array(imu.position))
    if imu.orientation is not None:
        place = place._replace(rotation=Rotation.from_euler("xyz", imu.orientation))
    tilt = math.acos(min(1.0, float(place.rotation.as_matrix()[2, 2])))
    if tilt > _MAX_IMU_TILT:
        raise ConfigurationError(
            f"{path}: the IMU at link {link} is tilted by {math.degrees(tilt):.0f} deg, so that "
            "its yaw is not a heading; if its driver rotates the output to upright axes, set "
            "imu.orientation: [0, 0, 0]"
        )
    if link != IMU_FRAME or imu.position is not None or imu.orientation is not None:
        if IMU_FRAME in urdf.links:
            urdf.rename(IMU_FRAME)
        urdf.add(IMU_FRAME, urdf.root, IMU_FRAME, footprint * place)
    return place


def _place_footprint(urdf: Description, ground_point: np.ndarray) -> None:
    """Make base_footprint the root link, on the ground below the midpoint of the wheels."""
    if urdf.root == ROBOT_FRAME and np.abs(ground_point).max() < _POSITION_TOLERANCE:
        return
    if ROBOT_FRAME in urdf.links:
        urdf.rename(ROBOT_FRAME)
    urdf.add(ROBOT_FRAME, ROBOT_FRAME, urdf.root, Pose(Rotation.identity(), -ground_point))
    urdf.poses[ROBOT_FRAME] = Pose(Rotation.identity(), ground_point)
    urdf.root = ROBOT_FRAME


def _prepare_joints_and_contacts(urdf: Description, wheels: _Wheels) -> float:
    """Fix all non-wheel joints, replace wheel contacts with spheres; return the mass [kg]."""
    _fix_joints(urdf)
    _release_wheels(urdf, wheels)
    _replace_contacts(urdf, wheels)
    masses = [
        float(urdf.numbers(mass, "value", 1)[0])
        for mass in urdf.tree.iterfind("link/inertial/mass")
    ]
    if not sum(masses) > 0.0:
        raise urdf.fault("its links have no mass")
    return sum(masses)


def _fix_joints(urdf: Description) -> None:
    for joint in urdf.joints.values():
        joint.set("type", "fixed")
        for element in [*joint.findall("mimic"), *joint.findall("safety_controller")]:
            joint.remove(element)


def _release_wheels(urdf: Description, wheels: _Wheels) -> None:
    """Attach driven wheels and steering joints to the root, steered wheels to steering joints.

    Their order at the root determines the order of the model's degrees of freedom.
    """
    moving = [(urdf.root, part) for part in (*wheels.driven, *wheels.steering)]
    moving += [(part.link, wheel) for part in wheels.steering for wheel in part.wheels]
    for parent, part in moving:
        pose = urdf.pose(parent).inverse() * urdf.pose(urdf.child(part.joint))
        part.joint.set("type", "continuous")
        urdf.hang(part.joint, parent, pose)


def _replace_contacts(urdf: Description, wheels: _Wheels) -> None:
    """Use a sphere as the only collision shape of a wheel, and remove meshes from other links."""
    radii = {wheel.link: wheel.radius for wheel in (*wheels.driven, *wheels.rolling)}
    for name, collision, _, shape in [*urdf.collisions()]:
        # Meshes usually do not touch the ground, and MuJoCo does not support all of their formats.
        if name in radii or shape is None or shape.tag not in ("box", "cylinder", "sphere"):
            urdf.links[name].remove(collision)
    for name, radius in radii.items():
        collision = ElementTree.SubElement(urdf.links[name], "collision", name=f"{name}_contact")
        ElementTree.SubElement(
            ElementTree.SubElement(collision, "geometry"), "sphere", radius=repr(radius)
        )


def _read_limits(urdf: Description, parts: Sequence[_Part], key: str) -> list[float]:
    return [float(urdf.numbers(part.joint.find("limit"), key, 1, "0")[0]) for part in parts]


def _limit(urdf: Description, parts: Sequence[_Part], key: str) -> float | None:
    """Return the smallest joint limit; None if a joint has no limit."""
    smallest = min(_read_limits(urdf, parts, key))
    return smallest if smallest > 0.0 else None


def _require_inertia(urdf: Description, parameters: RobotParameters) -> None:
    """Reject links without inertia, which Gazebo removes or cannot move."""

    def has_inertia(link: str) -> bool:
        mass, inertia = (urdf.links[link].find(f"inertial/{tag}") for tag in ("mass", "inertia"))
        required = [(mass, "value"), (inertia, "ixx"), (inertia, "iyy"), (inertia, "izz")]
        return all(urdf.numbers(element, key, 1, "0")[0] > 0.0 for element, key in required)

    turning = {urdf.child(urdf.joints[name]) for name in parameters.joints}
    expectation = "expected for Gazebo"
    for link in sorted(turning):
        if not has_inertia(link):
            raise urdf.fault(
                f"link {link} can turn, but has no mass or no inertia above 0, {expectation}"
            )
    if not any(has_inertia(link) for link in set(urdf.links) - turning):
        raise urdf.fault(
            f"no link except the wheels has a mass and an inertia above 0, {expectation}"
        )
