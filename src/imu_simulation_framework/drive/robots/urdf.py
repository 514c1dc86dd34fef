"""Reading, checking and modifying a URDF as an element tree."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Iterator, NamedTuple
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from ...core.checks import LARGEST_NUMBER
from ...core.errors import ConfigurationError
from ...core.sentences import quote

# A humanoid with hands has 150 links; MuJoCo's run time is quadratic in their number.
MAX_LINKS = 1000
SMALLEST_NUMBER = 1e-30  # smaller numbers lose precision


class Pose(NamedTuple):
    """Rotation and position of a link relative to a reference link.

    Attributes
    ----------
    rotation : scipy.spatial.transform.Rotation
        Rotation from the axes of the link to the axes of the reference link.
    position : ndarray, shape (3,)
        Origin of the link in the axes of the reference link [m].
    """

    rotation: Rotation
    position: np.ndarray

    def __mul__(self, other):
        return Pose(
            self.rotation * other.rotation, self.position + self.rotation.apply(other.position)
        )

    def inverse(self):
        """Return the inverse, the pose of the reference link relative to this link.

        Returns
        -------
        Pose
            Inverse pose.
        """
        back = self.rotation.inv()
        return Pose(back, -back.apply(self.position))


class Description:
    """Links and joints of a URDF, with their poses while all joints are at zero.

    Parameters
    ----------
    text : str
        Content of the URDF.
    path : Path
        Path of the description, for error messages.
    """

    def __init__(self, text: str, path: Path) -> None:
        self.path = path
        self._place = ""  # link or joint that is being checked, for error messages
        try:
            self.tree = ElementTree.fromstring(text)
        except ElementTree.ParseError as error:
            raise self.fault(f"it is not well-formed XML: {error}") from None
        if self.tree.tag != "robot":
            raise self.fault(f"its root is <{self.tree.tag}>, expected <robot>, the root of a URDF")
        # Settings for MuJoCo are set by :mod:`.mujoco`, not in the URDF.
        for element in self.tree.findall("mujoco"):
            self.tree.remove(element)
        self.links, self.joints = self._named("link"), self._named("joint")
        if len(self.links) > MAX_LINKS:
            raise self.fault(f"it has {len(self.links)} links, expected at most {MAX_LINKS}")
        self._check_numbers()
        self.above = {self.child(joint): joint for joint in self.joints.values()}
        roots = [name for name in self.links if name not in self.above]
        if len(roots) != 1:
            raise self.fault(f"it has the root links {quote(roots)}, expected a single root link")
        (self.root,) = roots
        self.poses = {self.root: Pose(Rotation.identity(), np.zeros(3))}

    def fault(self, reason: str) -> ConfigurationError:
        """Return an exception that reports an error in the URDF.

        Parameters
        ----------
        reason : str
            End of the message.

        Returns
        -------
        ConfigurationError
            Exception whose message begins with the path and the link or joint.
        """
        return ConfigurationError(f"{self.path}: {self._place}{reason}.")

    def _name(self, element) -> str:
        return element.get("name", "")

    def _named(self, tag) -> dict[str, Any]:
        elements = self.tree.findall(tag)
        named = {self._name(element): element for element in elements}
        if len(named) < len(elements):
            twice = next(
                name for name in map(self._name, elements) if named.pop(name, None) is None
            )
            raise self.fault(f"it has two {tag}s with the name {quote(twice)}")
        return named

    def child(self, joint) -> str:
        """Return the child link of a joint.

        Parameters
        ----------
        joint : xml.etree.ElementTree.Element
            Joint of the URDF.

        Returns
        -------
        str
            Name of the link.

        Raises
        ------
        ConfigurationError
            The joint has no child link, or the link does not exist.
        """
        return self._end(joint, "child")

    def _end(self, joint, end) -> str:
        element = joint.find(end)
        link = "" if element is None else element.get("link", "")
        if link not in self.links:
            raise self.fault(f"joint {self._name(joint)} has the {end} link {quote(link)}, which "
                             "does not exist")  # fmt: skip
        return link

    def numbers(self, element, key: str, count: int, default: str = "") -> np.ndarray:
        """Read the numbers in an attribute.

        Parameters
        ----------
        element : xml.etree.ElementTree.Element or None
            Element with the attribute.
        key : str
            Name of the attribute.
        count : int
            Required number of values.
        default : str, optional
            Text that is used if the attribute is missing.

        Returns
        -------
        ndarray, shape (count,)
            Numbers of the attribute.

        Raises
        ------
        ConfigurationError
            The text does not consist of the required numbers.
        """
        text = default if element is None else element.get(key, default)
        try:
            numbers = np.array([float(word) for word in text.split()])
        except ValueError:
            numbers = np.empty(0)
        # Underscores, as in 1_0, and very small numbers, which lose precision, are rejected.
        is_regular = (numbers == 0.0) | (np.abs(numbers) > SMALLEST_NUMBER)
        is_in_range = (
            np.all(np.abs(numbers) < LARGEST_NUMBER) and np.all(is_regular) and "_" not in text
        )
        if len(numbers) != count or not is_in_range:
            tag = element.tag if element is not None else "it"
            expected = "a finite number" if count == 1 else f"{count} finite numbers"
            raise self.fault(f"{key} of {tag} is {quote(text)}, expected {expected}")
        return numbers

    def _check_numbers(self) -> None:
        """Reject implausible inertias and limits; errors name the link or joint."""
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

    def origin(self, element) -> Pose:
        """Read the pose in an ``<origin>`` tag.

        Parameters
        ----------
        element : xml.etree.ElementTree.Element
            Element with the tag.

        Returns
        -------
        Pose
            Pose; identity if the tag is missing.
        """
        origin = element.find("origin")
        xyz, rpy = (self.numbers(origin, key, 3, "0 0 0") for key in ("xyz", "rpy"))
        return Pose(Rotation.from_euler("xyz", rpy), xyz)

    def ancestors(self, link: str) -> list[str]:
        """Return the ancestors of a link, from its parent to the root.

        Parameters
        ----------
        link : str
            Name of the link.

        Returns
        -------
        list of str
            Names of links.

        Raises
        ------
        ConfigurationError
            The link is its own ancestor.
        """
        self.pose(link)  # raises an error if the link is its own ancestor
        joints = []
        while link in self.above:
            link = self._end(self.above[link], "parent")
            joints.append(link)
        return joints

    def pose(self, link: str) -> Pose:
        """Return the pose of a link relative to the root link.

        Parameters
        ----------
        link : str
            Name of the link.

        Returns
        -------
        Pose
            Pose with all joints at zero.

        Raises
        ------
        ConfigurationError
            The link is its own ancestor.
        """
        chain = []
        while link not in self.poses:
            if link in chain:
                raise self.fault(f"link {link} is its own parent")
            chain.append(link)
            link = self._end(self.above[link], "parent")
        pose = self.poses[link]
        for part in reversed(chain):
            pose = self.poses[part] = pose * self.origin(self.above[part])
        return pose

    def rename(self, link: str) -> None:
        """Rename a link to make its name available for another link.

        Parameters
        ----------
        link : str
            Name of the link.
        """
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

    def add(self, link: str, parent: str, child: str, pose: Pose) -> None:
        """Add a massless link and a fixed joint.

        Parameters
        ----------
        link : str
            Name of the new link.
        parent, child : str
            Parent and child of the joint.
        pose : Pose
            Pose of the child relative to the parent.
        """
        self.links[link] = ElementTree.SubElement(self.tree, "link", name=link)
        name = f"{link}_joint"
        name += "_" if name in self.joints else ""
        joint = ElementTree.SubElement(self.tree, "joint", name=name, type="fixed")
        ElementTree.SubElement(joint, "child", link=child)
        self.hang(joint, parent, pose)

    def hang(self, joint, parent: str, pose: Pose) -> None:
        """Set the parent and the pose of a joint, and move it to the end of the joints.

        Parameters
        ----------
        joint : xml.etree.ElementTree.Element
            Joint of the URDF.
        parent : str
            Name of the parent link.
        pose : Pose
            Pose of the joint relative to the parent.
        """
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

    def collisions(self) -> Iterator[tuple[str, Any, Pose, Any]]:
        """Yield the collision elements of all links.

        Yields
        ------
        tuple of str, Element, Pose and Element or None
            Name of the link, element, pose relative to the root link, and shape.
        """
        for name, link in self.links.items():
            for collision in link.findall("collision"):
                geometry = collision.find("geometry")
                shape = None if geometry is None or not len(geometry) else geometry[0]
                yield name, collision, self.pose(name) * self.origin(collision), shape

    def reach(self, shape) -> float:
        """Return the largest distance of a shape's points from its centre.

        Parameters
        ----------
        shape : xml.etree.ElementTree.Element
            Element ``<box>``, ``<cylinder>`` or ``<sphere>``.

        Returns
        -------
        float
            Distance [m].
        """
        if shape.tag == "box":
            return 0.5 * float(np.linalg.norm(self.numbers(shape, "size", 3)))
        length = float(self.numbers(shape, "length", 1, "0")[0])
        return math.hypot(float(self.numbers(shape, "radius", 1)[0]), 0.5 * length)
