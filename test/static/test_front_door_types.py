"""Whoever types isf. sees what each thing takes and what it gives."""

import inspect
from functools import cached_property

import pytest

import imu_simulation_framework as isf


def _functions(thing):
    """Return the functions of a public name by their names: itself, or a class's own methods."""
    if inspect.isfunction(thing):
        return {thing.__name__: thing}
    if not inspect.isclass(thing):
        return {}
    found = {}
    for owner in thing.__mro__:
        if not owner.__module__.startswith(isf.__name__):
            continue
        for name, member in vars(owner).items():
            if isinstance(member, property):
                member = member.fget
            elif isinstance(member, cached_property):
                member = member.func
            elif isinstance(member, (classmethod, staticmethod)):
                member = member.__func__
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


@pytest.mark.parametrize("name", sorted(set(isf.__all__) - {"__version__"}))
def test_types_at_the_front_door_are_complete(name):
    functions = _functions(getattr(isf, name))
    gaps = {where: _unsaid(function) for where, function in functions.items()}
    assert not any(gaps.values()), gaps


def test_what_has_no_type_is_found():
    class Incomplete:
        __module__ = isf.__name__

        def method(self, known: int, unknown) -> None: ...

        @property
        def value(self): ...

    found = {where: _unsaid(f) for where, f in _functions(Incomplete).items()}
    assert found == {"Incomplete.method": ["unknown"], "Incomplete.value": ["return"]}
