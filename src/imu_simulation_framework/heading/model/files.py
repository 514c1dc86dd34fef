"""Identified models of a yaw error as YAML files.

The keys under ``parameters`` are the fields of :class:`.YawErrorParameters`, each with its value
and its 95 % interval; a limit that the data do not give is ``.inf``, or 0 for a strength::

    kind: yaw_error_model
    name: husky
    drives: [husky.bag]
    parameters: {angle_random_walk: {value: 1.2e-3, low: 1.1e-3, high: 1.3e-3}}  # rad/s/sqrt(Hz)

Of what stands beside these keys, how the model came about, only whether its ``checks`` passed is
read.
"""

from __future__ import annotations

import math
import os
from dataclasses import fields
from typing import Any, Mapping

import yaml

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.sentences import shown
from imu_simulation_framework.core.yaml_files import read_yaml
from imu_simulation_framework.heading.model.parameters import YawErrorParameters

KIND = "yaw_error_model"
_OTHERS = {"drives", "rejected", "rate_bias_uncertainty", "scale_factor_uncertainty"}
_KEYS = {field.name for field in fields(YawErrorParameters)} - _OTHERS


def read_yaw_error_model(path: str | os.PathLike[str]) -> YawErrorParameters:
    """Return the parameters of an identified model, for :func:`.yaw_error_model`.

    Raises ConfigurationError if the file cannot be read, or is no such model.
    """
    content = read_yaml(path, "the model of a yaw error")
    if not _is_model(content):
        raise ConfigurationError(
            f"{path}: is no model of a yaw error; expected a mapping with kind: {KIND}"
        )
    parameters, drives = content.get("parameters"), content.get("drives")
    if not isinstance(parameters, dict):
        raise ConfigurationError(
            f"{path}: parameters is {shown(parameters)}, expected a mapping by name"
        )
    if not (isinstance(drives, list) and drives):
        raise ConfigurationError(f"{path}: drives is {shown(drives)}, expected a list of names")
    values: dict[str, Any] = {}
    for name, entry in parameters.items():
        if name not in _KEYS:
            raise ConfigurationError(
                f"{path}: {shown(name)} is no parameter of a yaw error; there are "
                f"{', '.join(sorted(_KEYS))}"
            )
        entry = entry if isinstance(entry, dict) else {"value": entry}
        limits = [entry.get(side) for side in ("low", "high")]
        known = all(isinstance(one, float) for one in limits)
        values[name] = (entry.get("value"), *(limits if known else (math.nan, math.nan)))
    checks = content.get("checks")
    outcomes = checks.values() if isinstance(checks, dict) else ()
    rejected = any(isinstance(one, dict) and one.get("passed") is False for one in outcomes)
    try:
        return YawErrorParameters.identified(values, len(drives), rejected)
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from None


def is_yaw_error_model_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a file says that it is a model of a yaw error; False if it is no YAML."""
    try:
        return _is_model(read_yaml(path, "the model"))
    except ConfigurationError:
        return False


def _is_model(content):
    return isinstance(content, dict) and content.get("kind") == KIND


def yaw_error_model_text(
    name: str,
    drives: list[str],
    parameters: Mapping[str, tuple[float, float, float, str]],
    made: Mapping[str, Any],
    comment: str = "",
) -> str:
    """Return a model as YAML.

    ``name``: of the IMU. ``parameters``: by name: value, low, high and unit. ``made``: how it came
    about: plain values only. ``comment``: lines for the beginning, without number signs.
    """
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    lines += [_dumped({"kind": KIND, "name": str(name), "drives": [str(one) for one in drives]})]
    lines.append("parameters:")
    for key, (value, low, high, unit) in parameters.items():
        numbers = ", ".join(
            f"{word}: {_number(number)}"
            for word, number in (("value", value), ("low", low), ("high", high))
        )
        lines.append(f"  {key}: {{{numbers}}}  # {unit}")
    if made:
        lines.append(_dumped(dict(made)))
    return "\n".join(lines) + "\n"


def _dumped(content):
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=10**6).rstrip()


def _number(value):
    if value in (float("inf"), float("-inf")):
        return ".inf" if value > 0.0 else "-.inf"
    return repr(float(f"{value:.9g}"))
