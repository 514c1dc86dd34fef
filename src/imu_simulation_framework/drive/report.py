"""Results of an experiment: tables, summary and figures as files, and a report as a web page."""

from __future__ import annotations

import contextlib
import math
import traceback

from ..core.errors import FrameworkError
from ..core.files import DEFAULT_ROBOT, format_json
from ..core.tables import WHEELS
from ..report.page import Page, Section, Table, tabulate_values
from ..report.rendering import render_figures, second_renderer
from .figures import FIGURES
from .summary import HEADINGS, IMUS, NO_DESCRIPTION, NOT_DRAWN, evaluate, parts_of_rms

FIGURE_SECTIONS = {
    "yaw_error": (
        "Yaw error",
        "The main result: reference minus IMU, zero over the first seconds. The trend, a median "
        "over {window:g} s, is the drift; deviations from it are noise.",
    ),
    "yaw_error_along_path": (
        "Yaw error along the path",
        "The yaw error is shown as colour along the path, with the latest part on top. Parts with "
        "only a thin line have no yaw error.",
    ),
    "yaw_error_relative": (
        "Growth of the yaw error",
        "Change of the yaw error over intervals of distance or turn angle that start anywhere in "
        "the drive. Noise causes a flat part on the left, drift a rising part. The curve does not "
        "depend on the duration of the drive, so that different drives can be compared.",
    ),
    "yaw_errors_difference": (
        "Difference of the yaw errors",
        "Recorded minus simulated error; both are random, so that their difference need not be "
        "close to zero.",
    ),
    "yaw_errors_psd": (
        "Spectrum of the yaw errors",
        "Drift is on the left, noise on the right. A good model has the same power as the sensor "
        "at each frequency. Where the bands overlap, the difference may be due to chance. Where "
        "the reference alone has the same power, the error is caused by the reference.",
    ),
    "imu_yaw": (
        "Yaw",
        "Yaw of each IMU, drawn over its reference yaw. Zoom in to see the differences.",
    ),
    "yaw_psd": (
        "Spectrum of the yaw",
        "Power spectral density of the yaw after removing a linear trend; peaks result from "
        "repeated laps.",
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
        "Commanded and actual velocities; a wheel that lags behind its command causes a tracking "
        "error.",
    ),
}
"""Heading and explanation for each figure in :data:`.FIGURES`, in the order of the page."""


def section(name, comparison) -> Section:
    """Return the report section that shows a figure.

    Parameters
    ----------
    name : str
        Key of :data:`.FIGURES`.
    comparison : Comparison
        Compared yaw signals and tracking errors.

    Returns
    -------
    Section
        Heading, figure and explanation.
    """
    heading, how_to_read = FIGURE_SECTIONS[name]
    how_to_read = how_to_read.format(window=comparison.settings.median_window)
    return Section(heading, figure=FIGURES[name](comparison), how_to_read=how_to_read)


# Keys of the run description that are shown in separate tables.
_SEPARATE_PARTS = ("imu", "recording", "recorded_imu")


def experiment_page(comparison, summary, caption) -> Page:
    """Create the web page of an experiment.

    Parameters
    ----------
    comparison : Comparison
        Compared yaw signals and tracking errors.
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
            text=["Findings in the recording; counts of zero are omitted."],
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
                f"the {name} had a yaw error of {math.degrees(statistics['final_rad']):.2f} deg at "
                f"the end and {math.degrees(statistics['maximum_absolute_rad']):.2f} deg at most"
                f"{_describe_parts(statistics)}"
            )
    duration = summary["durations"]["recorded_s"]
    if not results:
        return [f"No yaw error could be determined in these {duration:.0f} s."]
    sentence = f"After {duration:.0f} s: {'; '.join(results)}."
    caution = (
        "The errors of two IMUs are two realisations of random processes: compare their magnitude "
        "and character, not their course over time."
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
        f" ({math.degrees(statistics['rms_rad']):.2f} deg rms; expected contribution of the "
        f"reference: {reference_part}, of the IMU: {imu_part})"
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
        *("", "interval length", "rms [deg]", "reference rms [deg]", "mean [deg]", "largest [deg]"),
        "independent intervals",
    )
    return Table(headings, rows, numbers=6)


def _mapping(value):
    return dict(value) if isinstance(value, dict) else {} if value is None else {"model": value}


# The second process saves one second of wall-clock time and needs 100 MB. After a long drive, this
# second is negligible, and the node itself needs more memory: 200 MB for 66 000 samples.
MAX_SAMPLES_OF_TWO_RENDERERS = 20_000


def write_results(
    folder, tables, settings=None, run=NO_DESCRIPTION, save_tables=True, formats=("png",)
):
    """Write the CSV files, the summary and the figures of an experiment, in this order.

    Parameters
    ----------
    folder : ResultFolder
        Folder of the result.
    tables : ExperimentTables
        Tables of a complete or an interrupted experiment.
    settings : ComparisonSettings, optional
        Settings of the comparison.
    run : RunDescription
        Further facts about the experiment.
    save_tables : bool
        Whether to write the CSV files.
    formats : sequence of str
        Figure formats ``png``, ``pdf`` or ``svg``; without formats, no figures are written.

    Returns
    -------
    dict
        Summary of the experiment.

    Raises
    ------
    ResultError
        A file cannot be written. Files that were written before it are complete.
    """
    # The second renderer imports Matplotlib while this process writes and evaluates the tables.
    has_second = bool(formats) and len(tables.imu_simulated) <= MAX_SAMPLES_OF_TWO_RENDERERS
    with second_renderer() if has_second else contextlib.nullcontext() as second:
        if save_tables:
            tables.save(folder)
        summary, comparison = evaluate(tables, settings, run)
        folder.write_text("summary.json", format_json(summary))
        failures = {}
        if formats:
            footer = caption(folder, summary)
            failures = _write_figures(folder, comparison, formats, footer, second)
    if failures:
        summary["missing_figures"] = list(failures)
        notes = [f"the figure {name} {NOT_DRAWN}: {failures[name]}" for name in failures]
        summary["notes"].extend(notes)
        folder.write_text("summary.json", format_json(summary))
    return summary


def caption(folder, summary) -> str:
    """Return the caption that all figures share.

    Parameters
    ----------
    folder : ResultFolder
        Folder of the result.
    summary : mapping
        Content of summary.json.

    Returns
    -------
    str
        Drive, robot (unless it is the bundled one), IMU, seed and date of the experiment.
    """
    run = summary["run"]
    robot = run.get("robot")
    imu = run.get("imu")
    label = (imu.get("label") or imu.get("model")) if isinstance(imu, dict) else imu
    scale = run.get("trajectory_scale")
    parts = [
        f"drive {run['drive']}" if run.get("drive") else None,
        f"{summary['durations']['recorded_s']:.0f} s",
        f"path scaled by {scale:g}" if isinstance(scale, float) and scale != 1.0 else None,
        f"robot {robot}" if robot not in (None, DEFAULT_ROBOT) else None,
        f"simulated IMU {label}" if label else None,
        f"seed {run['seed']}" if run.get("seed") is not None else None,
        run.get("simulator"),
        folder.start,
    ]
    return " · ".join(str(part) for part in parts if part)


def _write_figures(folder, comparison, formats, footer, second):
    """Write all figures; return the reason for each figure that cannot be drawn, by name.

    An error in one figure must not prevent the other figures or the results of the experiment.
    """
    failures: dict[str, str] = {}
    figures = _describe_figures(comparison, failures)
    for name, rendered in render_figures(figures, footer, formats, second):
        if rendered.failure:
            failures[name] = rendered.failure
        for format, content in rendered.contents.items():
            folder.write_bytes(f"{name}.{format}", content)
    return failures


def _describe_figures(comparison, failures):
    """Yield names and descriptions of all figures; add errors to ``failures`` by name."""
    for name, describe in FIGURES.items():
        try:
            figure = describe(comparison)
        except FrameworkError:
            raise
        except Exception as error:
            traceback.print_exc()
            failures[name] = repr(error)
        else:
            yield name, figure
