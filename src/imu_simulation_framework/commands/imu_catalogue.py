"""The bundled IMUs: their documents' key figures, and how far a heading drifts with them.

    imu_catalogue.py                          on drive A, after ten minutes
    imu_catalogue.py --straight 10min
    imu_catalogue.py b --at 5min --table markdown
    imu_catalogue.py --write doc/imu_catalogue.md
    imu_catalogue.py --measured                what was measured of these parts and of others

An angle is what the heading's error does not exceed in 50 and in 95 % of drives, with any unit of
the part, its offset measured during ten seconds at rest before the drive; and the same with scale
factor and axes calibrated. What was measured of a part goes before its document, and where neither
says it ("not stated") the part has what others of its class have (--measured).
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from imu_simulation_framework.commands import heading_choices
from imu_simulation_framework.commands.command_line import write_file
from imu_simulation_framework.commands.measured_tables import measured_tables
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.files import read_settings
from imu_simulation_framework.core.programs import ArgumentParser
from imu_simulation_framework.heading.model.of_imu import (
    MISALIGNMENT,
    SCALE_FACTOR,
    yaw_error_model,
)
from imu_simulation_framework.motion.motion import Motion
from imu_simulation_framework.report import table as table_text
from imu_simulation_framework.report.table import Column
from imu_simulation_framework.sensors.files import CatalogueEntry, imu_catalogue
from imu_simulation_framework.sensors.noise.processes import FLICKER_PLATEAU
from imu_simulation_framework.sensors.operation import Operation
from imu_simulation_framework.sensors.parts import part_of

PROBABILITIES = (0.5, 0.95)
NOT_STATED = "not stated"
BEGIN, END = "<!-- catalogue: begin -->\n", "<!-- catalogue: end -->\n"
_CASES = {"zeroed": (), "calibrated": (SCALE_FACTOR, MISALIGNMENT)}
"""Column -> sources of the yaw error that are left out of it."""
COLUMNS = (
    Column("imu", "IMU"),
    Column("walk", "random walk [deg/sqrt(h)]"),
    Column("instability", "lowest Allan deviation [deg/h]"),
    Column("offset", "offset [deg/s]"),
    Column("scale", "scale factor [%]"),
    Column("zeroed", "heading [deg]"),
    Column("calibrated", "calibrated [deg]"),
)


def main(arguments):
    """Print the table, or write it into a page."""
    parser = ArgumentParser(__doc__)
    heading_choices.add_motion_options(parser)
    parser.add_argument(
        "--at", type=heading_choices.positive_duration, default=600.0, metavar="TIME",
        help="into the drive, by default 10min",
    )  # fmt: skip
    parser.add_argument(
        "--table", choices=("terminal", *table_text.ENDINGS), default="terminal", metavar="FORMAT",
        help=f"how it is printed: terminal (default), {', '.join(table_text.ENDINGS)}",
    )  # fmt: skip
    parser.add_argument(
        "--write", type=Path, metavar="PAGE",
        help="put the table in Markdown between the marks of this page instead",
    )  # fmt: skip
    parser.add_argument(
        "--measured", action="store_true",
        help="in Markdown what was measured of parts, beside what their documents say",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    if options.measured:
        text = measured_tables(imu_catalogue())
        if options.write is None:
            print(text, end="")
        else:
            page = between_marks(read_settings(options.write), text)
            write_file(options.write, page.encode("utf-8"))
        return
    if not heading_choices.names_a_motion(options):
        options.drive = "a"
    chosen = heading_choices.chosen_motion(options, linear=True)
    entries = imu_catalogue()
    table = catalogue_table(entries, chosen.motion, options.at, chosen.sample)
    if options.write is None:
        print(
            f"{chosen.name}, {Operation().sentence()}, any unit: yaw error after {options.at:g} s, "
            "50 and 95 %"
        )
        for remark in chosen.remarks:
            print(f"note: {remark}")
        print(table_text.table_text(table, COLUMNS, options.table), end="")
        return
    page = read_settings(options.write)
    write_file(options.write, page_with_table(page, entries, table).encode("utf-8"))


def catalogue_table(
    entries: list[CatalogueEntry], motion: Motion, at: float, sample: float | None = None
) -> pd.DataFrame:
    """Return the table: a row for each IMU, columns as the keys of ``COLUMNS``, texts.

    ``at``: time into the motion [s]. ``sample``: as for :func:`.yaw_error_model`. Raises
    ConfigurationError if the motion ends earlier.
    """
    if at > motion.duration * (1.0 + 1e-9):
        raise ConfigurationError(
            f"the motion lasts {motion.duration:.6g} s, so that nothing is known at {at:g} s"
        )
    return pd.DataFrame([_row(entry, motion, at, sample) for entry in entries])


def page_with_table(page: str, entries: list[CatalogueEntry], table: pd.DataFrame) -> str:
    """Return a page with the table and its documents between the marks.

    Raises ConfigurationError if the page does not have the marks, in their order.
    """
    documents = pd.DataFrame(
        [{"imu": entry.specification.name, "source": entry.source} for entry in entries]
    )
    columns = (Column("imu", "IMU"), Column("source", "document"))
    texts = (
        table_text.table_text(table, COLUMNS, "markdown"),
        table_text.table_text(documents, columns, "markdown"),
    )
    return between_marks(page, "\n".join(texts))


def between_marks(page: str, text: str) -> str:
    """Return a page with a text between the marks.

    Raises ConfigurationError if the page does not have the marks, in their order.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ConfigurationError(f"the page lacks the lines {BEGIN.strip()} and {END.strip()}")
    return before + begin + "\n" + text + "\n" + end + after


def _row(entry, motion, at, sample):
    specification = entry.specification
    gyroscope = specification.gyroscope
    sizes = {
        "white_noise": ("walk", gyroscope.white_noise, math.radians(1.0) / 60.0),
        "bias_instability": (
            "instability",
            FLICKER_PLATEAU * np.array(gyroscope.bias_instability),
            math.radians(1.0) / 3600.0,
        ),
        "turn_on_bias_sigma": ("offset", gyroscope.turn_on_bias_sigma, math.radians(1.0)),
        "scale_factor_and_misalignment": (
            "scale",
            np.diag(gyroscope.scale_factor_and_misalignment),
            0.01,
        ),
    }
    row = {"imu": specification.name}
    for parameter, (column, values, unit) in sizes.items():
        if entry.states("gyroscope", parameter) and np.any(values):
            row[column] = f"{np.sqrt(np.mean(np.square(values))) / unit:.3g}"
        else:
            row[column] = NOT_STATED
    part = part_of(specification).specification
    model = yaw_error_model(part, motion, sample=sample, operation=Operation())
    model = model.until(min(round(at / model.step) + 1, len(model.time)))
    for name, left_out in _CASES.items():
        sources = tuple(source for source in model.sources if source.name not in left_out)
        case = replace(model, sources=sources)
        row[name] = " / ".join(
            _digits(math.degrees(case.not_exceeded(probability))) for probability in PROBABILITIES
        )
    return row


def _digits(value):
    """Return two digits, or as many as there are before the point."""
    return f"{value:.0f}" if value >= 10.0 else f"{value:.2g}"
