"""Type annotations of all public names, and the stubs of the packages."""

import ast
import importlib
import inspect
import re
from operator import attrgetter
from pathlib import Path

import pytest

import imu_simulation_framework as isf

# In a catkin workspace, the module's file is a relay written by catkin to this folder.
SOURCE = Path(__file__).resolve().parents[2] / "src" / isf.__name__


def _functions(public_object):
    """Return the function of a public name, or the methods of a class, by name."""
    if inspect.isfunction(public_object):
        return {public_object.__name__: public_object}
    functions = {}
    for owner in public_object.__mro__ if inspect.isclass(public_object) else ():
        members = vars(owner) if owner.__module__.startswith(isf.__name__) else {}
        for name, member in members.items():
            # Properties, cached properties and class methods wrap their function.
            for attribute in ("fget", "func", "__func__"):
                member = getattr(member, attribute, member)
            if inspect.isfunction(member) and not name.startswith("_"):
                functions.setdefault(f"{owner.__name__}.{name}", member)
    return functions


def _untyped(function):
    """Return the parameters without a type, and ``return`` for a return value without a type."""
    signature = inspect.signature(function)
    untyped = [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.annotation is parameter.empty and parameter.name not in ("self", "cls")
    ]
    return untyped + ["return"] * (signature.return_annotation is signature.empty)


def _names():
    """Return the public names, such as ``isf.judge`` and ``isf.sensors.draw_unit``."""
    packages = [name for name in isf.__all__ if inspect.ismodule(getattr(isf, name))]
    inside = {f"{name}.{item}" for name in packages for item in getattr(isf, name).__all__}
    return sorted({*isf.__all__, *inside} - {"__version__", *packages})


@pytest.mark.parametrize("name", _names())
def test_public_names_are_completely_typed(name):
    functions = _functions(attrgetter(name)(isf))
    gaps = {where: _untyped(function) for where, function in functions.items()}
    assert not any(gaps.values()), gaps


# Modules whose private functions have no type annotations.
UNTYPED_MODULES = {
    f"{isf.__name__}.{name}"
    for name in (
        "flight.jsbsim", "flight.udp", "heading.model.model", "heading.model.imu_error_sources",
        "motion.earth_motion", "motion.motion", "sensors.operation", "sensors.simulation",
    )
}  # fmt: skip


def test_modules_with_public_names_are_checked_strictly_by_mypy():
    settings = (SOURCE.parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    strict = set(re.findall(rf'^    "({isf.__name__}[\w.]+)",$', settings, re.MULTILINE))
    modules = {getattr(attrgetter(name)(isf), "__module__", isf.__name__) for name in _names()}
    own_modules = {module for module in modules if module.startswith(f"{isf.__name__}.")}
    assert (
        len(own_modules) > 30
        and own_modules <= strict | UNTYPED_MODULES
        and not strict & UNTYPED_MODULES
    )
    # The PEP 561 marker lets other projects use the types.
    assert (SOURCE / "py.typed").is_file()


@pytest.mark.parametrize("stub", sorted(SOURCE.rglob("__init__.pyi")), ids=lambda p: p.parent.name)
def test_stub_files_import_public_names_from_their_modules(stub):
    inside = "." + ".".join(stub.parent.relative_to(SOURCE).parts)
    package = importlib.import_module(f"{isf.__name__}{inside}".rstrip("."))
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        for alias in node.names if isinstance(node, ast.ImportFrom) and node.module else ():
            home = importlib.import_module(f"{package.__name__}.{node.module}")
            assert alias.asname in package.__all__
            assert getattr(package, alias.asname) is getattr(home, alias.name)
