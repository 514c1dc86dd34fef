"""The links and joints of a URDF, checked and changed as an element tree."""

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

MAX_LINKS = 1000  # a humanoid with hands has 150; MuJoCo's time grows with their square
SMALLEST_NUMBER = 1e-30  # below it, digits are lost


class Pose(NamedTuple):
    rotation: Rotation
    position: np.ndarray

    def __mul__(self, other):
        return Pose(
            self.rotation * other.rotation, self.position + self.rotation.apply(other.position)
        )

    def inverse(self):
        back = self.rotation.inv()
        return Pose(back, -back.apply(self.position))


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
            raise self.fault(f"it has the root links {quote(roots)}, expected a single one")
        (self.root,) = roots
        self.poses = {self.root: Pose(Rotation.identity(), np.zeros(3))}

    def fault(self, reason: str) -> ConfigurationError:
        return ConfigurationError(f"{self.path}: {self._place}{reason}.")

    def _name(self, element) -> str:
        return element.get("name", "")

    def _named(self, tag) -> dict[str, Any]:
        elements = self.tree.findall(tag)
        named = {self._name(element): element for element in elements}
        if len(named) < len(elements):
            twice = next(one for one in map(self._name, elements) if named.pop(one, None) is None)
            raise self.fault(f"it has two {tag}s with the name {quote(twice)}")
        return named

    def child(self, joint) -> str:
        return self._end(joint, "child")

    def _end(self, joint, end) -> str:
        found = joint.find(end)
        link = "" if found is None else found.get("link", "")
        if link not in self.links:
            raise self.fault(f"joint {self._name(joint)} has the {end} link {quote(link)}, a link "
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
            raise self.fault(f"{key} of {tag} is {quote(text)}, expected {expected}")
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

    def origin(self, element) -> Pose:
        origin = element.find("origin")
        xyz, rpy = (self.numbers(origin, key, 3, "0 0 0") for key in ("xyz", "rpy"))
        return Pose(Rotation.from_euler("xyz", rpy), xyz)

    def ancestors(self, link: str) -> list[str]:
        """Return the links that this one hangs on, from its parent to the root."""
        self.pose(link)  # which refuses a chain that closes
        found = []
        while link in self.above:
            link = self._end(self.above[link], "parent")
            found.append(link)
        return found

    def pose(self, link: str) -> Pose:
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

    def add(self, link: str, parent: str, child: str, pose: Pose) -> None:
        """Add a link without mass, and a fixed joint between it and another."""
        self.links[link] = ElementTree.SubElement(self.tree, "link", name=link)
        name = f"{link}_joint"
        name += "_" if name in self.joints else ""
        joint = ElementTree.SubElement(self.tree, "joint", name=name, type="fixed")
        ElementTree.SubElement(joint, "child", link=child)
        self.hang(joint, parent, pose)

    def hang(self, joint, parent: str, pose: Pose) -> None:
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

    def collisions(self) -> Iterator[tuple[str, Any, Pose, Any]]:
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
