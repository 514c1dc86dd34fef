"""A robot with a description of its own: its URDF, made ready to be driven in a simulator.

The tables and the topics tell of ``base_footprint``, on the ground below the middle of the driven
wheels, and of ``imu_link``. A description that has them elsewhere, or not at all, gets them. Wheels
touch the ground as spheres, in one point of their middle plane. Joints that are neither a driven
wheel's nor steer, nor of a wheel that is steered, are held where they are at zero, so that a swivel
caster is one that slides.
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

from ...core.errors import ConfigurationError, prefix_errors
from ...core.sentences import quote
from ...core.settings import (
    Settings,
    check_list,
    check_numbers,
    check_text,
    declared,
    from_mapping,
)
from ...core.topics import IMU_FRAME, ROBOT_FRAME
from ...core.units import STANDARD_GRAVITY
from ...core.xacro_expansion import expand_description, find_package_above
from ..drivetrain import AckermannDrivetrain, DifferentialDrivetrain, Drivetrain, RobotLimits
from .parameters import LONGEST_DELAY, Contact, Motors, RobotParameters
from .urdf import Description, Pose

_POSITIVE: dict[str, Any] = {"above": 0.0, "maximum": 1e9}
_LENGTH: dict[str, Any] = {"minimum": 1e-3, "maximum": 1e3}  # m
_MULTIPLIER: dict[str, Any] = {"minimum": 0.1, "maximum": 10.0}
_RIM_ACCELERATION = 4.0  # m/s^2
_SAME_PLACE = 1e-4  # m
_TURNING = ("continuous", "revolute")  # types of joints
_MOST_TILTED = math.radians(20.0)
_STEERING_GIVES = math.radians(0.5)


def _checked_names(name: str, value: Any) -> tuple[str, ...]:
    names = check_list(name, value, 8)
    joints = tuple(check_text(name, joint, needed=True) for joint in names)
    if not joints or len(set(joints)) < len(joints):
        raise ConfigurationError(f"{name} is {quote(value)}, expected a list of different joints.")
    return joints


def _checked_arguments(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"{name} is {quote(value)}, expected names and values.")
    return dict(value)


@dataclass(frozen=True)
class OwnImu(Settings):
    """Where the IMU is: a link, or a place and roll, pitch and yaw in base_footprint [m, rad]."""

    link: str = declared("", check_text)
    position: tuple[float, ...] | None = declared(None, check_numbers, count=3)
    orientation: tuple[float, ...] | None = declared(None, check_numbers, count=3)


@dataclass(frozen=True)
class OwnDrive(Settings):
    """Keys as in robot.yaml; what is left out follows from the description.

    Torque and velocity from the joints' limits; else twice the torque that makes a wheel slip. The
    motors' inertia and gains are in proportion to the inertia that a wheel drives, as those of the
    bundled robot are.
    """

    max_wheel_velocity: float | None = declared(None, unit="rad/s", **_POSITIVE)
    max_wheel_acceleration: float | None = declared(None, unit="rad/s^2", **_POSITIVE)
    max_wheel_torque: float | None = declared(None, unit="N m", **_POSITIVE)
    max_steering_angle: float | None = declared(None, unit="rad", above=0.0, maximum=1.5)
    max_steering_rate: float | None = declared(None, unit="rad/s", **_POSITIVE)
    velocity_gain: float | None = declared(None, unit="N m s/rad", **_POSITIVE)
    velocity_integral_gain: float | None = declared(None, unit="N m/rad", minimum=0.0)
    motor_inertia: float | None = declared(None, unit="kg m^2", minimum=0.0)
    command_delay: float = declared(0.0, unit="s", minimum=0.0, maximum=LONGEST_DELAY)


@dataclass(frozen=True)
class OwnContact(Contact):
    """As of robot.yaml; ``caster_friction`` is that of all but driven wheels.

    Wheels left out have 1.0, but 0.4 where several on a side have to slide in a turn: on dry ground
    MuJoCo's contacts shake then.
    """

    wheel_friction: float | None = declared(None, **_POSITIVE)  # type: ignore[assignment]


@dataclass(frozen=True)
class OwnRobot(Settings):
    """The keys of a robot's file that names a description.

    ``description``: URDF or xacro, relative to the file; ``arguments``: of the xacro file;
    ``left_wheel``, ``right_wheel``: joints of the driven wheels, under the names of
    diff_drive_controller; ``steering``: joints that steer a car's other wheels, which roll freely;
    ``wheel_radius`` [m]: left out, that of the wheels' collision shapes; ``turning_half_track``
    [m]: half the track of a differential drive that turns like it; left out, what the robot's
    turns in MuJoCo give, as they give ``sideslip_time`` [s], see :class:`.DifferentialDrivetrain`.
    The multipliers are diff_drive_controller's: of the wheels' distance and radius, for what the
    controller reckons with.
    """

    description: str = declared(check=check_text, needed=True)
    left_wheel: tuple[str, ...] = declared(check=_checked_names)
    right_wheel: tuple[str, ...] = declared(check=_checked_names)
    steering: tuple[str, ...] | None = declared(None, _checked_names)
    arguments: Mapping[str, Any] = declared(dict, _checked_arguments)
    wheel_radius: float | None = declared(None, unit="m", **_LENGTH)
    turning_half_track: float | None = declared(None, unit="m", **_LENGTH)
    sideslip_time: float | None = declared(None, unit="s", minimum=-1.0, maximum=1.0)
    wheel_separation_multiplier: float | None = declared(None, **_MULTIPLIER)
    left_wheel_radius_multiplier: float = declared(1.0, **_MULTIPLIER)
    right_wheel_radius_multiplier: float = declared(1.0, **_MULTIPLIER)
    imu: OwnImu = declared(OwnImu, part=OwnImu)
    drive: OwnDrive = declared(OwnDrive, part=OwnDrive)
    contact: OwnContact = declared(OwnContact, part=OwnContact)


class _Part(NamedTuple):
    """A wheel with its radius, or what steers with the wheels on it."""

    joint: Any
    link: str
    position: np.ndarray
    radius: float = 0.0
    wheels: Sequence[_Part] = ()


def own_robot(path: Path, content: Any, simulator: str) -> RobotParameters:
    """Return the parameters of a robot whose file names a description.

    ``path``: of the file; ``content``: what it says, keys as of :class:`OwnRobot`; ``simulator``:
    where it turns. Raises ConfigurationError: a key or the description is not what it must be.
    """
    with prefix_errors(f"{path}: "):
        own = from_mapping(OwnRobot, content, "the file")
        if own.turning_half_track and own.wheel_separation_multiplier:
            raise ConfigurationError(
                "turning_half_track and wheel_separation_multiplier say the same, expected one."
            )
        if own.steering and own.sideslip_time:
            raise ConfigurationError(
                "sideslip_time is of a robot that turns by its driven wheels, not of one that "
                "steers; expected none."
            )
    file = path.parent / own.description
    text = expand_description(file, own.arguments)
    if simulator == "gazebo":
        # Its wheels hold on to the ground along the robot there, see for_gazebo.
        own = replace(
            own, turning_half_track=None, wheel_separation_multiplier=None, sideslip_time=None
        )
    urdf = Description(text, file)
    _find_meshes(urdf)
    parameters = _of_description(urdf, own, path)
    if simulator == "gazebo":
        _require_inertia(urdf, parameters)
    skids = own.steering is None and len(own.left_wheel) > 1
    if simulator != "mujoco" or not skids:
        return parameters
    if own.turning_half_track or own.wheel_separation_multiplier:
        return parameters
    unknown = ("half_track", "sideslip_time") if own.sideslip_time is None else ("half_track",)
    return replace(parameters, unknown_turning=unknown)


def _find_meshes(urdf: Description) -> None:
    """Have what is only seen name files, where its package is beside the description.

    Gazebo refuses a robot with a mesh of a package that ROS does not know: what nobody finds is
    not shown.
    """
    for link in urdf.links.values():
        for visual in link.findall("visual"):
            mesh = visual.find("geometry/mesh")
            scheme, _, rest = ("" if mesh is None else mesh.get("filename", "")).partition("://")
            if mesh is None or scheme != "package":
                continue
            name, _, inside = rest.partition("/")
            place = find_package_above(urdf.path, name)
            if place is not None:
                mesh.set("filename", f"file://{place / inside}")
            elif not _known_to_ros(name):
                link.remove(visual)


def _known_to_ros(package: str) -> bool:
    with suppress(ImportError):
        return package in importlib.import_module("rospkg").RosPack().list()
    return False


def _of_description(urdf: Description, own: OwnRobot, path: Path) -> RobotParameters:
    sides, radius = (own.left_wheel, own.right_wheel), own.wheel_radius
    left, right = ([_wheel(urdf, name, radius) for name in names] for names in sides)
    if len(left) != len(right):
        raise ConfigurationError(
            f"{path}: left_wheel has {len(left)} joints and right_wheel {len(right)}, expected as "
            "many on both sides."
        )
    wheels = left + right
    middle = np.mean([wheel.position for wheel in wheels], axis=0)
    middle[2] = min(wheel.position[2] - wheel.radius for wheel in wheels)
    tracks = [one.position[1] - other.position[1] for one in left for other in right]
    if min(tracks) <= 0.0:
        raise ConfigurationError(
            f"{path}: a joint of left_wheel is not to the left of those of right_wheel."
        )
    steering = [_steering(urdf, name, wheels, radius) for name in own.steering or ()]
    steering.sort(key=lambda one: -one.position[1])
    rolling = [wheel for one in steering for wheel in one.wheels]
    imu = _place_imu(urdf, own.imu, middle, path)
    _place_footprint(urdf, middle)
    mass = _only_wheels_turn(urdf, wheels, steering, rolling)
    radius = float(np.mean([wheel.radius for wheel in wheels]))
    friction = own.contact.wheel_friction or (1.0 if len(left) == 1 else 0.4)
    grip = friction * mass * STANDARD_GRAVITY / len(wheels + rolling)
    drive, inertia = own.drive, mass * radius**2 / len(wheels)
    torque = drive.max_wheel_torque or _limit(urdf, wheels, "effort")
    velocity = drive.max_wheel_velocity or _limit(urdf, wheels, "velocity")
    if not velocity:
        raise _unlimited(path, "max_wheel_velocity [rad/s]")
    gain = drive.velocity_gain or 250.0 * inertia
    integral, motor = drive.velocity_integral_gain, drive.motor_inertia
    separation = (own.wheel_separation_multiplier or 1.0) * float(np.mean(tracks))
    half_track = own.turning_half_track or 0.5 * separation
    multipliers = (own.left_wheel_radius_multiplier, own.right_wheel_radius_multiplier)
    limits = RobotLimits(velocity, drive.max_wheel_acceleration or _RIM_ACCELERATION / radius)
    drivetrain: Drivetrain = DifferentialDrivetrain(
        radius, half_track, limits, multipliers, own.sideslip_time or 0.0
    )
    steered = steering and _steering_limits(urdf, steering, drive, path)
    with prefix_errors(f"{path}: "):
        motors = Motors(
            limits.max_wheel_velocity,
            limits.max_wheel_acceleration,
            torque or 2.0 * grip * radius,
            gain,
            20.0 * gain if integral is None else integral,
            gain / 1000.0 if motor is None else motor,
            drive.command_delay,
        )
        if steering:
            places = tuple(tuple((one.position - middle)[:2].tolist()) for one in steering)
            drivetrain = AckermannDrivetrain(
                radius, half_track, limits, multipliers, places, *steered
            )
    reach = [
        math.hypot(*(pose.position[:2] - middle[:2])) + urdf.reach(shape)
        for _, _, pose, shape in urdf.collisions()
    ]
    return RobotParameters(
        path=path,
        numbers={},
        wheel_joints=own.left_wheel + own.right_wheel,
        drivetrain=drivetrain,
        motors=motors,
        contact=replace(own.contact, wheel_friction=friction),
        imu_position=tuple(imu.position.tolist()),
        imu_orientation=tuple(imu.rotation.as_euler("xyz").tolist()),
        footprint_radius=max(reach),
        description=ElementTree.tostring(urdf.tree, encoding="unicode"),
        steering_joints=tuple(one.joint.get("name") for one in steering),
        rolling_joints=tuple(wheel.joint.get("name") for wheel in rolling),
        # A wheel's friction at its rim moves it by half a degree.
        steering_gain=grip * radius / _STEERING_GIVES,
    )


def _unlimited(path, key) -> ConfigurationError:
    return ConfigurationError(
        f"{path}: drive lacks the key {key}, which the description's joints do not limit either."
    )


def _turning_joint(urdf, name, direction, what) -> Any:
    """Return a joint that turns about an axis of the robot, 1 for y, 2 for z, positively."""
    if name not in urdf.joints:
        raise urdf.fault(f"there is no joint {name}; there are {', '.join(urdf.joints)}")
    joint = urdf.joints[name]
    if joint.get("type") not in _TURNING:
        expected = "continuous" + (" or revolute, to steer" if direction == 2 else ", for a wheel")
        raise urdf.fault(f"joint {name} is {joint.get('type')}, expected {expected}")
    link = urdf.child(joint)
    axis = urdf.numbers(joint.find("axis"), "xyz", 3, "1 0 0")
    along = urdf.pose(link).rotation.apply(axis / (np.linalg.norm(axis) or 1.0))[direction]
    if abs(along) < 0.999:
        raise urdf.fault(f"joint {name} does not turn about {what}")
    if along < 0.0:
        # Of one that is mounted the other way round; forward, and to the left, is positive here.
        element = joint.find("axis")
        element = ElementTree.SubElement(joint, "axis") if element is None else element
        element.set("xyz", " ".join(repr(float(-value)) for value in axis))
    if urdf.links[link].find("inertial") is None:
        role = "which is steered" if direction == 2 else "a wheel"
        raise urdf.fault(f"link {link}, {role}, has no inertial, which a moving part needs")
    return joint


def _wheel(urdf, name, radius) -> _Part:
    joint = _turning_joint(urdf, name, 1, "y, across the robot, as a wheel does")
    link = urdf.child(joint)
    shapes = [shape for owner, _, _, shape in urdf.collisions() if owner == link]
    if radius is None:
        found = [s for s in shapes if s is not None and s.tag in ("cylinder", "sphere")]
        if not found:
            what = "no cylinder or sphere as its collision"
            raise urdf.fault(f"link {link} has {what}; say wheel_radius")
        radius = float(urdf.numbers(found[0], "radius", 1)[0])
    return _Part(joint, link, urdf.pose(link).position, radius)


def _steering(urdf, name, driven, radius) -> _Part:
    """Return a joint that steers, with the wheels that turn on it."""
    joint = _turning_joint(urdf, name, 2, "z, upwards, as what steers does")
    link = urdf.child(joint)
    turning = [
        other
        for other, one in urdf.joints.items()
        if other != name and one.get("type") in _TURNING
        if link in urdf.ancestors(urdf.child(one))
    ]
    if not turning:
        raise urdf.fault(f"no wheel turns on link {link}, which joint {name} steers")
    for wheel in driven:
        if wheel.joint.get("name") in turning:
            raise urdf.fault(f"joint {wheel.joint.get('name')} drives a wheel that {name} steers, "
                             "expected driven wheels that are not steered")  # fmt: skip
    wheels = [_wheel(urdf, other, radius) for other in turning]
    return _Part(joint, link, urdf.pose(link).position, wheels=wheels)


def _steering_limits(urdf, steering, drive, path) -> tuple[float, float]:
    """Return how far, and how fast, all steering joints can turn [rad, rad/s]."""
    lower, upper = (_numbers_of_limits(urdf, steering, key) for key in ("lower", "upper"))
    angles = [min(-low, high) for low, high in zip(lower, upper) if low or high]
    if min(angles, default=1.0) <= 0.0:
        raise urdf.fault("the limits of a joint that steers let it do so to one side only")
    if drive.max_steering_angle is not None:
        angles.append(drive.max_steering_angle)
    if not angles:
        raise _unlimited(path, "max_steering_angle [rad]")
    rate = drive.max_steering_rate or _limit(urdf, steering, "velocity")
    if not rate:
        raise _unlimited(path, "max_steering_rate [rad/s]")
    return min(angles), rate


def _place_imu(urdf, imu: OwnImu, middle, path) -> Pose:
    """Have a link imu_link where the IMU is; return where that is in base_footprint."""
    footprint = Pose(Rotation.identity(), middle)
    link = imu.link or IMU_FRAME
    if link in urdf.links:
        place = footprint.inverse() * urdf.pose(link)
    elif imu.link or imu.position is None:
        like = [name for name in urdf.links if "imu" in name.lower()]
        has = f"it has {', '.join(like)}" if like else "say imu.position instead"
        raise ConfigurationError(f"{path}: the description has no link {link} for the IMU; {has}.")
    else:
        place = Pose(Rotation.identity(), np.zeros(3))
    if imu.position is not None:
        place = place._replace(position=np.array(imu.position))
    if imu.orientation is not None:
        place = place._replace(rotation=Rotation.from_euler("xyz", imu.orientation))
    tilt = math.acos(min(1.0, float(place.rotation.as_matrix()[2, 2])))
    if tilt > _MOST_TILTED:
        raise ConfigurationError(
            f"{path}: the IMU at link {link} leans by {math.degrees(tilt):.0f} deg, so that its "
            "yaw is no heading; if its driver turns its axes upright, say so by imu.orientation: "
            "[0, 0, 0]."
        )
    if link != IMU_FRAME or imu.position is not None or imu.orientation is not None:
        if IMU_FRAME in urdf.links:
            urdf.rename(IMU_FRAME)
        urdf.add(IMU_FRAME, urdf.root, IMU_FRAME, footprint * place)
    return place


def _place_footprint(urdf, middle) -> None:
    """Have base_footprint as the root, on the ground below the middle of the wheels."""
    if urdf.root == ROBOT_FRAME and np.abs(middle).max() < _SAME_PLACE:
        return
    if ROBOT_FRAME in urdf.links:
        urdf.rename(ROBOT_FRAME)
    urdf.add(ROBOT_FRAME, ROBOT_FRAME, urdf.root, Pose(Rotation.identity(), -middle))
    urdf.poses[ROBOT_FRAME] = Pose(Rotation.identity(), middle)
    urdf.root = ROBOT_FRAME


def _only_wheels_turn(urdf, driven, steering, rolling) -> float:
    """Hold all other joints, let wheels touch as spheres; return the robot's mass [kg]."""
    for joint in urdf.joints.values():
        joint.set("type", "fixed")
        for other in [*joint.findall("mimic"), *joint.findall("safety_controller")]:
            joint.remove(other)
    # In their order at the root, so that they are the model's degrees of freedom in that order.
    moving = [(urdf.root, one) for one in (*driven, *steering)]
    moving += [(one.link, wheel) for one in steering for wheel in one.wheels]
    for parent, one in moving:
        pose = urdf.pose(parent).inverse() * urdf.pose(urdf.child(one.joint))
        one.joint.set("type", "continuous")
        urdf.hang(one.joint, parent, pose)
    radii = {wheel.link: wheel.radius for wheel in (*driven, *rolling)}
    for name, collision, _, shape in [*urdf.collisions()]:
        # Meshes are far from the ground, as a rule, and often in formats of other programs.
        if name in radii or shape is None or shape.tag not in ("box", "cylinder", "sphere"):
            urdf.links[name].remove(collision)
    for name, radius in radii.items():
        collision = ElementTree.SubElement(urdf.links[name], "collision", name=f"{name}_contact")
        ElementTree.SubElement(
            ElementTree.SubElement(collision, "geometry"), "sphere", radius=repr(radius)
        )
    found = urdf.tree.iterfind("link/inertial/mass")
    masses = [float(urdf.numbers(one, "value", 1)[0]) for one in found]
    if not sum(masses) > 0.0:
        raise urdf.fault("its links have no mass")
    return sum(masses)


def _numbers_of_limits(urdf, parts, key) -> list[float]:
    return [float(urdf.numbers(part.joint.find("limit"), key, 1, "0")[0]) for part in parts]


def _limit(urdf, wheels, key) -> float | None:
    """Return the least of the wheels' limits; None where a joint says none."""
    found = _numbers_of_limits(urdf, wheels, key)
    return min(found) if min(found) > 0.0 else None


def _require_inertia(urdf, parameters) -> None:
    """Refuse what Gazebo cannot move, or forgets: a part that turns, or all the rest, without."""

    def has_inertia(link) -> bool:
        mass, inertia = (urdf.links[link].find(f"inertial/{tag}") for tag in ("mass", "inertia"))
        needed = [(mass, "value"), (inertia, "ixx"), (inertia, "iyy"), (inertia, "izz")]
        return all(urdf.numbers(element, key, 1, "0")[0] > 0.0 for element, key in needed)

    turning = {urdf.child(urdf.joints[name]) for name in parameters.joints}
    needs = "as Gazebo needs"
    for link in sorted(turning):
        if not has_inertia(link):
            raise urdf.fault(f"link {link} turns, and its mass or inertia is not above 0, {needs}")
    if not any(has_inertia(link) for link in set(urdf.links) - turning):
        raise urdf.fault(f"no link but its wheels has a mass and an inertia above 0, {needs}")
