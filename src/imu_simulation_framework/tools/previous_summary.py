"""The summary of an experiment that is looked at again."""

from __future__ import annotations

import json
import math

from imu_simulation_framework.errors import ConfigurationError, ResultError
from imu_simulation_framework.evaluation.yaw_comparison import ComparisonSettings
from imu_simulation_framework.experiment.summary import RunDescription
from imu_simulation_framework.sentences import shown

DEEPEST = 30
"""Levels of a summary.json; ours has six."""

MOST_MESSAGES = 10**12

SETTINGS = {
    "median_window": "median_window_s",
    "align": "align",
    "max_shift": "max_shift_s",
    "start_window": "start_window_s",
}
"""Fields of :class:`.ComparisonSettings`, and their keys in a summary."""


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


def settings_of(previous, path, **chosen) -> ComparisonSettings:
    """Return how an experiment is to be evaluated: as it was, but for what is chosen anew.

    Parameters
    ----------
    previous : Mapping
        Its summary.
    path : Path
        Where that stands.
    **chosen : object
        Of :class:`.ComparisonSettings`; None keeps what was.

    Raises
    ------
    ResultError
        The summary's settings are none.
    ConfigurationError
        The chosen ones are none.
    """
    earlier = previous.get("comparison_settings", {})
    of_summary = {
        name: earlier[key]
        for name, key in SETTINGS.items()
        if chosen.get(name) is None and earlier.get(key) is not None
    }
    try:
        ComparisonSettings(**of_summary)
    except ConfigurationError as error:
        raise unusable(path, f"comparison_settings: {error}") from error
    return ComparisonSettings(
        **of_summary, **{name: value for name, value in chosen.items() if value is not None}
    )


def described_run(previous, path) -> RunDescription:
    """Return what an experiment's summary told of it, as :func:`.evaluate` takes it.

    Raises
    ------
    ResultError
        Its counts of messages are none.
    """
    expected: dict[str, int] = {}
    for name, counts in previous.get("messages", {}).items():
        if not isinstance(counts, dict):
            raise unusable(path, f"messages: {name} is {shown(counts)}, expected counts")
        if counts.get("expected_according_to") == "simulator":
            count = counts.get("expected")
            if not (isinstance(count, int) and 0 <= count < MOST_MESSAGES):
                raise unusable(
                    path, f"messages: {name} expects {shown(count)}, expected a whole number"
                )
            expected[name] = count
    # Without a summary the experiment has not come to its end.
    facts = previous.get("run", {}) if previous else {"completed": False}
    return RunDescription(facts, previous.get("execution", {}), expected)


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
