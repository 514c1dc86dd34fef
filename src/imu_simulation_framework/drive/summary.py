"""Summary of an experiment: statistics, and their table for the terminal.

The summary is a dictionary that is written as ``summary.json``:

======================= ==============================================================
key                     content
======================= ==============================================================
``run``                 facts about the experiment, such as IMU, controller and seed;
                        ``robot``: file name of the robot's parameters;
                        ``recording``: report on the reference, and findings
``durations``           planned and recorded duration in seconds
``comparison_settings`` filter and alignment of this evaluation
``yaw_error``           statistics of ``simulated``, ``real`` and ``difference``, each
                        possibly null, and of ``odometer`` if there is one; all except the
                        difference have ``over_distance`` and ``over_turn``, see below
``tracking``            statistics of each column of the control error
``wheels``              statistics of commanded minus actual velocity for each wheel; empty if
                        the actual velocities were not recorded
``messages``            expected and received messages and gaps for each recorded topic
``notes``               messages about missing results and their reasons
``missing_figures``     names of figures that could not be drawn
``execution``           dates, wall time, real-time factor, versions
======================= ==============================================================

``over_distance`` and ``over_turn`` are lists with one entry per interval length. ``length_m`` is
the length along the recorded path, before scaling; ``turn_rad`` is the accumulated absolute turn
angle. ``stretches`` is the number of evaluated intervals, ``independent`` the number of intervals
that do not overlap. ``mean_rad``, ``rms_rad`` and ``maximum_absolute_rad`` are statistics of the
change in yaw error over an interval, see
:mod:`~imu_simulation_framework.heading.relative_error`. ``reference_rms_rad`` is the expected
contribution of the reference error to the RMS, if it is known.

``reference`` exists in a yaw error whose reference has a known uncertainty. It contains the
expected error of the reference (``rms_rad``, ``drift_std_rad_per_s``), the remaining error of the
IMU with 95 % intervals (``imu_rms_rad``, ``imu_final_rad``; null if the reference is better than
stated), and the standard deviations of the start offset and of the final error
(``start_offset_std_rad``, ``final_std_rad``), see
:mod:`~imu_simulation_framework.heading.error_split`. ``zero`` is ``estimated`` if the start offset
was estimated from the complete drive. It is ``start`` if the start offset is the median over the
start, which is always the case for a reference without a known uncertainty.

Everything except ``execution`` is identical for two experiments with the same seed. Keys end with
the unit: ``rms_rad``, ``drift_rad_per_s``, ``wall_time_s``. The statistics are defined by
:class:`~imu_simulation_framework.core.error_statistics.ErrorStatistics`.
"""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass, field
from typing import Any, Mapping

import numpy as np

from ..core.errors import ConfigurationError, ResultError, versions
from ..core.files import to_json_types
from ..core.sentences import quote
from ..core.tables import WHEELS
from ..heading.error_split import ESTIMATED, UNKNOWN
from ..heading.experiment_comparison import compare
from ..heading.statistics import TWO_SIDED
from ..heading.yaw_comparison import ComparisonSettings


@dataclass(frozen=True)
class RunDescription:
    """Information about an experiment that its tables do not contain.

    Attributes
    ----------
    facts : mapping of str to object
        Entry ``run`` of the summary, such as IMU, controller and seed.
    execution : mapping of str to object
        Entry ``execution`` of the summary; ``wall_time_s`` determines the real-time factor.
    messages_expected : mapping of str to int
        Number of messages that the simulator sent, by table name.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    execution: Mapping[str, Any] = field(default_factory=dict)
    messages_expected: Mapping[str, int] = field(default_factory=dict)


NOT_DRAWN = "cannot be drawn"
"""Part of each note on a missing figure."""

NO_DESCRIPTION = RunDescription()


def evaluate(tables, settings=None, run=NO_DESCRIPTION):
    """Compute the comparison and the summary of an experiment from its tables.

    Parameters
    ----------
    tables : ExperimentTables
        Tables of the experiment.
    settings : ComparisonSettings, optional
        Settings of the comparison.
    run : RunDescription
        Further facts about the experiment.

    Returns
    -------
    summary : dict
        Content of ``summary.json``.
    comparison : Comparison
        Compared yaw signals and tracking errors.
    """
    settings = ComparisonSettings() if settings is None else settings
    execution = dict(run.execution)
    scale = run.facts.get(
        "trajectory_scale"
    )  # a summary that the user has edited may contain any value
    scale = float(scale) if _is_positive(scale) else 1.0
    comparison = compare(tables, settings, scale)
    recorded = _duration(tables.ground_truth)
    wall_time = execution.get("wall_time_s")
    if wall_time and "real_time_factor" not in execution:
        execution["real_time_factor"] = recorded / wall_time
    execution.setdefault("versions", versions())
    wheels = comparison.wheels.statistics if comparison.wheels else {}
    period = run.facts.get("control_period_s")
    periods = {"control_error": float(period)} if _is_positive(period) else {}
    summary = {
        "run": dict(run.facts),
        "durations": {
            "planned_s": _duration(tables.trajectory_data),
            "recorded_s": recorded,
            "recorded_imu_s": None if tables.imu_real is None else _duration(tables.imu_real),
        },
        "comparison_settings": {key: getattr(settings, name) for name, key in SETTINGS.items()},
        "yaw_error": {
            "simulated": _yaw_summary(comparison.simulated),
            "real": _yaw_summary(comparison.real),
            **({} if tables.odometer is None else {ODOMETER: _yaw_summary(comparison.odometer)}),
            "difference": comparison.difference
            and _statistics_summary(comparison.difference.statistics, "rad"),
        },
        "tracking": {
            name: _statistics_summary(statistics, "rad" if name == "yaw_error" else "m")
            for name, statistics in comparison.tracking.items()
        },
        "wheels": {
            name: _statistics_summary(error, "rad_per_s" if name in WHEELS else "rad")
            for name, error in wheels.items()
        },
        "messages": {
            name: _message_summary(
                getattr(tables, name), run.messages_expected.get(name), periods.get(name)
            )
            for name in ("imu_simulated", "ground_truth", "control_error")
        },
        "notes": list(comparison.remarks),
        "missing_figures": [],
        "execution": execution,
    }
    return to_json_types(summary), comparison


def _statistics_summary(statistics, unit) -> dict:
    """Return the fields of an :class:`.ErrorStatistics` with the unit appended to the keys."""
    values = dataclasses.asdict(statistics)
    summary = {"samples": values.pop("samples")}
    drift = values.pop("drift")
    summary.update({f"{name}_{unit}": value for name, value in values.items()})
    summary[f"drift_{unit}_per_s"] = drift
    return summary


def _yaw_summary(comparison):
    if comparison is None:
        return None
    summary = _statistics_summary(comparison.statistics, "rad")
    summary["trend"] = _statistics_summary(comparison.trend_statistics, "rad")
    summary["start_offset_rad"] = comparison.start_offset
    if comparison.split is not None:
        split = comparison.split
        summary["zero"] = comparison.zero
        summary["reference"] = {
            "start_offset_std_rad": split.zero_std,
            "rms_rad": split.reference,
            "imu_rms_rad": split.imu,
            "imu_rms_low_rad": split.imu_low,
            "imu_rms_high_rad": split.imu_high,
            "imu_final_rad": split.imu_final,
            "imu_final_low_rad": split.imu_final_low,
            "imu_final_high_rad": split.imu_final_high,
            "final_std_rad": split.final_std,
            "drift_std_rad_per_s": split.drift_std,
        }
    if comparison.time_shift is not None:
        summary["time_shift_s"] = comparison.time_shift.shift
        summary["time_shift_correlation"] = comparison.time_shift.correlation
    summary["over_distance"] = _relative_summary(comparison.over_distance, "length_m")
    summary["over_turn"] = _relative_summary(comparison.over_turn, "turn_rad")
    for name in ("yaw_spectrum", "error_spectrum"):
        spectrum = getattr(comparison, name)
        summary[name] = spectrum and {
            "sample_rate_hz": spectrum.rate,
            "segment_samples": spectrum.segment_length,
            "segments": spectrum.segments,
        }
    return summary


def _relative_summary(entries, length) -> list[dict]:
    return [
        {
            length: entry.length,
            "stretches": entry.stretches,
            "independent": entry.independent,
            "mean_rad": entry.mean,
            "rms_rad": entry.rms,
            "maximum_absolute_rad": entry.maximum_absolute,
            **({} if entry.reference_rms is None else {"reference_rms_rad": entry.reference_rms}),
        }
        for entry in entries
    ]


def _message_summary(table, expected, nominal=None):
    """Count the received messages; estimate the expected number from the stamps unless given.

    ``nominal`` is the nominal period of messages that respond to more frequent messages [s].
    """
    time = table.index.to_numpy(dtype=float)
    steps = np.diff(time)
    summary = {"expected": len(time), "received": len(time), "gaps": 0, "longest_gap_s": 0.0}
    if len(steps):
        period = float(np.median(steps))
        longest = 1.5 * period
        shortest = float(np.quantile(steps, 0.25))
        if nominal is not None and shortest < 0.9 * nominal:
            # The first of the more frequent messages after a nominal period triggers a response.
            period, longest = nominal, nominal + 1.01 * shortest
        gaps = steps[steps > longest]
        summary["expected"] += int(np.rint(gaps / period - 1.0).sum())
        summary["gaps"] = len(gaps)
        summary["longest_gap_s"] = float(gaps.max()) if len(gaps) else 0.0
    if expected is not None:
        summary["expected"] = expected
    summary["expected_according_to"] = "stamps" if expected is None else "simulator"
    return summary


def _duration(table) -> float:
    return float(table.index[-1] - table.index[0]) if len(table) else 0.0


MAX_DEPTH = 30  # maximum nesting in summary.json; this package writes six levels

MAX_MESSAGES = 10**12

SETTINGS = {
    "median_window": "median_window_s",
    "align": "align",
    "max_shift": "max_shift_s",
    "start_window": "start_window_s",
    "zero": "zero",
}
"""Mapping from fields of :class:`.ComparisonSettings` to keys in a summary."""


def missing_figures_sentence(folder, summary) -> str:
    """Return a message that names the figures that could not be drawn.

    Parameters
    ----------
    folder : ResultFolder
        Folder of the result.
    summary : mapping
        Content of summary.json.

    Returns
    -------
    str
        Message with the reasons and the remedy; empty if no figure is missing.
    """
    if not summary["missing_figures"]:
        return ""
    reasons = "; ".join(note for note in summary["notes"] if NOT_DRAWN in note)
    return (
        f"{reasons}; all recorded data are saved, and offline_result_comparison.py "
        f"{folder.prefix_path} draws the figures again"
    )


def previous_summary(folder) -> dict:
    """Read the summary of a result.

    Parameters
    ----------
    folder : ResultFolder
        Folder of the result.

    Returns
    -------
    dict
        Content of summary.json; empty if there is no such file.

    Raises
    ------
    ResultError
        The file is not a summary of an experiment.
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
        raise unusable(path, "expected an object with the summary of an experiment")
    if _nested_deeper(summary, MAX_DEPTH):
        raise unusable(path, f"nested deeper than {MAX_DEPTH} levels")
    for key in ("comparison_settings", "run", "execution", "messages"):
        if not isinstance(summary.get(key, {}), dict):
            raise unusable(path, f"{key} is {quote(summary[key])}, expected an object")
    for key in ("wall_time_s", "real_time_factor"):
        number = summary.get("execution", {}).get(key)
        if number is not None and not _is_positive(number):
            raise unusable(path, f"execution: {key} is {quote(number)}, expected a number above 0")
    return summary


def settings_of(previous, path, **overrides) -> ComparisonSettings:
    """Return the settings for a new evaluation, based on the previous summary.

    Parameters
    ----------
    previous : dict
        Previous summary.
    path : path
        Path of the summary, for error messages.
    **overrides : object
        Fields of :class:`.ComparisonSettings` that replace previous values; None has no effect.

    Returns
    -------
    ComparisonSettings
        Checked settings.

    Raises
    ------
    ResultError
        The settings in the summary are invalid.
    ConfigurationError
        The chosen settings are invalid.
    """
    earlier = previous.get("comparison_settings", {})
    recorded = {
        name: earlier[key]
        for name, key in SETTINGS.items()
        if overrides.get(name) is None and earlier.get(key) is not None
    }
    try:
        ComparisonSettings(**recorded)
    except ConfigurationError as error:
        raise unusable(path, f"comparison_settings: {error}") from error
    overrides = {name: value for name, value in overrides.items() if value is not None}
    return ComparisonSettings(**recorded, **overrides)


def described_run(previous, path) -> RunDescription:
    """Return the description of an experiment from its previous summary.

    Parameters
    ----------
    previous : dict
        Previous summary.
    path : path-like
        Path of the summary, for error messages.

    Returns
    -------
    RunDescription
        Description of the experiment.

    Raises
    ------
    ResultError
        The message counts are invalid.
    """
    expected: dict[str, int] = {}
    for name, counts in previous.get("messages", {}).items():
        if not isinstance(counts, dict):
            raise unusable(path, f"messages: {name} is {quote(counts)}, expected an object")
        if counts.get("expected_according_to") == "simulator":
            count = counts.get("expected")
            if not (isinstance(count, int) and 0 <= count < MAX_MESSAGES):
                mismatch = (
                    f"messages: the count of {name} is {quote(count)}, expected a whole number"
                )
                raise unusable(path, mismatch)
            expected[name] = count
    # The experiment was interrupted before its summary was written.
    facts = previous.get("run", {}) if previous else {"completed": False}
    return RunDescription(facts, previous.get("execution", {}), expected)


def unusable(path, reason) -> ResultError:
    """Return an exception that reports an unusable summary, with path, reason and remedy.

    Parameters
    ----------
    path : path-like
        Path of the summary.
    reason : str
        Reason for the error.

    Returns
    -------
    ResultError
        Error to raise.
    """
    return ResultError(
        f"{path}: {reason}; repair the file instead of removing it, because it has the metadata "
        "of the experiment"
    )


def _nested_deeper(value, levels) -> bool:
    if not isinstance(value, (dict, list)):
        return False
    parts = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_nested_deeper(part, levels - 1) for part in parts)


def _is_positive(value) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and 0.0 < value < math.inf


ODOMETER = "odometer"
IMUS = (("real", "recorded IMU"), ("simulated", "simulated IMU"))
HEADINGS = (*IMUS, (ODOMETER, "odometer"))
"""Keys of ``yaw_error`` in a summary and names of their sources; the odometer is optional."""

MIN_STRETCHES = 4
"""Minimum number of independent intervals of a given length for an entry in the table."""


def terminal_table(summary) -> str:
    """Return the main results of a summary as an aligned text table.

    The columns are RMS, largest and final yaw error, drift, and the RMS change in yaw error over
    the longest distance and the largest turn angle with :data:`MIN_STRETCHES` independent
    intervals. If the reference has a known uncertainty, the RMS is split into the contributions of
    the reference and the IMU, and final error and drift have a 95 % interval. The uncertainty of an
    estimated zero is below the table.

    Parameters
    ----------
    summary : dict
        Content of summary.json.

    Returns
    -------
    str
        Lines for the terminal.
    """
    headings = [(key, name) for key, name in HEADINGS if key in summary["yaw_error"]]
    imus = [summary["yaw_error"][key] or {} for key, _ in headings]
    distance = _longest_common_length(imus, "over_distance", "length_m")
    turn = _longest_common_length(imus, "over_turn", "turn_rad")
    has_parts = any(imu.get("reference") for imu in imus)
    titles = ("rms", *("reference rms", "IMU rms") * has_parts, "max", "final", "drift")
    over_distance = "" if distance is None else f"over {distance:g} m"
    over_turn = "" if turn is None else f"over {math.degrees(turn):.0f} deg"
    rows = [("", *titles, over_distance, over_turn)]
    degrees = math.degrees(1.0)
    for key, name in headings:
        statistics = summary["yaw_error"][key] or {}
        reference = statistics.get("reference") or {}
        rms, largest, final = _numbers(statistics, "rad", "deg", degrees)
        drift = _number(statistics.get("drift_rad_per_s"), "deg/min", 60.0 * degrees)
        if reference:
            final = _with_interval(final, degrees * reference["final_std_rad"])
            drift = _with_interval(drift, 60.0 * degrees * reference["drift_std_rad_per_s"])
        over_distance = _relative(statistics, "over_distance", "length_m", distance)
        over_turn = _relative(statistics, "over_turn", "turn_rad", turn)
        errors = (rms, *parts_of_rms(reference) * has_parts, largest, final, drift)
        rows.append((f"yaw error, {name}", *errors, over_distance, over_turn))
    for key, name, unit, unit_key, factor in (
        ("yaw_error", "yaw", "deg", "rad", degrees),
        ("distance_error", "distance", "m", "m", 1.0),
    ):
        statistics = summary["tracking"].get(key) or {}
        rms, *others = _numbers(statistics, unit_key, unit, factor)
        rows.append((f"tracking error, {name}", rms, *("", "") * has_parts, *others, "", "", ""))
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = []
    for name, *cells in rows:
        aligned = [cell.rjust(width) for cell, width in zip(cells, widths[1:])]
        lines.append("  ".join([name.ljust(widths[0]), *aligned]).rstrip())
    for key, name in headings:
        statistics = summary["yaw_error"][key] or {}
        if statistics.get("zero") == ESTIMATED:
            std = degrees * statistics["reference"]["start_offset_std_rad"]
            drift_text = f"zero, {name}".ljust(widths[0])
            lines.append(
                f"{drift_text}  estimated from the complete drive, +- {TWO_SIDED * std:.2g} deg"
            )
    factor = summary["execution"].get("real_time_factor")
    if factor is not None:
        lines.append(f"{'real-time factor'.ljust(widths[0])}  {factor:.1f}")
    sentence = drift_sentence(summary)
    return "\n".join([*lines, sentence] if sentence else lines)


def drift_sentence(summary) -> str:
    """Compare the drifts of the simulated and the recorded IMU in one message.

    The drifts are compared only if the recorded drift exceeds the uncertainty of the reference.

    Parameters
    ----------
    summary : dict
        Content of summary.json.

    Returns
    -------
    str
        Message; empty if there is no drift.
    """
    simulated, real = (summary["yaw_error"].get(key) or {} for key in ("simulated", "real"))
    drift, recorded = (imu.get("drift_rad_per_s") for imu in (simulated, real))
    if drift is None:
        return ""
    drift_text = f"{60.0 * math.degrees(abs(drift)):.2g} deg/min"
    if recorded is None:
        return (
            f"the simulated IMU drifts by {drift_text}; there is no recorded IMU to compare it with"
        )
    reference = real.get("reference") or {}
    uncertainty = TWO_SIDED * reference.get("drift_std_rad_per_s", 0.0)
    if abs(recorded) <= max(uncertainty, 1e-12):
        return (
            f"the simulated IMU drifts by {drift_text}; the drift of the recorded IMU is below its "
            f"uncertainty of {60.0 * math.degrees(uncertainty):.2g} deg/min"
        )
    times = f"{abs(drift / recorded):.2g} times"
    sentence = f"the simulated IMU drifts {times} as fast as the recorded IMU"
    if reference:
        explained = math.degrees(reference["rms_rad"])
        sentence += f"; the reference explains {explained:.2g} deg rms of the recorded error"
    return sentence


def _numbers(statistics, unit_key, unit, factor):
    for key in ("rms", "maximum_absolute", "final"):
        yield _number(statistics.get(f"{key}_{unit_key}"), unit, factor)


def parts_of_rms(reference) -> tuple[str, str]:
    """Format the contributions of the reference and the IMU to an RMS yaw error.

    Parameters
    ----------
    reference : dict or None
        Contributions to the RMS [rad], as in summary.json.

    Returns
    -------
    tuple of str
        Contributions in degrees; the contribution of the IMU is a text if it is unknown.
    """
    factor = math.degrees(1.0)
    if not reference:
        return "-", "-"
    values = [reference[f"imu_rms_{name}rad"] for name in ("", "low_", "high_")]
    if None in values:
        error_text = UNKNOWN
    else:
        value_text, low, high = (f"{factor * value:.2f}" for value in values)
        error_text = f"{value_text} ({low} to {high}) deg" if values[1] > 0.0 else f"< {high} deg"
    return _number(reference["rms_rad"], "deg", factor), error_text


def _with_interval(cell, std) -> str:
    number, unit = cell.split(" ", 1)
    return f"{number} +- {TWO_SIDED * std:.2g} {unit}"


def _longest_common_length(imus, key, length):
    """Return the longest interval length with enough independent intervals per IMU, or None."""
    lengths = [
        {entry[length] for entry in imu.get(key) or () if entry["independent"] >= MIN_STRETCHES}
        for imu in imus
        if imu
    ]
    return max(set.intersection(*lengths), default=None) if lengths else None


def _relative(statistics, key, length, interval_length) -> str:
    if interval_length is None:
        return ""
    for entry in statistics.get(key) or ():
        if entry[length] == interval_length:
            return _number(entry["rms_rad"], "deg", math.degrees(1.0))
    return "-"


def _number(value, unit, factor) -> str:
    return "-" if value is None else f"{factor * value:.3f} {unit}"
