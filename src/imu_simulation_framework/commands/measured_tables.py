"""What was measured of parts, as Markdown: estimates beside documents, what is out, sources."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from imu_simulation_framework.core.units import factor
from imu_simulation_framework.report.table import Column, table_text
from imu_simulation_framework.sensors.files import CatalogueEntry
from imu_simulation_framework.sensors.measured import (
    CALIBRATION,
    NOISE,
    estimates,
    measured_parts,
    measured_values,
    measurements,
)
from imu_simulation_framework.sensors.noise.processes import FLICKER_PLATEAU

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
    """Return the tables of the page; ``entries``: bundled IMUs, for what their documents say."""
    table, classes = measurements(), dict(measured_parts()["class"])
    found = {part: estimates(part, table) for part in classes}
    sheets = {entry.specification.name: entry for entry in entries}
    texts = []
    for triad in _UNITS:
        texts.append(f"### {triad.capitalize()}s\n")
        rows = [
            _noise(part, kind, found[part], sheets.get(part), triad)
            for part, kind in classes.items()
        ]
        texts.append(_markdown(rows))
    texts.append("### Calibrations\n")
    rows = [_calibration(part, found[part]) for part in classes]
    texts.append(_markdown([row for row in rows if len(row) > 1]))
    texts += ["### Left out\n", _left_out(), "### Sources\n", _sources()]
    return "\n".join(texts)


def _noise(part, kind, found, sheet, triad):
    row = {"part": part, "class": kind}
    units = []
    for quantity in NOISE:
        estimate = found.get((triad, quantity))
        heading = f"{_TITLES[quantity]} [{_unit(triad, quantity)}]"
        size = _size(triad, quantity)
        row[heading] = "-" if estimate is None else _shown(estimate, size)
        units.append("-" if estimate is None else str(estimate.units))
        if quantity != "random_walk":
            row[f"sheet's {_TITLES[quantity].split()[0]}"] = "-"
            if sheet is not None and sheet.states(triad, quantity):
                values = np.array(getattr(getattr(sheet.specification, triad), quantity))
                row[f"sheet's {_TITLES[quantity].split()[0]}"] = f"{_rms(values) / size:.3g}"
    return {**row, "units": " / ".join(units)}


def _calibration(part, found):
    row = {"part": part}
    for triad in _UNITS:
        for quantity in CALIBRATION:
            estimate = found.get((triad, quantity))
            if estimate is not None and estimate.units:
                heading = f"{triad}'s {_TITLES[quantity]} [{_unit(triad, quantity)}]"
                size = _size(triad, quantity)
                row[heading] = f"{estimate.median / size:.2g} ({estimate.units})"
    return row


def _left_out():
    table = measured_values()
    table = table[table["excluded"] != ""]
    rows = [
        {"reason": reason, "numbers": str(len(group)), "of": ", ".join(sorted({*group["part"]}))}
        for reason, group in table.groupby("excluded")
    ]
    return _markdown(sorted(rows, key=lambda row: -int(row["numbers"])))


def _sources():
    table = measured_values().drop_duplicates(["part", "source"])
    return "".join(
        f"- {part}: {'; '.join(sorted(group['source']))}\n" for part, group in table.groupby("part")
    )


def _markdown(rows):
    table = pd.DataFrame(rows).fillna("-")
    return table_text(table, [Column(name, name) for name in table.columns], "markdown")


def _unit(triad, quantity):
    return _UNITS[triad][(*NOISE, *CALIBRATION).index(quantity)]


def _size(triad, quantity):
    unit = _unit(triad, quantity)
    size = 0.01 if unit == "%" else factor(unit)
    return size / FLICKER_PLATEAU if quantity == "bias_instability" else size


def _shown(estimate, size):
    return f"{estimate.median / size:.3g} ({math.exp(estimate.spread):.2g})"


def _rms(values):
    return math.sqrt(np.mean(np.square(values)))
