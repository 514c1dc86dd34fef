"""From an experiment's tables to its summary, its figures and a table for the terminal.

The summary is a dictionary that is written as ``summary.json``:

======================= ==============================================================
key                     holds
======================= ==============================================================
``run``                 what the caller told about the experiment: IMU, controller, seed;
                        ``recording``: the reference's report and the findings; ...
``durations``           seconds planned and recorded
``comparison_settings`` filter and alignment of this evaluation
``yaw_error``           statistics of ``simulated``, ``real`` and ``difference``, each
                        possibly null; of the two IMUs ``over_distance`` and ``over_turn``,
                        see below
``tracking``            statistics of each column of the control error
``wheels``              statistics of each wheel's velocity as commanded minus as it turned;
                        empty where that was not recorded
``messages``            per recorded topic: expected, received, gaps
``notes``               sentences on what is missing and why
``execution``           dates, wall time, real-time factor, versions
======================= ==============================================================

``over_distance`` and ``over_turn`` are lists, an entry for each length of stretches of the
trajectory: ``length_m`` along the path, or ``turn_rad`` accumulated to either side; how many
``stretches`` were looked at and how many ``independent`` ones fit into them; and ``mean_rad``,
``rms_rad`` and ``maximum_absolute_rad`` of the change of the yaw error from a stretch's
beginning to its end, see :mod:`~imu_simulation_framework.evaluation.relative_error`.

Everything but ``execution`` is the same for two runs with one seed. Units are at the end
of a key: ``rms_rad``, ``drift_rad_per_s``, ``wall_time_s``; rms, mean, median,
standard_deviation, minimum, maximum, maximum_absolute, final and drift mean what
:class:`~imu_simulation_framework.evaluation.error_statistics.ErrorStatistics` says.
"""

from __future__ import annotations

import dataclasses
import math
import platform
import traceback
from dataclasses import dataclass, field
from typing import Any, Mapping

import matplotlib
import numpy as np
import pandas as pd
import scipy

import imu_simulation_framework
from imu_simulation_framework.errors import FrameworkError
from imu_simulation_framework.evaluation.comparison import ComparisonSettings, compare
from imu_simulation_framework.files.json_text import json_text, plain
from imu_simulation_framework.plots.figures import FIGURES
from imu_simulation_framework.plots.style import sign
from imu_simulation_framework.results.tables import ExperimentTables

OFTEN = 4
"""Stretches of a length that the terminal's table tells of, at least, end to end."""

__all__ = ["ExperimentTables", "RunDescription", "evaluate", "terminal_table", "write_report"]


@dataclass(frozen=True)
class RunDescription:
    """What the tables of an experiment do not tell.

    Attributes
    ----------
    facts : Mapping
        The summary's ``run``: IMU, controller, seed; of numbers, texts and what holds them.
    execution : Mapping
        Goes into the summary's ``execution``; ``wall_time_s`` in it gives the real-time factor.
    messages_expected : Mapping of str to int
        Name of a table -> number of messages that the simulator sent for it.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    execution: Mapping[str, Any] = field(default_factory=dict)
    messages_expected: Mapping[str, int] = field(default_factory=dict)


NOTHING_TOLD = RunDescription()


def write_report(
    folder, tables, settings=None, run=NOTHING_TOLD, save_tables=True, formats=("png",)
):
    """Write an experiment's CSV files, its summary and its figures, in this order.

    Parameters
    ----------
    folder : ResultFolder
    tables : ExperimentTables
        Complete, or as far as they came.
    settings : ComparisonSettings, optional
    run : RunDescription, optional
    save_tables : bool
        False leaves the CSV files alone.
    formats : sequence of str
        Of the figures: ``png``, ``pdf``, ``svg``.

    Returns
    -------
    dict
        The summary.

    Raises
    ------
    ResultError
        A file cannot be written. What came before in the order is there and whole.
    """
    if save_tables:
        tables.save(folder)
    summary, comparison = evaluate(tables, settings, run)
    _write_summary(folder, summary)
    failures = _write_figures(folder, comparison, formats, caption(folder, summary))
    if failures:
        summary["notes"].extend(failures)
        _write_summary(folder, summary)
    return summary


def evaluate(tables, settings=None, run=NOTHING_TOLD):
    """Compare the tables and sum up, without writing anything.

    Returns
    -------
    summary : dict
        Of numbers, texts, None, lists and dictionaries.
    comparison : Comparison
    """
    settings = ComparisonSettings() if settings is None else settings
    execution = dict(run.execution)
    comparison = compare(
        imu_simulated=tables.imu_simulated,
        ground_truth=tables.ground_truth,
        imu_real=tables.imu_real,
        trajectory=tables.trajectory_data,
        reference=tables.reference,
        fixes=tables.fixes,
        wheel_velocities=tables.wheel_velocities,
        wheel_velocities_actual=tables.wheel_velocities_actual,
        control_error=tables.control_error,
        settings=settings,
    )
    recorded = _duration(tables.ground_truth)
    wall_time = execution.get("wall_time_s")
    if wall_time and "real_time_factor" not in execution:
        execution["real_time_factor"] = recorded / wall_time
    execution.setdefault("versions", versions())
    summary = {
        "run": dict(run.facts),
        "durations": {
            "planned_s": _duration(tables.trajectory_data),
            "recorded_s": recorded,
            "recorded_imu_s": None if tables.imu_real is None else _duration(tables.imu_real),
        },
        "comparison_settings": {
            "median_window_s": settings.median_window,
            "align": settings.align,
            "max_shift_s": settings.max_shift,
            "start_window_s": settings.start_window,
        },
        "yaw_error": {
            "simulated": _yaw_summary(comparison.simulated),
            "real": _yaw_summary(comparison.real),
            "difference": None
            if comparison.difference is None
            else statistics_summary(comparison.difference.statistics, "rad"),
        },
        "tracking": {
            name: statistics_summary(statistics, "rad" if name == "yaw_error" else "m")
            for name, statistics in comparison.tracking.items()
        },
        "wheels": {
            name: statistics_summary(statistics, "rad_per_s")
            for name, statistics in (
                comparison.wheels.statistics if comparison.wheels else {}
            ).items()
        },
        "messages": {
            name: _message_summary(getattr(tables, name), run.messages_expected.get(name))
            for name in ("imu_simulated", "ground_truth", "control_error")
        },
        "notes": list(comparison.remarks),
        "execution": execution,
    }
    return plain(summary), comparison


def statistics_summary(statistics, unit) -> dict:
    """Return the fields of an :class:`.ErrorStatistics` with their unit in the key."""
    values = dataclasses.asdict(statistics)
    summary = {"samples": values.pop("samples")}
    drift = values.pop("drift")
    summary.update({f"{name}_{unit}": value for name, value in values.items()})
    summary[f"drift_{unit}_per_s"] = drift
    return summary


def _yaw_summary(comparison):
    if comparison is None:
        return None
    summary = statistics_summary(comparison.statistics, "rad")
    summary["trend"] = statistics_summary(comparison.trend_statistics, "rad")
    summary["start_offset_rad"] = comparison.start_offset
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
        }
        for entry in entries
    ]


def _message_summary(table, expected):
    """Count what came, and what should have come; without the sender's word from the stamps."""
    time = table.index.to_numpy(dtype=float)
    steps = np.diff(time)
    summary = {"expected": len(time), "received": len(time), "gaps": 0, "longest_gap_s": 0.0}
    if len(steps):
        period = float(np.median(steps))
        gaps = steps[steps > 1.5 * period]
        summary["expected"] += int(np.rint(gaps / period - 1.0).sum())
        summary["gaps"] = len(gaps)
        summary["longest_gap_s"] = float(gaps.max()) if len(gaps) else 0.0
    if expected is not None:
        summary["expected"] = expected
    summary["expected_according_to"] = "stamps" if expected is None else "simulator"
    return summary


def _duration(table) -> float:
    return float(table.index[-1] - table.index[0]) if len(table) else 0.0


def versions() -> dict:
    """Return the versions of this package, Python and the libraries that decide the digits."""
    return {
        "imu_simulation_framework": imu_simulation_framework.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "pandas": pd.__version__,
        "matplotlib": matplotlib.__version__,
    }


def _write_summary(folder, summary):
    folder.write_text("summary.json", json_text(summary))


def caption(folder, summary) -> str:
    """Return what stands below each figure: drive, IMUs, seed and date of an experiment."""
    run = summary["run"]
    imu = run.get("imu")
    label = (imu.get("label") or imu.get("model")) if isinstance(imu, dict) else imu
    scale = run.get("trajectory_scale")
    parts = [
        f"drive {run['drive']}" if run.get("drive") else None,
        f"{summary['durations']['recorded_s']:.0f} s",
        f"path scaled by {scale:g}" if isinstance(scale, float) and scale != 1.0 else None,
        f"simulated IMU {label}" if label else None,
        f"seed {run['seed']}" if run.get("seed") is not None else None,
        run.get("simulator"),
        folder.start,
    ]
    return " · ".join(str(part) for part in parts if part)


def _write_figures(folder, comparison, formats, footer):
    """Write all figures; a sentence for each that could not be drawn.

    A defect in one figure must cost neither the other figures nor the experiment.
    """
    failures = []
    for name, make_figure in FIGURES.items():
        try:
            figure = make_figure(comparison)
            sign(figure, footer)
            for format in formats:
                folder.write_figure(name, figure, format)
        except FrameworkError:
            raise
        except Exception as error:
            traceback.print_exc()
            failures.append(f"The figure {name} could not be drawn: {error!r}.")
    return failures


def terminal_table(summary) -> str:
    """Return a few aligned lines on a summary, for the person who waited for it.

    Behind rms, largest and final yaw error and drift over time stands the rms change of the error
    over stretches of path and of turning, as long as fit :data:`OFTEN` times.
    """
    imus = [summary["yaw_error"][key] or {} for key in ("real", "simulated")]
    distance = _telling_length(imus, "over_distance", "length_m")
    turn = _telling_length(imus, "over_turn", "turn_rad")
    rows = [
        (
            "",
            *("rms", "max", "final", "drift"),
            "" if distance is None else f"over {distance:g} m",
            "" if turn is None else f"over {math.degrees(turn):.0f} deg",
        )
    ]
    for key, name in (("real", "recorded IMU"), ("simulated", "simulated IMU")):
        statistics = summary["yaw_error"][key] or {}
        rows.append(
            (
                f"yaw error, {name}",
                _number(statistics.get("rms_rad"), "deg", math.degrees(1.0)),
                _number(statistics.get("maximum_absolute_rad"), "deg", math.degrees(1.0)),
                _number(statistics.get("final_rad"), "deg", math.degrees(1.0)),
                _number(statistics.get("drift_rad_per_s"), "deg/min", 60.0 * math.degrees(1.0)),
                _relative(statistics, "over_distance", "length_m", distance),
                _relative(statistics, "over_turn", "turn_rad", turn),
            )
        )
    for key, name, unit, unit_key, factor in (
        ("yaw_error", "yaw", "deg", "rad", math.degrees(1.0)),
        ("distance_error", "distance", "m", "m", 1.0),
    ):
        statistics = summary["tracking"].get(key) or {}
        rows.append(
            (
                f"tracking error, {name}",
                _number(statistics.get(f"rms_{unit_key}"), unit, factor),
                _number(statistics.get(f"maximum_absolute_{unit_key}"), unit, factor),
                _number(statistics.get(f"final_{unit_key}"), unit, factor),
                *("", "", ""),
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = [
        "  ".join(
            [row[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        ).rstrip()
        for row in rows
    ]
    factor = summary["execution"].get("real_time_factor")
    if factor is not None:
        lines.append(f"{'real-time factor'.ljust(widths[0])}  {factor:.1f}")
    return "\n".join(lines)


def _telling_length(imus, key, length):
    """Return the longest stretch that fits often enough into what is known of each IMU; or None."""
    often = [
        {entry[length] for entry in imu.get(key) or () if entry["independent"] >= OFTEN}
        for imu in imus
        if imu
    ]
    return max(set.intersection(*often), default=None) if often else None


def _relative(statistics, key, length, wanted) -> str:
    if wanted is None:
        return ""
    for entry in statistics.get(key) or ():
        if entry[length] == wanted:
            return _number(entry["rms_rad"], "deg", math.degrees(1.0))
    return "-"


def _number(value, unit, factor) -> str:
    return "-" if value is None else f"{factor * value:.3f} {unit}"
