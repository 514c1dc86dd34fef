"""Settings, versions and the like as rows of a table."""

from __future__ import annotations

from typing import Any, Iterator, Mapping

import numpy as np

from imu_simulation_framework.pages.page import Table

LONGEST = 300
"""Characters of a value; what is longer is cut."""


def facts(values: Mapping[str, Any], only_telling: bool = False) -> Table:
    """Return a table of names and values.

    Parameters
    ----------
    values : Mapping
        What is in mappings within it is named by its path, as ``imu/parameters/yaw_drift``.
    only_telling : bool
        Whether zeros and what is empty are left out.
    """
    rows = [
        (name, said(value))
        for name, value in _flat(values)
        if not only_telling or isinstance(value, np.ndarray) or value
    ]
    return Table(("", ""), rows)


def said(value) -> str:
    """Return a value as a person reads it."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, np.ndarray):
        return said(value.tolist())
    if isinstance(value, (list, tuple)):
        return _cut(", ".join(map(said, value)) or "none")
    if isinstance(value, Mapping):
        return _cut("; ".join(f"{name} {said(part)}" for name, part in value.items()) or "none")
    return _cut(str(value))


def number(value, digits=3) -> str:
    """Return a number with so many digits behind the point, or what stands for none."""
    return "-" if value is None else f"{value:.{digits}f}"


def _flat(values, path="") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{path}{name}/")
        else:
            yield path + str(name), value


def _cut(text) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 4] + " ..."
