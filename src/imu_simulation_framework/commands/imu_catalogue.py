"""List the bundled IMUs with key figures from their data sheets and their heading drift.

The command line is defined in :mod:`.parsers.imu_catalogue`.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd

from ..core.errors import ConfigurationError
from ..core.units import factor
from ..heading.model import imu_error_sources
from ..motion.motion import Motion
from ..report import table as table_text
from ..report.table import Column
from ..sensors import measured
from ..sensors.files import CatalogueEntry, imu_catalogue
from ..sensors.noise.processes import FLICKER_PLATEAU
from ..sensors.operation import Operation
from . import motion_options

PROBABILITIES = (0.5, 0.95)
NOT_STATED = "not stated"
_CASES = {
    "zeroed": (),
    "calibrated": (imu_error_sources.SCALE_FACTOR, imu_error_sources.MISALIGNMENT),
}
"""Error sources that are excluded from a heading error, by column of the IMU table."""
COLUMNS = (
    Column("imu", "IMU"),
    Column("walk", "random walk [deg/sqrt(h)]"),
    Column("instability", "lowest Allan deviation [deg/h]"),
    Column("offset", "offset [deg/s]"),
    Column("scale", "scale factor [%]"),
    Column("zeroed", "heading drift [deg]"),
    Column("calibrated", "calibrated heading drift [deg]"),
)
"""Columns of the IMU table."""


def run(options):
    """Print the IMU table, or the tables of measured values.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.
    """
    entries = imu_catalogue()
    if options.measured:
        print(measured_tables(entries), end="")
        return
    chosen_motion = motion_options.choose_motion(options, linear=True, default="a")
    table = catalogue_table(entries, chosen_motion.motion, options.at, chosen_motion.sample)
    title = (
        f"{chosen_motion.name}, {Operation().sentence()}, any individual sensor: "
        f"yaw error after {options.at:g} s, 50th and 95th percentile"
    )
    print(title, *(f"note: {remark}" for remark in chosen_motion.remarks), sep="\n")
    print(table_text.format_table(table, COLUMNS, options.table), end="")


def catalogue_table(
    entries: list[CatalogueEntry], motion: Motion, at: float, sample: float | None = None
) -> pd.DataFrame:
    """Create the IMU table.

    Parameters
    ----------
    entries : list of CatalogueEntry
        Bundled IMUs.
    motion : Motion
        Motion of the robot.
    at : float
        Time of the yaw error since the start of the motion [s].
    sample : float, optional
        Sampling period of the sensors, as for :func:`.yaw_error_model` [s].

    Returns
    -------
    pandas.DataFrame
        One row of texts per IMU, with the columns :data:`COLUMNS`.

    Raises
    ------
    ConfigurationError
        The motion is shorter than ``at``.
    """
    if at > motion.duration * (1.0 + 1e-9):
        raise ConfigurationError(
            f"the motion lasts {motion.duration:.6g} s, expected at least {at:g} s"
        )
    return pd.DataFrame([_row(entry, motion, at, sample) for entry in entries])


def _row(entry, motion, at, sample):
    specification = entry.specification
    gyroscope = specification.gyroscope
    row = {"imu": specification.name}
    for column, parameter, per_value, unit in (
        ("walk", "white_noise", 1.0, math.radians(1.0) / 60.0),
        ("instability", "bias_instability", FLICKER_PLATEAU, math.radians(1.0) / 3600.0),
        ("offset", "turn_on_bias_sigma", 1.0, math.radians(1.0)),
        ("scale", "scale_factor_and_misalignment", 1.0, 0.01),
    ):
        values = per_value * np.array(getattr(gyroscope, parameter))
        values = np.diag(values) if values.ndim == 2 else values
        row[column] = NOT_STATED
        if entry.states("gyroscope", parameter) and np.any(values):
            row[column] = f"{np.sqrt(np.mean(np.square(values))) / unit:.3g}"
    part = measured.part_of(specification).specification
    model = imu_error_sources.yaw_error_model(part, motion, sample=sample, operation=Operation())
    model = model.until(min(round(at / model.step) + 1, len(model.time)))
    for name, left_out in _CASES.items():
        sources = tuple(source for source in model.sources if source.name not in left_out)
        case = replace(model, sources=sources)
        row[name] = " / ".join(
            _digits(math.degrees(case.absolute_quantile(probability)))
            for probability in PROBABILITIES
        )
    return row


def _digits(value):
    """Format a number with two significant digits, and without decimals if it is at least 10."""
    return f"{value:.0f}" if value >= 10.0 else f"{value:.2g}"


_TITLES = {
    "white_noise": "N",
    "bias_instability": "lowest Allan deviation",
    "random_walk": "K",
    "turn_on_bias": "offset",
    "scale_factor": "scale factor",
    "misalignment": "misalignment",
    "temperature_bias": "offset per kelvin",
}
_UNITS = {
    "gyroscope": ("deg/sqrt(h)", "deg/h", "deg/h/sqrt(h)", "deg/s", "%", "deg", "deg/s/K"),
    "accelerometer": ("ug/sqrt(Hz)", "ug", "ug/sqrt(s)", "mg", "%", "deg", "mg/K"),
}


def measured_tables(entries: list[CatalogueEntry]) -> str:
    """Create Markdown tables of measured values.

    Parameters
    ----------
    entries : list of CatalogueEntry
        Bundled IMUs, whose data sheets are compared with the measured values.

    Returns
    -------
    str
        Tables in Markdown.
    """
    table, classes = measured.measurements(), dict(measured.measured_parts()["class"])
    estimates = {part: measured.estimates(part, table) for part in classes}
    sheets = {entry.specification.name: entry for entry in entries}
    texts = []
    for triad in _UNITS:
        rows = [
            _noise(part, classes[part], estimates[part], sheets.get(part), triad)
            for part in estimates
        ]
        texts += [f"### {triad.capitalize()}s\n", _markdown(rows)]
    rows = [_calibration(part, estimates[part]) for part in estimates]
    texts += ["### Calibrations\n", _markdown([row for row in rows if len(row) > 1])]
    texts += ["### Excluded values\n", _left_out(), "### Sources\n", _sources()]
    return "\n".join(texts)


def _noise(part, kind, estimates, sheet, triad):
    row = {"part": part, "class": kind}
    units = []
    for quantity in measured.NOISE:
        estimate, size = estimates.get((triad, quantity)), _size(triad, quantity)
        heading = f"{_TITLES[quantity]} [{_unit(triad, quantity)}]"
        row[heading] = "-" if estimate is None else _shown(estimate, size)
        units.append("-" if estimate is None else str(estimate.units))
        if quantity != "random_walk":
            heading = f"data sheet's {_TITLES[quantity]}"
            row[heading] = "-"
            if sheet is not None and sheet.states(triad, quantity):
                values = np.array(getattr(getattr(sheet.specification, triad), quantity))
                row[heading] = f"{math.sqrt(np.mean(np.square(values))) / size:.3g}"
    return {**row, "sensors": " / ".join(units)}


def _calibration(part, estimates):
    row = {"part": part}
    for triad in _UNITS:
        for quantity in measured.CALIBRATION:
            estimate = estimates.get((triad, quantity))
            if estimate is not None and estimate.units:
                heading = f"{triad}'s {_TITLES[quantity]} [{_unit(triad, quantity)}]"
                size = _size(triad, quantity)
                row[heading] = f"{estimate.median / size:.2g} ({estimate.units})"
    return row


def _left_out():
    table = measured.measured_values()
    table = table[table["excluded"] != ""]
    rows = [
        {
            "reason": reason,
            "number of values": str(len(group)),
            "parts": ", ".join(sorted({*group["part"]})),
        }
        for reason, group in table.groupby("excluded")
    ]
    return _markdown(sorted(rows, key=lambda row: -int(row["number of values"])))


def _sources():
    table = measured.measured_values().drop_duplicates(["part", "source"])
    return "".join(
        f"- {part}: {'; '.join(sorted(group['source']))}\n" for part, group in table.groupby("part")
    )


def _markdown(rows):
    table = pd.DataFrame(rows).fillna("-")
    return table_text.format_table(
        table, [Column(name, name) for name in table.columns], "markdown"
    )


def _unit(triad, quantity):
    return _UNITS[triad][(*measured.NOISE, *measured.CALIBRATION).index(quantity)]


def _size(triad, quantity):
    unit = _unit(triad, quantity)
    size = 0.01 if unit == "%" else factor(unit)
    return size / FLICKER_PLATEAU if quantity == "bias_instability" else size


def _shown(estimate, size):
    return f"{estimate.median / size:.3g} ({math.exp(estimate.spread):.2g})"
