"""The summary of an experiment that is looked at again."""

from __future__ import annotations

import json
import math

from imu_simulation_framework.errors import ResultError
from imu_simulation_framework.sentences import shown

DEEPEST = 30
"""Levels of a summary.json; ours has six."""


def previous_summary(folder) -> dict:
    """Return the summary that the experiment wrote, empty if it was ended before it could.

    Parameters
    ----------
    folder : ResultFolder

    Raises
    ------
    ResultError
        It is not what an experiment writes.
    """
    path = folder.path("summary.json")
    if not path.exists():
        return {}
    try:
        summary = json.loads(folder.read_text("summary.json"))
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise unusable(path, f"not valid JSON ({reason})") from error
    if not isinstance(summary, dict):
        raise unusable(path, "an object with the summary of an experiment was expected")
    if _nested_deeper(summary, DEEPEST):
        raise unusable(path, f"nested deeper than {DEEPEST} levels")
    for key in ("comparison_settings", "run", "execution", "messages"):
        if not isinstance(summary.get(key, {}), dict):
            raise unusable(path, f"{key} is {shown(summary[key])}, expected keys with values")
    for key in ("wall_time_s", "real_time_factor"):
        number = summary.get("execution", {}).get(key)
        if number is not None and not (_is_number(number) and 0.0 < number < math.inf):
            raise unusable(path, f"execution: {key} is {shown(number)}, expected a number above 0")
    return summary


def unusable(path, reason) -> ResultError:
    """Return an error about a summary: which file, and what is wrong with it."""
    return ResultError(
        f"{path}: {reason}; repair or remove it, what it tells about the experiment is carried over"
    )


def _nested_deeper(value, levels) -> bool:
    if not isinstance(value, (dict, list)):
        return False
    parts = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_nested_deeper(part, levels - 1) for part in parts)


def _is_number(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
