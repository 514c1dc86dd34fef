"""Tables, summary, figure and web page with the results of a validation."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import pandas as pd

from ... import __version__
from ...report import style
from ...report.figure import Figure
from ...report.page import Page, Section, Table
from .errors import NORM, UNITS, ImuValidation
from .limits import STATISTICS, Limit

_TITLES = {"rate": "angular velocity", "force": "specific force", "orientation": "orientation"}


def errors_table(validation: ImuValidation) -> pd.DataFrame:
    """Create a table with the error statistics of all axes.

    Parameters
    ----------
    validation : ImuValidation
        Errors of an IMU.

    Returns
    -------
    pandas.DataFrame
        A row for each axis, with the columns quantity, axis, unit and the statistics.
    """
    return pd.DataFrame(
        [
            [axis.quantity, axis.axis, UNITS[axis.quantity]]
            + [getattr(axis.statistics, name) for name in STATISTICS]
            for axis in validation.axes
        ],
        columns=["quantity", "axis", "unit", *STATISTICS],
    )


def allan_table(validation: ImuValidation) -> pd.DataFrame:
    """Create a table with the Allan deviations of the errors of all axes.

    Parameters
    ----------
    validation : ImuValidation
        Errors of an IMU.

    Returns
    -------
    pandas.DataFrame
        Columns quantity, axis, tau [s] and allan_deviation.
    """
    rows = [
        (axis.quantity, axis.axis, tau, value)
        for axis in validation.axes
        for tau, value in zip(axis.tau, axis.allan_deviation)
    ]
    return pd.DataFrame(rows, columns=["quantity", "axis", "tau", "allan_deviation"])


def text_lines(
    validation: ImuValidation, errors: pd.DataFrame, judged: Sequence[tuple[Limit, float]]
) -> list[str]:
    """Format error statistics and their limits as lines for the terminal.

    Parameters
    ----------
    validation : ImuValidation
        Errors of an IMU.
    errors : pandas.DataFrame
        Result of :func:`errors_table`.
    judged : sequence of tuple
        Limits with values, from :func:`.judge_limits`.

    Returns
    -------
    list of str
        Lines of text.
    """
    lines = ["error of    axis   unit           mean         std         rms     maximum"]
    for row in errors.itertuples(index=False):
        lines.append("{:<12}{:<7}{:<7}{:>12.4g}{:>12.4g}{:>12.4g}{:>12.4g}".format(*row))
    lines.append(f"{len(validation.time)} samples, {validation.time[-1] - validation.time[0]:g} s")
    for limit, value in judged:
        word = "passed" if limit.is_kept(value) else "FAILED"
        amount = f"{value:.4g} {UNITS[limit.quantity]}"
        lines.append(f"{word}: {limit.name} {amount}, limit {limit.maximum:g}")
    return lines


def validation_summary(
    validation: ImuValidation,
    errors: pd.DataFrame,
    judged: Sequence[tuple[Limit, float]],
    remarks: Sequence[str],
) -> dict[str, Any]:
    """Return the results of a validation as JSON types.

    Parameters
    ----------
    validation : ImuValidation
        Errors of an IMU.
    errors : pandas.DataFrame
        Result of :func:`errors_table`.
    judged : sequence of tuple
        Limits with values, from :func:`.judge_limits`.
    remarks : sequence of str
        Remarks on the recordings and on the validation.

    Returns
    -------
    dict of str to object
        Results, keyed by name.
    """
    limits = [
        {
            "limit": limit.name,
            "maximum": limit.maximum,
            "value": value,
            "passed": limit.is_kept(value),
        }
        for limit, value in judged
    ]
    return {
        "samples": len(validation.time),
        "time_shift": validation.shift,
        "errors": errors.to_dict("records"),
        "limits": limits,
        "passed": all(limit["passed"] for limit in limits),
        "remarks": list(remarks),
    }


def validation_figure(validation: ImuValidation) -> Figure:
    """Create a figure of an IMU's errors over time, and of their Allan deviations.

    Parameters
    ----------
    validation : ImuValidation
        Errors of an IMU.

    Returns
    -------
    Figure
    """
    figure = Figure(widths=(1.0, 1.0), width=11.0)
    for quantity in dict.fromkeys(axis.quantity for axis in validation.axes):
        shown_axes = [
            axis for axis in validation.axes if axis.quantity == quantity and axis.axis != NORM
        ]
        styles = style.line_styles(len(shown_axes))
        unit = UNITS[quantity].replace("^2", "²")
        title = f"{_TITLES[quantity]}, truth minus IMU"
        figure.panel(f"error [{unit}]", title, height=240).zero_line()
        for axis, line in zip(shown_axes, styles):
            thin = {**line, "linestyle": "-", "linewidth": 0.8, "alpha": 0.8}
            figure.line(validation.time - validation.time[0], axis.error, thin, axis.axis)
        title = "Allan deviation of the error"
        figure.panel(f"[{unit}]", title, x="averaging time [s]", log="xy", height=240)
        for axis, line in zip(shown_axes, styles):
            is_positive = axis.allan_deviation > 0.0
            figure.line(axis.tau[is_positive], axis.allan_deviation[is_positive], line, axis.axis)
    return figure


def validation_page(
    validation: ImuValidation, errors: pd.DataFrame, summary: Mapping[str, Any]
) -> Page:
    """Create the web page of a validation.

    Parameters
    ----------
    validation : ImuValidation
        Errors of an IMU.
    errors : pandas.DataFrame
        Result of :func:`errors_table`.
    summary : mapping of str to object
        Result of :func:`validation_summary`, with the names of the recordings as ``simulated`` and
        ``truth``.

    Returns
    -------
    Page
    """
    verdicts = {True: "passed", False: "FAILED"}
    limits: list[tuple[str, ...]] = [
        (
            judged["limit"],
            f"{judged['value']:.4g}",
            f"{judged['maximum']:g}",
            verdicts[judged["passed"]],
        )
        for judged in summary["limits"]
    ]
    rows = [
        [*map(str, names), *(f"{value:.4g}" for value in statistics)]
        for names, statistics in zip(
            errors[["quantity", "axis", "unit"]].to_numpy(), errors[list(STATISTICS)].to_numpy()
        )
    ]
    headings = ("error of", "axis", "unit", "mean", "std", "rms", "maximum")
    failed = sum(not judged["passed"] for judged in summary["limits"])
    verdict = "No limits were given."
    if limits:
        verdict = f"{failed} of {len(limits)} limits exceeded." if failed else "Within all limits."
    sections = [Section("Errors", text=summary["remarks"], table=Table(headings, rows, numbers=4))]
    if limits:
        table = Table(("limit", "value", "maximum", ""), limits, numbers=3)
        sections.insert(0, Section("Limits", table=table))
    sections.append(
        Section("Errors and their Allan deviation", figure=validation_figure(validation))
    )
    return Page(
        title="Comparison of an IMU with ground truth",
        summary=[f"{summary['simulated']} compared with {summary['truth']}.", verdict],
        sections=sections,
        footer=f"imu_simulation_framework {__version__}",
    )
