"""The report of an experiment: the simulated IMU's yaw error beside the recorded one's."""

from __future__ import annotations

import math

from imu_simulation_framework.pages import experiment_charts
from imu_simulation_framework.pages.facts import facts, number
from imu_simulation_framework.pages.page import Page, Section, Table

_IMUS = (("real", "recorded IMU"), ("simulated", "simulated IMU"))
_APART = ("imu", "recording", "recorded_imu")
"""Parts of a run that have a table of their own."""


def experiment_page(comparison, summary, caption) -> Page:
    """Return the page of an experiment.

    Parameters
    ----------
    comparison : Comparison
    summary : Mapping
        What stands in summary.json.
    caption : str
        What it is: drive, model, seed and date.
    """
    run = summary.get("run", {})
    sections = [
        Section("Result", text=tuple(summary.get("notes", ())), table=_statistics(summary)),
        *experiment_charts.sections(comparison),
        Section("Drift over distance and turn", table=_relative(summary), folded=True),
        Section("Experiment", table=facts(_experiment(run, summary)), folded=True),
        Section("Simulated IMU", table=facts(_mapping(run.get("imu"))), folded=True),
        Section(
            "Recording",
            text=["What was found in it; counts of zero are left out."],
            table=facts(_recording(run), only_telling=True),
            folded=True,
        ),
        Section("Messages and versions", table=facts(_execution(summary)), folded=True),
    ]
    drive = run.get("drive")
    return Page(
        title=f"Yaw error on {drive}" if drive else "Yaw error of an experiment",
        summary=_answer(summary),
        sections=[
            section
            for section in sections
            if section.figure is not None or (section.table is not None and section.table.rows)
        ],
        footer=caption,
    )


def _answer(summary) -> list[str]:
    found = []
    for key, name in _IMUS:
        statistics = summary["yaw_error"].get(key)
        if statistics and statistics.get("final_rad") is not None:
            found.append(
                f"the {name} was {math.degrees(statistics['final_rad']):.2f} deg off at the end "
                f"and {math.degrees(statistics['maximum_absolute_rad']):.2f} deg at most"
            )
    duration = summary["durations"]["recorded_s"]
    if not found:
        return [f"Nothing is known of a yaw error in these {duration:.0f} s."]
    sentence = f"After {duration:.0f} s: {'; '.join(found)}."
    caution = (
        "Two IMUs are two realisations of chance: compare the size and the manner of their errors, "
        "not their course."
    )
    return [sentence, caution] if len(found) > 1 else [sentence]


def _statistics(summary):
    degrees = math.degrees(1.0)
    rows = []
    for key, name in (*_IMUS, ("difference", "recorded minus simulated")):
        values = summary["yaw_error"].get(key)
        if values:
            rows.append(
                (
                    f"yaw error, {name} [deg]",
                    *_cells(values, "rad", degrees),
                    _scaled(values.get("drift_rad_per_s"), 60.0 * degrees),
                )
            )
    for key, name, unit, said, factor in (
        ("yaw_error", "tracking error, yaw", "rad", "deg", degrees),
        ("distance_error", "tracking error, distance", "m", "m", 1.0),
    ):
        values = summary.get("tracking", {}).get(key)
        if values:
            rows.append((f"{name} [{said}]", *_cells(values, unit, factor), ""))
    for wheel, values in summary.get("wheels", {}).items():
        rows.append((f"{wheel} wheel, velocity [rad/s]", *_cells(values, "rad_per_s", 1.0), ""))
    headings = ("", "rms", "mean", "largest", "final", "drift per minute")
    return Table(headings, rows, numbers=5)


def _cells(values, unit, factor):
    names = ("rms", "mean", "maximum_absolute", "final")
    return tuple(_scaled(values.get(f"{name}_{unit}"), factor) for name in names)


def _scaled(value, factor):
    return number(None if value is None else factor * value)


def _relative(summary):
    rows = []
    for key, name in _IMUS:
        values = summary["yaw_error"].get(key) or {}
        for part, length, factor, unit in (
            ("over_distance", "length_m", 1.0, "m"),
            ("over_turn", "turn_rad", math.degrees(1.0), "deg"),
        ):
            for entry in values.get(part) or ():
                rows.append(
                    (
                        name,
                        f"{factor * entry[length]:g} {unit}",
                        _scaled(entry["rms_rad"], math.degrees(1.0)),
                        _scaled(entry["mean_rad"], math.degrees(1.0)),
                        _scaled(entry["maximum_absolute_rad"], math.degrees(1.0)),
                        f"{entry['independent']:g}",
                    )
                )
    headings = ("", "over", "rms [deg]", "mean [deg]", "largest [deg]", "stretches end to end")
    return Table(headings, rows, numbers=5)


def _experiment(run, summary):
    return {
        **{name: value for name, value in run.items() if name not in _APART},
        **_mapping(summary.get("durations")),
        "evaluation": _mapping(summary.get("comparison_settings")),
    }


def _recording(run):
    recording = _mapping(run.get("recording"))
    return {
        **recording,
        **({"recorded_imu": run["recorded_imu"]} if run.get("recorded_imu") else {}),
    }


def _execution(summary):
    return {"messages": summary.get("messages", {}), **_mapping(summary.get("execution"))}


def _mapping(value):
    return dict(value) if isinstance(value, dict) else {} if value is None else {"model": value}
