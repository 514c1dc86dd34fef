"""From an experiment's tables to what is summed up of them.

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
trajectory: ``length_m`` along the path as it was recorded, without its scale, or ``turn_rad``
accumulated to either side; how many ``stretches`` were looked at and how many ``independent``
ones fit into them; and ``mean_rad``,
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
from dataclasses import dataclass, field
from typing import Any, Mapping

import numpy as np

from imu_simulation_framework.evaluation.comparison import compare
from imu_simulation_framework.evaluation.yaw_comparison import ComparisonSettings
from imu_simulation_framework.experiment.versions import versions
from imu_simulation_framework.files.json_text import plain


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
        scale=_scale_of(run.facts),
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
            else _statistics_summary(comparison.difference.statistics, "rad"),
        },
        "tracking": {
            name: _statistics_summary(statistics, "rad" if name == "yaw_error" else "m")
            for name, statistics in comparison.tracking.items()
        },
        "wheels": {
            name: _statistics_summary(statistics, "rad_per_s")
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


def _statistics_summary(statistics, unit) -> dict:
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
    summary = _statistics_summary(comparison.statistics, "rad")
    summary["trend"] = _statistics_summary(comparison.trend_statistics, "rad")
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


def _scale_of(facts) -> float:
    """Return the scale of the path; a summary of others may say anything."""
    scale = facts.get("trajectory_scale")
    usable = isinstance(scale, (int, float)) and not isinstance(scale, bool)
    return float(scale) if usable and 0.0 < scale < math.inf else 1.0


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
