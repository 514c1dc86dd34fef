"""Whoever types isf. sees what each thing takes and what it gives."""

import ast
import importlib
import inspect
import re
from operator import attrgetter
from pathlib import Path

import pytest

import imu_simulation_framework as isf

# In a workspace the module's own file is catkin's, which leads to this one.
SOURCE = Path(__file__).resolve().parents[2] / "src" / isf.__name__


def _functions(thing):
    """Return the functions of a public name by their names: itself, or a class's own methods."""
    if inspect.isfunction(thing):
        return {thing.__name__: thing}
    found = {}
    for owner in thing.__mro__ if inspect.isclass(thing) else ():
        ours = vars(owner) if owner.__module__.startswith(isf.__name__) else {}
        for name, member in ours.items():
            # Of properties, cached ones, and methods of the class.
            for inside in ("fget", "func", "__func__"):
                member = getattr(member, inside, member)
            if inspect.isfunction(member) and not name.startswith("_"):
                found.setdefault(f"{owner.__name__}.{name}", member)
    return found


def _unsaid(function):
    """Return the parameters without a type, and ``return`` if what is given back has none."""
    signature = inspect.signature(function)
    unsaid = [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.annotation is parameter.empty and parameter.name not in ("self", "cls")
    ]
    return unsaid + ["return"] * (signature.return_annotation is signature.empty)


def _names():
    """Return the public names, as in ``isf.judge`` and ``isf.sensors.draw_unit``."""
    packages = [name for name in isf.__all__ if inspect.ismodule(getattr(isf, name))]
    inside = {f"{name}.{one}" for name in packages for one in getattr(isf, name).__all__}
    return sorted({*isf.__all__, *inside} - {"__version__", *packages})


@pytest.mark.parametrize("name", _names())
def test_types_at_the_front_door_are_complete(name):
    functions = _functions(attrgetter(name)(isf))
    gaps = {where: _unsaid(function) for where, function in functions.items()}
    assert not any(gaps.values()), gaps


NOT_YET = {
    f"{isf.__name__}.{name}"
    for name in (
        "flight.jsbsim", "flight.udp", "heading.model.model", "heading.model.of_imu",
        "motion.earth_motion", "motion.motion", "sensors.operation", "sensors.simulation",
    )
}  # fmt: skip
"""Modules whose private functions have no types."""


def test_bodies_behind_the_front_door_are_checked():
    settings = (SOURCE.parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    strict = set(re.findall(rf'^    "({isf.__name__}[\w.]+)",$', settings, re.MULTILINE))
    offered = {getattr(attrgetter(name)(isf), "__module__", isf.__name__) for name in _names()}
    ours = {module for module in offered if module.startswith(f"{isf.__name__}.")}
    assert len(ours) > 30 and ours <= strict | NOT_YET and not strict & NOT_YET
    # By which who checks types is told that there are some.
    assert (SOURCE / "py.typed").is_file()


@pytest.mark.parametrize("stub", sorted(SOURCE.rglob("__init__.pyi")), ids=lambda p: p.parent.name)
def test_who_checks_types_sees_every_name_at_its_home(stub):
    inside = "." + ".".join(stub.parent.relative_to(SOURCE).parts)
    package = importlib.import_module(f"{isf.__name__}{inside}".rstrip("."))
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        for alias in node.names if isinstance(node, ast.ImportFrom) and node.module else ():
            home = importlib.import_module(f"{package.__name__}.{node.module}")
            assert alias.asname in package.__all__
            assert getattr(package, alias.asname) is getattr(home, alias.name)
