"""A gimbal as plain keys and values, as in its YAML file."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any, Mapping

from imu_simulation_framework.checked_values import check_keys
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.gimbal.geometry import GimbalGeometry
from imu_simulation_framework.gimbal.joints import JOINTS
from imu_simulation_framework.gimbal.profiles import (
    FixedJoints,
    SinusoidalJoints,
    TabulatedJoints,
)
from imu_simulation_framework.gimbal.specification import GimbalSpecification
from imu_simulation_framework.gimbal.stabilisation.settings import (
    HeldAttitude,
    PointAhead,
    PointOnEarth,
    Stabilisation,
)
from imu_simulation_framework.sentences import shown

_ARMS = [field.name for field in fields(GimbalGeometry)]
_DRIVES = ("fixed", "sinusoid", "table", "stabilisation")
_TARGETS = ("hold", "point")
_LOOP = [field.name for field in fields(Stabilisation) if field.name != "target"]


def gimbal_from_mapping(content: Mapping[str, Any]) -> GimbalSpecification:
    """Return the gimbal that keys and values describe; what is left out has its default.

    Parameters
    ----------
    content : mapping
        Fields of :class:`.GimbalGeometry`, ``name``, ``limits`` (``pan``, ``tilt``, ``roll``: pairs
        of angles), and one of ``fixed`` (angles), ``sinusoid`` (fields of
        :class:`.SinusoidalJoints`), ``table`` (a :class:`.TabulatedJoints`, or its fields) and
        ``stabilisation`` (fields of :class:`.Stabilisation`; its target is ``hold`` with fields of
        :class:`.HeldAttitude` or ``point`` with those of :class:`.PointAhead` or
        :class:`.PointOnEarth`).

    Raises
    ------
    ConfigurationError
        A key is unknown, or a value is not what it must be.
    """
    check_keys(content, ["name", *_ARMS, "limits", *_DRIVES], "the gimbal")
    values: dict[str, Any] = {"name": content["name"]} if "name" in content else {}
    values["geometry"] = GimbalGeometry(**{key: content[key] for key in _ARMS if key in content})
    given = [key for key in _DRIVES if key in content]
    if len(given) > 1:
        raise ConfigurationError(
            f"the gimbal has {' and '.join(given)}, but only one of them can move it."
        )
    for key in given:
        values["drive"] = _drive(key, content[key])
    if "limits" in content:
        check_keys(content["limits"], JOINTS, "limits")
        values["limits"] = tuple(content["limits"].get(joint) for joint in JOINTS)
    return GimbalSpecification(**values)


def gimbal_to_mapping(gimbal: GimbalSpecification) -> dict[str, Any]:
    """Return keys and values that give the gimbal again; what is at its default is left out.

    Only dictionaries, lists, texts and float, so that it can be YAML or JSON.
    """
    content: dict[str, Any] = {"name": gimbal.name, **_changed(gimbal.geometry)}
    drive = gimbal.drive
    if isinstance(drive, SinusoidalJoints):
        content["sinusoid"] = _changed(drive)
    elif isinstance(drive, TabulatedJoints):
        content["table"] = {
            "times": list(drive.times),
            "angles": [list(row) for row in drive.angles],
            "source": drive.source,
        }
    elif isinstance(drive, Stabilisation):
        kind = "hold" if isinstance(drive.target, HeldAttitude) else "point"
        loop = _changed(drive)
        loop.pop("target", None)
        every = [field.name for field in fields(drive.target)]
        aim = {name: getattr(drive.target, name) for name in every}
        content["stabilisation"] = {kind: aim, **loop}
    elif any(drive.angles):
        content["fixed"] = list(drive.angles)
    default = GimbalSpecification().limits
    limits = {
        joint: [value if math.isfinite(value) else None for value in pair]
        for joint, pair, usual in zip(JOINTS, gimbal.limits, default)
        if pair != usual
    }
    if limits:
        content["limits"] = limits
    return content


def _changed(part) -> dict[str, Any]:
    """Return the fields of a part that are not at their defaults."""
    return {
        field.name: list(value) if isinstance(value, tuple) else value
        for field in fields(part)
        for value in [getattr(part, field.name)]
        if value != field.default
    }


def _drive(key, content):
    if key == "fixed":
        try:
            return FixedJoints(content)
        except ConfigurationError as error:
            raise ConfigurationError(f"fixed: {error}") from None
    if key == "sinusoid":
        return _made(SinusoidalJoints, content, key)
    if key == "table":
        return content if isinstance(content, TabulatedJoints) else _table(content)
    check_keys(content, [*_TARGETS, *_LOOP], key)
    loop = {name: value for name, value in content.items() if name not in _TARGETS}
    aims = [name for name in _TARGETS if name in content]
    if len(aims) > 1:
        raise ConfigurationError(f"{key} has both hold and point, but it can have only one target.")
    for name in aims:
        loop["target"] = _target(name, content[name])
    try:
        return Stabilisation(**loop)
    except ConfigurationError as error:
        raise ConfigurationError(f"{key}.{error}") from None


def _table(content):
    check_keys(content, [field.name for field in fields(TabulatedJoints)], "table")
    for name in ("times", "angles"):
        if not isinstance(content.get(name), list):
            raise ConfigurationError(
                f"table.{name} is {shown(content.get(name))}, but it must be a list."
            )
    return _made(TabulatedJoints, content, "table")


def _target(name, content):
    where = f"stabilisation.{name}"
    if name == "hold":
        return _made(HeldAttitude, {} if content is None else content, where)
    on_earth = isinstance(content, Mapping) and any(
        field.name in content for field in fields(PointOnEarth)
    )
    return _made(PointOnEarth if on_earth else PointAhead, content, where)


def _made(kind, content, where):
    check_keys(content, [field.name for field in fields(kind)], where)
    try:
        return kind(**content)
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}.{error}") from None
