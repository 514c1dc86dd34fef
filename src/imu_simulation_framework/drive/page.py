"""The report of an experiment as a web page.

The figures of an experiment's page, with what to look at in each.

The report of an experiment: the simulated IMU's yaw error beside the recorded one's.
"""

from __future__ import annotations

import math

import numpy as np

from imu_simulation_framework.core.columns import WHEELS
from imu_simulation_framework.core.spectrum import (
    confidence_factors,
    logarithmic_average,
    variance_interval,
)
from imu_simulation_framework.report import colours, style
from imu_simulation_framework.report.charts import Chart
from imu_simulation_framework.report.page import Page, Section, Table, facts, number

BANDS = 40
"""Frequency bands per decade in which a density is averaged."""

CONFIDENCE = 0.95
"""Of the bands around densities and relative errors."""

_THIN = {**style.REAL, "linewidth": 1.0}


def chart_sections(comparison) -> list[Section]:
    """Return a section for each figure for which there are data.

    Parameters
    ----------
    comparison : Comparison
    """
    made = [section(name, comparison) for name in _SECTIONS]
    return [one for one in made if one is not None]


def section(name, comparison) -> Section | None:
    """Return the section of one figure; None where there are no data for it.

    Parameters
    ----------
    name : str
        As in :data:`.FIGURES`.
    comparison : Comparison
    """
    return _SECTIONS[name](comparison)


def _yaw_error(comparison):
    imus = style.imus(comparison)
    if not imus:
        return None
    chart = Chart().panel("yaw error [deg]", height=340)
    for result, line, name in imus:
        chart.line(result.error.index, np.degrees(result.error), _raw(line), name)
    for result, line, name in imus:
        chart.line(result.trend.index, np.degrees(result.trend), line, f"{name}, trend")
    return Section(
        "Yaw error",
        figure=chart.figure(),
        how_to_read=(
            "The main result: reference minus IMU, zero over the first seconds. The trend, a "
            f"median over {comparison.settings.median_window:g} s, is the drift; what "
            "is around it is noise."
        ),
    )


def _yaw_error_along_path(comparison):
    imus = [
        (result, name, path)
        for result, name, path in (
            (comparison.real, "recorded IMU", comparison.trajectory),
            (comparison.simulated, "simulated IMU", comparison.ground_truth),
        )
        if result is not None and len(path)
    ]
    if not imus:
        return None
    chart = Chart(x="x [m]", hover="closest")
    for place, (result, name, path) in enumerate(imus):
        chart.panel(
            "y [m]", title=name, equal=True, height=320, x="" if place + 1 < len(imus) else None
        )
        chart.path(path["x"], path["y"], {"color": colours.LINE_GREY, "linewidth": 0.6}, "path")
        time = np.asarray(result.error.index, dtype=float)
        x, y = (np.interp(time, path.index, path[axis]) for axis in "xy")
        chart.coloured(x, y, np.degrees(result.error), name, "yaw error [deg]")
    return Section(
        "Yaw error along the path",
        figure=chart.figure(),
        how_to_read=(
            "The same as a colour on the path, the latest on top: where on the way it went wrong. "
            "Where only the thin line is seen the heading is not judged."
        ),
    )


def _yaw_error_relative(comparison):
    imus = style.imus(comparison)
    if not any(result.over_distance or result.over_turn for result, _, _ in imus):
        return None
    chart = Chart(logarithmic=True)
    for part, factor, title, x in (
        ("over_distance", 1.0, "over distance", "distance driven [m]"),
        ("over_turn", np.degrees(1.0), "over turn", "turn accumulated [deg]"),
    ):
        found = [(getattr(result, part), line, name) for result, line, name in imus]
        if not any(entries for entries, _, _ in found):
            continue
        positive = all(entry.rms > 0.0 for entries, _, _ in found for entry in entries)
        chart.panel("rms change [deg]", title=title, x=x, logarithmic=positive)
        for entries, line, name in found:
            if entries:
                length = factor * np.array([entry.length for entry in entries])
                rms = np.degrees([entry.rms for entry in entries])
                low, high = variance_interval([entry.independent for entry in entries], CONFIDENCE)
                chart.band(
                    length, rms * np.sqrt(low), rms * np.sqrt(high), line["color"], 0.16,
                    "95 %, if stretches are independent",
                )  # fmt: skip
                chart.line_of_points(length, rms, line, name)
    return Section(
        "Growth of the yaw error",
        figure=chart.figure(),
        how_to_read=(
            "How far the error changes over stretches of path and of turning, wherever they begin: "
            "noise makes it flat at the left, drift makes it rise. It does not depend on how long "
            "the drive was, so that drives compare."
        ),
    )


def _difference(comparison):
    found = comparison.difference
    if found is None:
        return None
    chart = Chart().panel("difference [deg]", height=280)
    chart.line(
        found.difference.index, np.degrees(found.difference), _raw(style.DIFFERENCE),
        "recorded minus simulated",
    )  # fmt: skip
    chart.line(found.trend.index, np.degrees(found.trend), style.DIFFERENCE, "trend")
    return Section(
        "Difference of the yaw errors",
        figure=chart.figure(),
        how_to_read=(
            "How far the two errors go apart; both are chance, so it need not be near zero."
        ),
    )


def _spectra(comparison, attribute, heading, how_to_read):
    spectra = [
        (getattr(result, attribute), line, name) for result, line, name in style.imus(comparison)
    ]
    spectra = [row for row in spectra if row[0] is not None and np.any(row[0].density > 0.0)]
    if not spectra:
        return None
    chart = Chart(x="frequency [Hz]", logarithmic=True)
    chart.panel("density [rad²/Hz]", logarithmic=True, height=340)
    for spectrum, line, name in spectra:
        frequency, density = logarithmic_average(spectrum, BANDS)
        low, high = confidence_factors(spectrum, BANDS, CONFIDENCE)
        chart.band(
            frequency, low * density, high * density, line["color"], 0.2,
            "95 %, of a stationary signal",
        )  # fmt: skip
        chart.line(frequency, density, line, name)
    return Section(heading, figure=chart.figure(), how_to_read=how_to_read)


def _error_spectra(comparison):
    return _spectra(
        comparison,
        "error_spectrum",
        "Spectrum of the yaw errors",
        "Drift is at the left, noise at the right: a good model has as much power at each "
        "frequency as the sensor. Where the bands overlap the difference may be chance.",
    )


def _yaw_spectra(comparison):
    return _spectra(
        comparison,
        "yaw_spectrum",
        "Spectrum of the yaw",
        "The same of the heading itself, its linear trend removed; peaks are the rounds of the "
        "drive.",
    )


def _yaw(comparison):
    imus = style.imus(comparison)
    if not imus:
        return None
    chart = Chart().panel("yaw, unwrapped [deg]", height=320)
    looks = {
        "recorded IMU": (style.REFERENCE, "reference"),
        "simulated IMU": (style.TRUTH, "simulator's truth"),
    }
    for result, _, name in imus:
        look, right = looks[name]
        yaw = np.degrees(result.reference_yaw - result.reference_yaw.iloc[0])
        chart.line(yaw.index, yaw, look, right)
    for result, look, name in imus:
        yaw = np.degrees(result.imu_yaw - result.reference_yaw.iloc[0])
        chart.line(yaw.index, yaw, look, name)
    return Section(
        "Yaw",
        figure=chart.figure(),
        how_to_read=(
            "Each IMU on the heading that is right for it, from zero at the start. Zoom in to see "
            "them apart."
        ),
    )


def _trajectory(comparison):
    wanted, driven, fixes = comparison.trajectory, comparison.ground_truth, comparison.fixes
    if not (len(wanted) or len(driven)):
        return None
    chart = Chart(x="x [m]", hover="closest").panel("y [m]", equal=True, height=430)
    if fixes is not None and len(fixes):
        chart.points(fixes["x"], fixes["y"], colours.FIXES, "fixes as received", size=3)
    for table, line, name in (
        (wanted, {**style.REFERENCE, "linewidth": 4.5}, "trajectory"),
        (driven, {**style.REAL, "linewidth": 0.9}, "simulated robot"),
    ):
        if len(table):
            chart.path(table["x"], table["y"], line, name)
    path = wanted if len(wanted) else driven
    for row, symbol, name in ((0, "circle-open", "start"), (-1, "square-open", "end")):
        x, y = path[["x", "y"]].iloc[row]
        chart.points([x], [y], colours.SENSOR, name, size=10, symbol=symbol)
    return Section(
        "Trajectory",
        figure=chart.figure(),
        how_to_read="The path that was to be driven, and the one that the simulated robot drove.",
    )


def _control_error(comparison):
    table = comparison.control_error
    if len(table) == 0:
        return None
    chart = Chart().panel("yaw [deg]", title="Yaw", height=180)
    chart.line(table.index, np.degrees(table["yaw_error"]), _THIN, "yaw")
    chart.panel("position [m]", title="Position", height=220)
    for column, name, line in (
        ("distance_error", "distance", style.DISTANCE),
        ("along_track_error", "along track", {**style.SIMULATED, "linewidth": 1.2}),
        ("cross_track_error", "across track", _THIN),
    ):
        if column in table:
            chart.line(table.index, table[column], line, name)
    return Section(
        "Tracking error",
        figure=chart.figure(),
        how_to_read=(
            "How far the robot was from where it should have been. The comparison means something "
            "only where this is small beside the yaw errors."
        ),
    )


def _wheel_velocities(comparison):
    wheels = comparison.wheels
    if wheels is None:
        return None
    chart = Chart()
    for wheel in WHEELS:
        chart.panel("velocity [rad/s]", title=f"{wheel.capitalize()} wheel", height=180)
        chart.line(
            wheels.commanded.index, wheels.commanded[wheel], {**style.REFERENCE, "linewidth": 3.5},
            "commanded",
        )  # fmt: skip
        if wheels.error is not None:
            chart.line(wheels.actual.index, wheels.actual[wheel], _THIN, "actual")
    if wheels.error is not None:
        chart.panel("difference [rad/s]", title="Commanded minus actual", height=180)
        for wheel, line in (("left", _THIN), ("right", {**style.SIMULATED, "linewidth": 1.0})):
            chart.line(wheels.error.index, wheels.error[wheel], line, wheel)
    return Section(
        "Wheel velocities",
        figure=chart.figure(),
        how_to_read=(
            "What the wheels were told and what they did: a wheel that lags behind explains a "
            "tracking error."
        ),
    )


def _raw(line):
    return {**style.raw(line), "linewidth": 0.8}


_SECTIONS = {
    "yaw_error": _yaw_error,
    "yaw_error_along_path": _yaw_error_along_path,
    "yaw_error_relative": _yaw_error_relative,
    "yaw_errors_difference": _difference,
    "yaw_errors_psd": _error_spectra,
    "imu_yaw": _yaw,
    "yaw_psd": _yaw_spectra,
    "trajectory": _trajectory,
    "control_error": _control_error,
    "wheel_velocities": _wheel_velocities,
}
"""Name of a figure, as in :data:`.FIGURES` -> function that makes a section of a Comparison."""


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
        *chart_sections(comparison),
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
