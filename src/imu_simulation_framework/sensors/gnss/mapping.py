"""A GNSS receiver as plain keys and values, as in its YAML file."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Mapping

from imu_simulation_framework.checked_values import checked_fields
from imu_simulation_framework.sensors.gnss.specification import (
    LISTS,
    PARTS,
    FixQuality,
    GnssSpecification,
    QualityChange,
)


def gnss_from_mapping(content: Mapping[str, Any]) -> GnssSpecification:
    """Return the receiver that keys and values describe; what is left out has its default.

    Parameters
    ----------
    content : mapping
        Fields of :class:`.GnssSpecification`; ``outages``, ``heading`` and ``origin`` are
        mappings in turn, ``qualities`` and ``changes`` lists of such.

    Raises
    ------
    ConfigurationError
        A key is unknown, or a value is not what it must be.
    """
    values = checked_fields(GnssSpecification, content, "the receiver", PARTS, LISTS)
    return GnssSpecification(**values)


def gnss_to_mapping(gnss: GnssSpecification) -> dict[str, Any]:
    """Return keys and values that give the receiver again; what is at its default is left out.

    Only dictionaries, lists, texts and float, so that it can be YAML or JSON.
    """
    content: dict[str, Any] = {"name": gnss.name}
    for field in fields(gnss):
        value = getattr(gnss, field.name)
        if value != field.default:
            content[field.name] = _plain(value)
    return content


def _plain(value):
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if not isinstance(value, (*PARTS.values(), *LISTS.values())):
        return value
    always = {QualityChange: ("before", "after"), FixQuality: ("quality",)}.get(type(value), ())
    return {
        field.name: _plain(getattr(value, field.name))
        for field in fields(value)
        if field.name in always or getattr(value, field.name) != field.default
    }
