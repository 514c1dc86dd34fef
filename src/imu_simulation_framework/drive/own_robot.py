"""A robot with a description of its own: its URDF, made ready to be driven in MuJoCo.

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
from typing import Any, Iterator, Mapping, NamedTuple, Sequence
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from ..core.errors import ConfigurationError, FrameworkError, beginning
from ..core.files import (
    XML_LIMIT,
    UnusableXmlError,
    open_regular,
    read_at_most,
    require_bounded_xml,
)
from ..core.programs import Apart
from ..core.sentences import shown
from ..core.settings import (
    LARGEST_NUMBER,
    Settings,
    checked_list,
    checked_numbers,
    checked_text,
    declared,
    from_mapping,
)
from ..core.topics import IMU_FRAME, ROBOT_FRAME
from ..core.units import STANDARD_GRAVITY
from ..core.whole_files import reason_of
from .drivetrain import AckermannDrivetrain, DifferentialDrivetrain, Drivetrain, RobotLimits
from .robot import LONGEST_DELAY, Contact, Motors, RobotParameters
from .xacro_expansion import is_plain_urdf, package_beside

_POSITIVE: dict[str, Any] = {"above": 0.0, "maximum": 1e9}
_LENGTH: dict[str, Any] = {"minimum": 1e-3, "maximum": 1e3}  # m
_MULTIPLIER: dict[str, Any] = {"minimum": 0.1, "maximum": 10.0}
MAX_LINKS = 1000  # a humanoid with hands has 150; MuJoCo's time grows with their square
SMALLEST_NUMBER = 1e-30
_RIM_ACCELERATION = 4.0  # m/s^2
_SAME_PLACE = 1e-4  # m
_TURNING = ("continuous", "revolute")  # types of joints
_MOST_TILTED = math.radians(20.0)
_STEERING_GIVES = math.radians(0.5)


def _checked_names(name: str, value: Any) -> tuple[str, ...]:
    names = checked_list(name, value, 8)
    joints = tuple(checked_text(name, joint, needed=True) for joint in names)
    if not joints or len(set(joints)) < len(joints):
        raise ConfigurationError(f"{name} is {shown(value)}, expected a list of different joints.")
    return joints


def _checked_arguments(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"{name} is {shown(value)}, expected names and values.")
    return dict(value)


@dataclass(frozen=True)
class OwnImu(Settings):
    """Where the IMU is: a link, or a place and roll, pitch and yaw in base_footprint [m, rad]."""

    link: str = declared("", checked_text)
    position: tuple[float, ...] | None = declared(None, checked_numbers, count=3)
    orientation: tuple[float, ...] | None = declared(None, checked_numbers, count=3)


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

    description: str = declared(check=checked_text, needed=True)
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


class _Pose(NamedTuple):
    rotation: Rotation
    position: np.ndarray

    def __mul__(self, other):
        return _Pose(
            self.rotation * other.rotation, self.position + self.rotation.apply(other.position)
        )

    def inverse(self):
        back = self.rotation.inv()
        return _Pose(back, -back.apply(self.position))


class Description:
    """A URDF's links and joints, and where they are when all joints are at zero."""

    def __init__(self, text: str, path: Path) -> None:
        self.path = path
        self._place = ""  # of what is checked, to begin a sentence with
        try:
            self.tree = ElementTree.fromstring(text)
        except ElementTree.ParseError as error:
            raise self.fault(f"it is no well-formed XML: {error}") from None
        if self.tree.tag != "robot":
            raise self.fault(f"its root is <{self.tree.tag}>, expected <robot>, as of a URDF")
        # MuJoCo's own settings, which its viewer reads, are set by :mod:`.mujoco`.
        for element in self.tree.findall("mujoco"):
            self.tree.remove(element)
        self.links, self.joints = self._named("link"), self._named("joint")
        if len(self.links) > MAX_LINKS:
            raise self.fault(f"it has {len(self.links)} links, expected at most {MAX_LINKS}")
        self._check_numbers()
        self.above = {self.child(joint): joint for joint in self.joints.values()}
        roots = [name for name in self.links if name not in self.above]
        if len(roots) != 1:
            raise self.fault(f"it has the root links {shown(roots)}, expected a single one")
        (self.root,) = roots
        self.poses = {self.root: _Pose(Rotation.identity(), np.zeros(3))}

    def fault(self, reason: str) -> ConfigurationError:
        return ConfigurationError(f"{self.path}: {self._place}{reason}.")

    def _name(self, element) -> str:
        return element.get("name", "")

    def _named(self, tag) -> dict[str, Any]:
        elements = self.tree.findall(tag)
        named = {self._name(element): element for element in elements}
        if len(named) < len(elements):
            twice = next(one for one in map(self._name, elements) if named.pop(one, None) is None)
            raise self.fault(f"it has two {tag}s with the name {shown(twice)}")
        return named

    def child(self, joint) -> str:
        return self._end(joint, "child")

    def _end(self, joint, end) -> str:
        found = joint.find(end)
        link = "" if found is None else found.get("link", "")
        if link not in self.links:
            raise self.fault(f"joint {self._name(joint)} has the {end} link {shown(link)}, a link "
                             "that is not there")  # fmt: skip
        return link

    def numbers(self, element, key: str, count: int, default: str = "") -> np.ndarray:
        text = default if element is None else element.get(key, default)
        try:
            found = np.array([float(word) for word in text.split()])
        except ValueError:
            found = np.empty(0)
        # Python reads 1_0 as 10; what is no zero and below the smallest number loses its digits.
        usual = (found == 0.0) | (np.abs(found) > SMALLEST_NUMBER)
        within = np.all(np.abs(found) < LARGEST_NUMBER) and np.all(usual) and "_" not in text
        if len(found) != count or not within:
            tag = element.tag if element is not None else "it"
            expected = "a finite number" if count == 1 else f"{count} finite numbers"
            raise self.fault(f"{key} of {tag} is {shown(text)}, expected {expected}")
        return found

    def _check_numbers(self) -> None:
        """Refuse numbers of inertias and limits that no robot has, with their link or joint."""
        for name, link in self.links.items():
            self._place = f"link {name}: "
            inertials = link.findall("inertial")
            if len(inertials) > 1:
                raise self.fault(f"has {len(inertials)} inertials, expected one")
            for inertial in inertials:
                self._check_inertial(inertial)
        for name, joint in self.joints.items():
            self._place = f"joint {name}: "
            for limit in joint.findall("limit"):
                for key in ("effort", "velocity"):
                    value = float(self.numbers(limit, key, 1, "0")[0])
                    if value < 0.0:
                        raise self.fault(f"{key} of limit is {value:g}, expected 0 or more")
        self._place = ""

    def _check_inertial(self, inertial) -> None:
        self.origin(inertial)
        for mass in inertial.findall("mass"):
            value = float(self.numbers(mass, "value", 1)[0])
            if value < 0.0:
                raise self.fault(f"value of mass is {value:g} kg, expected 0 or more")
        for inertia in inertial.findall("inertia"):
            for key in inertia.attrib:
                self.numbers(inertia, key, 1)

    def origin(self, element) -> _Pose:
        origin = element.find("origin")
        xyz, rpy = (self.numbers(origin, key, 3, "0 0 0") for key in ("xyz", "rpy"))
        return _Pose(Rotation.from_euler("xyz", rpy), xyz)

    def ancestors(self, link: str) -> list[str]:
        """Return the links that this one hangs on, from its parent to the root."""
        self.pose(link)  # which refuses a chain that closes
        found = []
        while link in self.above:
            link = self._end(self.above[link], "parent")
            found.append(link)
        return found

    def pose(self, link: str) -> _Pose:
        """Return where a link is in the root link. A chain that closes has no root."""
        way = []
        while link not in self.poses:
            if link in way:
                raise self.fault(f"link {link} is its own parent")
            way.append(link)
            link = self._end(self.above[link], "parent")
        pose = self.poses[link]
        for one in reversed(way):
            pose = self.poses[one] = pose * self.origin(self.above[one])
        return pose

    def rename(self, link: str) -> None:
        """Give a link another name, since one of ours has to have it."""
        new = f"{link}_of_the_description"
        while new in self.links:
            new += "_"
        self.links[link].set("name", new)
        tables: tuple[dict[str, Any], ...] = (self.links, self.above, self.poses)
        for table in tables:
            if link in table:
                table[new] = table.pop(link)
        self.root = new if link == self.root else self.root
        for end in self.tree.iter():
            for key in ("link", "reference"):
                if end.get(key) == link:
                    end.set(key, new)

    def add(self, link: str, parent: str, child: str, pose: _Pose) -> None:
        """Add a link without mass, and a fixed joint between it and another."""
        self.links[link] = ElementTree.SubElement(self.tree, "link", name=link)
        name = f"{link}_joint"
        name += "_" if name in self.joints else ""
        joint = ElementTree.SubElement(self.tree, "joint", name=name, type="fixed")
        ElementTree.SubElement(joint, "child", link=child)
        self.hang(joint, parent, pose)

    def hang(self, joint, parent: str, pose: _Pose) -> None:
        """Give a joint this parent and place there, and make it the last of all joints."""
        for tag in ("parent", "origin"):
            for element in joint.findall(tag):
                joint.remove(element)
        ElementTree.SubElement(joint, "parent", link=parent)
        rpy = pose.rotation.as_euler("xyz")
        texts = (" ".join(map(repr, map(float, numbers))) for numbers in (pose.position, rpy))
        ElementTree.SubElement(joint, "origin", dict(zip(("xyz", "rpy"), texts)))
        if joint in list(self.tree):
            self.tree.remove(joint)
        self.tree.append(joint)

    def collisions(self) -> Iterator[tuple[str, Any, _Pose, Any]]:
        """Give each link with each of its collision elements, where it is and its shape."""
        for name, link in self.links.items():
            for collision in link.findall("collision"):
                geometry = collision.find("geometry")
                shape = None if geometry is None or not len(geometry) else geometry[0]
                yield name, collision, self.pose(name) * self.origin(collision), shape

    def reach(self, shape) -> float:
        """Return how far a shape reaches from its middle [m]."""
        if shape.tag == "box":
            return 0.5 * float(np.linalg.norm(self.numbers(shape, "size", 3)))
        length = float(self.numbers(shape, "length", 1, "0")[0])
        return math.hypot(float(self.numbers(shape, "radius", 1)[0]), 0.5 * length)


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
    where it turns: in MuJoCo it is tried how. Raises ConfigurationError: a key or the description
    is not what it must be, or MuJoCo refuses it.
    """
    with beginning(f"{path}: "):
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
    text = _expanded(file, own.arguments)
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
    turns = own.turning_half_track or own.wheel_separation_multiplier
    if simulator == "mujoco" and not turns and skids:
        return _turning_as_in_mujoco(parameters, own.sideslip_time)
    return parameters


_EXPANDER = ("imu_simulation_framework.drive.xacro_expansion", "XacroExpander")


def _expanded(file: Path, arguments: Mapping[str, Any]) -> str:
    """Return the URDF of a description, which may be a xacro file.

    Raises ConfigurationError: it cannot be read or expanded within the limits.
    """
    try:
        with open_regular(file) as opened:
            content = read_at_most(opened, XML_LIMIT)
        require_bounded_xml(content)
        if is_plain_urdf(content):
            return content.decode("utf-8")
    except (OSError, UnicodeDecodeError, UnusableXmlError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else error
        raise ConfigurationError(
            f"{file}: the robot's description cannot be read: {reason}."
        ) from None
    with Apart(*_EXPANDER, f"{file}: its expansion") as apart:
        try:
            return apart.call("expand", str(file.resolve()), dict(arguments))
        except FrameworkError as error:
            raise ConfigurationError(str(error)) from None


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
            place = package_beside(urdf.path, name)
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
    with beginning(f"{path}: "):
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


def _place_imu(urdf, imu: OwnImu, middle, path) -> _Pose:
    """Have a link imu_link where the IMU is; return where that is in base_footprint."""
    footprint = _Pose(Rotation.identity(), middle)
    link = imu.link or IMU_FRAME
    if link in urdf.links:
        place = footprint.inverse() * urdf.pose(link)
    elif imu.link or imu.position is None:
        like = [name for name in urdf.links if "imu" in name.lower()]
        has = f"it has {', '.join(like)}" if like else "say imu.position instead"
        raise ConfigurationError(f"{path}: the description has no link {link} for the IMU; {has}.")
    else:
        place = _Pose(Rotation.identity(), np.zeros(3))
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
    urdf.add(ROBOT_FRAME, ROBOT_FRAME, urdf.root, _Pose(Rotation.identity(), -middle))
    urdf.poses[ROBOT_FRAME] = _Pose(Rotation.identity(), middle)
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


_SPEED = 0.5  # m/s, at which turns are tried
_YAW_RATES = (0.2, 0.4, 0.8)  # rad/s, as which they are commanded


def _turning_as_in_mujoco(
    parameters: RobotParameters, sideslip_time: float | None
) -> RobotParameters:
    """Return the parameters with the half track that fits three turns by least squares.

    The sideslip grows faster than the yaw rate; its time is that of the turn between the others,
    since one that hardly turns tells nothing.
    """
    # Imported here, as MuJoCo's robot is made of parameters in turn.
    from .mujoco import MujocoSimulator

    simulator, drivetrain = MujocoSimulator(parameters), parameters.drivetrain
    assert isinstance(drivetrain, DifferentialDrivetrain)
    speed = min(_SPEED, 0.5 * drivetrain.rim_velocity)
    turns = []
    for yaw_rate in _YAW_RATES:
        simulator.reset()
        simulator.command(*drivetrain.inverse(speed, yaw_rate))
        states = simulator.steps(400)
        v_x, v_y, _ = states.linear_velocity[100:].mean(axis=0)
        turns.append((float(states.angular_velocity[100:, 2].mean()), -math.atan2(v_y, v_x)))
    rates, sideslips = zip(*turns)
    if min(rates) <= 0.0:
        raise ConfigurationError(
            f"{parameters.path}: the robot does not turn in MuJoCo when its wheels do; say "
            "turning_half_track, or contact.wheel_friction as it is."
        )
    more = float(np.dot(_YAW_RATES, rates) / np.dot(rates, rates))
    if sideslip_time is None:
        sideslip_time = float(np.clip(np.median(np.divide(sideslips, rates)), -1.0, 1.0))
    half_track = more * drivetrain.half_track
    turning = replace(drivetrain, half_track=half_track, sideslip_time=sideslip_time)
    return replace(parameters, drivetrain=turning)
