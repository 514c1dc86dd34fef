"""Results of an experiment: files with tables, summary and figures, and a report as a web page."""

from __future__ import annotations

import gc
import math
import traceback

from ..core.errors import FrameworkError
from ..core.files import format_json
from ..core.tables import WHEELS
from ..report.page import Page, Section, Table, tabulate_values
from .figures import FIGURES
from .summary import HEADINGS, IMUS, NO_DESCRIPTION, evaluate, parts_of_rms

FIGURE_SECTIONS = {
    "yaw_error": (
        "Yaw error",
        "The main result: reference minus IMU, zero over the first seconds. The trend, a median "
        "over {window:g} s, is the drift; deviations from it are noise.",
    ),
    "yaw_error_along_path": (
        "Yaw error along the path",
        "The yaw error as a colour on the path, the latest on top. Parts with the thin line only "
        "have no yaw error.",
    ),
    "yaw_error_relative": (
        "Growth of the yaw error",
        "Change of the error over intervals of distance and of turning, from any start: noise "
        "makes it flat at the left, drift makes it rise. It does not depend on the duration of "
        "the drive, so drives can be compared.",
    ),
    "yaw_errors_difference": (
        "Difference of the yaw errors",
        "Recorded minus simulated error; both are random, so it need not be near zero.",
    ),
    "yaw_errors_psd": (
        "Spectrum of the yaw errors",
        "Drift is at the left, noise at the right: a good model has as much power at each "
        "frequency as the sensor. Where the bands overlap the difference may be chance; where the "
        "reference alone has as much, the error is the reference's.",
    ),
    "imu_yaw": ("Yaw", "Each IMU on the heading that is right for it. Zoom in to see them apart."),
    "yaw_psd": (
        "Spectrum of the yaw",
        "The same of the heading itself, its linear trend removed; peaks are the rounds of the "
        "drive.",
    ),
    "trajectory": (
        "Trajectory",
        "The reference path, and the path of the simulated robot.",
    ),
    "control_error": (
        "Tracking error",
        "Deviation of the robot from the trajectory. The comparison is meaningful only if it is "
        "small relative to the yaw errors.",
    ),
    "wheel_velocities": (
        "Wheel velocities",
        "Commanded and actual velocities: a wheel that lags behind explains a tracking error.",
    ),
}
"""Heading and explanation by the name of a figure in :data:`.FIGURES`, in the order of a page."""


def section(name, comparison) -> Section:
    """Return a section of the report with a figure.

    Parameters
    ----------
    name : str
        Key of :data:`.FIGURES`.
    comparison : Comparison
        Compared yaws and tracking errors.

    Returns
    -------
    Section
        Heading, figure and explanation.
    """
    heading, how_to_read = FIGURE_SECTIONS[name]
    how_to_read = how_to_read.format(window=comparison.settings.median_window)
    return Section(heading, figure=FIGURES[name](comparison), how_to_read=how_to_read)


# Parts of a run with a table of their own.
_SEPARATE_PARTS = ("imu", "recording", "recorded_imu")


def experiment_page(comparison, summary, caption) -> Page:
    """Return the page of an experiment.

    Parameters
    ----------
    comparison : Comparison
        Compared yaws and tracking errors.
    summary : mapping
        Content of summary.json.
    caption : str
        Drive, model, seed and date of the experiment.

    Returns
    -------
    Page
        Described page.
    """
    run = summary.get("run", {})
    recorded = {"recorded_imu": run["recorded_imu"]} if run.get("recorded_imu") else {}
    recording = {**_mapping(run.get("recording")), **recorded}
    execution = {"messages": summary.get("messages", {}), **_mapping(summary.get("execution"))}
    experiment = {
        **{name: value for name, value in run.items() if name not in _SEPARATE_PARTS},
        **_mapping(summary.get("durations")),
        "evaluation": _mapping(summary.get("comparison_settings")),
    }
    sections = [
        Section("Result", text=tuple(summary.get("notes", ())), table=_statistics(summary)),
        *(section(name, comparison) for name in FIGURE_SECTIONS),
        Section("Drift over distance and turn", table=_relative(summary), folded=True),
        Section("Experiment", table=tabulate_values(experiment), folded=True),
        Section("Simulated IMU", table=tabulate_values(_mapping(run.get("imu"))), folded=True),
        Section(
            "Recording",
            text=["Findings in the recording; counts of zero are left out."],
            table=tabulate_values(recording, skip_empty=True),
            folded=True,
        ),
        Section("Messages and versions", table=tabulate_values(execution), folded=True),
    ]
    drive = run.get("drive")
    return Page(
        title=f"Yaw error on {drive}" if drive else "Yaw error of an experiment",
        summary=_answer(summary),
        sections=[
            part
            for part in sections
            if (part.figure and not part.figure.is_empty) or (part.table and part.table.rows)
        ],
        footer=caption,
    )


def _answer(summary) -> list[str]:
    results = []
    for key, name in HEADINGS:
        statistics = summary["yaw_error"].get(key)
        if statistics and statistics.get("final_rad") is not None:
            results.append(
                f"the {name} was {math.degrees(statistics['final_rad']):.2f} deg off at the end "
                f"and {math.degrees(statistics['maximum_absolute_rad']):.2f} deg at most"
                f"{_describe_parts(statistics)}"
            )
    duration = summary["durations"]["recorded_s"]
    if not results:
        return [f"No yaw error could be determined in these {duration:.0f} s."]
    sentence = f"After {duration:.0f} s: {'; '.join(results)}."
    caution = (
        "Two IMUs are two realisations of chance: compare the magnitude and the character of "
        "their errors, not their course."
    )
    imus = [summary["yaw_error"].get(key) or {} for key, _ in IMUS]
    both = all(imu.get("final_rad") is not None for imu in imus)
    return [sentence, caution] if both else [sentence]


def _describe_parts(statistics) -> str:
    reference = statistics.get("reference")
    if not reference:
        return ""
    reference_part, imu_part = parts_of_rms(reference)
    return (
        f" (of {math.degrees(statistics['rms_rad']):.2f} deg rms the reference is expected to have "
        f"{reference_part}, and the IMU {imu_part})"
    )


def _statistics(summary):
    degrees = math.degrees(1.0)
    rows = []
    for key, name in (*HEADINGS, ("difference", "recorded minus simulated")):
        values = summary["yaw_error"].get(key)
        if values:
            drift = _scaled(values.get("drift_rad_per_s"), 60.0 * degrees)
            rows.append((f"yaw error, {name} [deg]", *_cells(values, "rad", degrees), drift))
    for key, name, unit, shown_unit, factor in (
        ("yaw_error", "tracking error, yaw", "rad", "deg", degrees),
        ("distance_error", "tracking error, distance", "m", "m", 1.0),
    ):
        values = summary.get("tracking", {}).get(key)
        if values:
            rows.append((f"{name} [{shown_unit}]", *_cells(values, unit, factor), ""))
    for wheel, values in summary.get("wheels", {}).items():
        name, unit = f"{wheel} wheel, velocity [rad/s]", "rad_per_s"
        if wheel not in WHEELS:
            name, unit = f"{wheel.replace('_', ', ')}, angle [rad]", "rad"
        rows.append((name, *_cells(values, unit, 1.0), ""))
    headings = ("", "rms", "mean", "largest", "final", "drift per minute")
    return Table(headings, rows, numbers=5)


def _cells(values, unit, factor):
    names = ("rms", "mean", "maximum_absolute", "final")
    return tuple(_scaled(values.get(f"{name}_{unit}"), factor) for name in names)


def _scaled(value, factor):
    return "-" if value is None else f"{factor * value:.3f}"


def _relative(summary):
    rows = []
    for key, name in HEADINGS:
        values = summary["yaw_error"].get(key) or {}
        for part, length, factor, unit in (
            ("over_distance", "length_m", 1.0, "m"),
            ("over_turn", "turn_rad", math.degrees(1.0), "deg"),
        ):
            for entry in values.get(part) or ():
                keys = ("rms_rad", "reference_rms_rad", "mean_rad", "maximum_absolute_rad")
                errors = (_scaled(entry.get(key), math.degrees(1.0)) for key in keys)
                over = f"{factor * entry[length]:g} {unit}"
                rows.append((name, over, *errors, f"{entry['independent']:g}"))
    headings = (
        *("", "over", "rms [deg]", "of the reference [deg]", "mean [deg]", "largest [deg]"),
        "stretches end to end",
    )
    return Table(headings, rows, numbers=6)


def _mapping(value):
    return dict(value) if isinstance(value, dict) else {} if value is None else {"model": value}


def write_results(
    folder, tables, settings=None, run=NO_DESCRIPTION, save_tables=True, formats=("png",)
):
    """Write an experiment's CSV files, its summary and its figures, in this order.

    Parameters
    ----------
    folder : ResultFolder
        Folder of the result.
    tables : ExperimentTables
        Tables, perhaps of an interrupted experiment.
    settings : ComparisonSettings, optional
        Settings of the comparison.
    run : RunDescription
        Further facts about the experiment.
    save_tables : bool
        Whether to write the CSV files.
    formats : sequence of str
        Formats of the figures: ``png``, ``pdf`` or ``svg``; no figures without a format.

    Returns
    -------
    dict
        Summary of the experiment.

    Raises
    ------
    ResultError
        A file cannot be written. The files before it are complete.
    """
    if save_tables:
        tables.save(folder)
    summary, comparison = evaluate(tables, settings, run)
    folder.write_text("summary.json", format_json(summary))
    failures = _write_figures(folder, comparison, formats, caption(folder, summary))
    if failures:
        summary["notes"].extend(failures)
        folder.write_text("summary.json", format_json(summary))
    return summary


def caption(folder, summary) -> str:
    """Return the caption of each figure.

    Parameters
    ----------
    folder : ResultFolder
        Folder of the result.
    summary : mapping
        Content of summary.json.

    Returns
    -------
    str
        Drive, IMU, seed and date of the experiment.
    """
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
    """Write all figures; return a message for each figure that could not be drawn.

    A defect in a figure must not prevent the other figures or the results of the experiment.
    """
    failures: list[str] = []
    for name, describe in FIGURES.items() if formats else ():
        try:
            # Matplotlib is imported after everything else is saved, and only for figures.
            from ..report.drawing import to_matplotlib

            figure = to_matplotlib(describe(comparison), footer)
            for format in formats:
                folder.write_figure(name, figure, format)
            del figure
            gc.collect()  # a matplotlib figure refers to itself and would stay in memory
        except FrameworkError:
            raise
        except Exception as error:
            traceback.print_exc()
            failures.append(f"The figure {name} could not be drawn: {error!r}.")
    return failures
