"""What ``judge_imu.py`` writes and prints of its judgements."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple, Sequence

import numpy as np
import pandas as pd

from imu_simulation_framework import __version__
from imu_simulation_framework.core.files import json_text
from imu_simulation_framework.core.sentences import listed
from imu_simulation_framework.core.versions import versions
from imu_simulation_framework.core.whole_files import picture
from imu_simulation_framework.drive.ensembles.page import ensemble_page
from imu_simulation_framework.drive.yaw_signals import ReadDrive
from imu_simulation_framework.heading.figures import ShownEnsemble
from imu_simulation_framework.heading.figures import judgement as judgement_figure
from imu_simulation_framework.heading.judgement import Judgement, curve_statistics, shown_looks
from imu_simulation_framework.heading.model.sources import Source
from imu_simulation_framework.report import table as table_text
from imu_simulation_framework.report.drawing import drawing
from imu_simulation_framework.report.page import page_html
from imu_simulation_framework.report.table import Column

CURVES = 20
"""Runs that a page shows as curves at most."""
ONE_DRIVE = "One drive: a model that is not refuted is not proven, and several may survive."
COLUMNS = (
    Column("imu", "imu"),
    Column("look", "look"),
    Column("unit", "unit"),
    Column("model", "the model has"),
    Column("observed", "recorded"),
    Column("median", "median of runs"),
    Column("range", "95 % of runs"),
    Column("percentile", "percentile"),
    Column("p", "p"),
    Column("adjusted", "p, corrected"),
)
_EXACT = (
    *COLUMNS[:4],
    *(
        Column(key, title, "", 0)
        for key, title in (
            ("observed", "recorded"), ("median", "median of runs"),
            ("low", "2.5 % of runs"), ("high", "97.5 % of runs"), ("percentile", "percentile"),
            ("p", "p"), ("adjusted", "p, corrected"),
        )
    ),
)  # fmt: skip
_VERDICTS = (
    Column("imu", "imu"),
    Column("verdict", "verdict"),
    Column("p", "p of the whole curve"),
    Column("smallest", "smallest p, corrected"),
    Column("look", "of"),
)


class Judged(NamedTuple):
    """An IMU and what was made of it.

    ``name`` for a person; ``errors``, its parameters; ``reference``, the sources of the reference's
    noise; ``judgement``; ``curves`` (runs, samples), the ensemble [rad]; ``remarks``, sentences.
    """

    name: str
    errors: Any
    reference: tuple[Source, ...]
    judgement: Judgement
    curves: np.ndarray
    remarks: tuple[str, ...]


def judged_text(judged: Sequence[Judged], drive: ReadDrive, options) -> list[str]:
    """Return lines for the terminal."""
    first = judged[0].judgement
    lines = [
        f"{drive.observed.name}: yaw error of the recorded IMU over {first.time[-1]:g} s, "
        f"{len(first.time)} samples, among {options.runs} runs of each model ({options.what}), "
        f"seed {options.seed}",
        "",
        *_lines(table_text.table_text(_verdicts(judged), _VERDICTS)),
    ]
    for one in judged:
        table = _rounded(_table([one]))
        lines += ["", f"{one.name}: {one.judgement.sentence}", ""]
        lines += _lines(table_text.table_text(table, COLUMNS[1:]))
    lines += [
        "",
        "percentile: runs of 100 that are below what was recorded; p is two-sided, and corrected "
        "for the number of looks",
    ]
    return [*lines, *(f"note: {remark}" for remark in _all_remarks(judged, drive))]


def contents(judged: Sequence[Judged], drive: ReadDrive, options) -> dict[str, bytes]:
    """Return the files' contents by their names; all are made before the first one is written."""
    table = _table(judged)
    files = {}
    for format in dict.fromkeys(options.table):
        shown, columns = (table, _EXACT) if format == "csv" else (_rounded(table), COLUMNS)
        text = table_text.table_text(shown, columns, format)
        files[f"judgement.{table_text.ENDINGS[format]}"] = text.encode("utf-8")
    files["judgement.json"] = json_text(_record(judged, drive, options)).encode("utf-8")
    for index, one in enumerate(judged, start=1):
        number = f"_{index}" if len(judged) > 1 else ""
        for format in dict.fromkeys(options.formats):
            figure = judgement_figure(one.judgement, f"{drive.observed.name}, {one.name}")
            files[f"judgement{number}.{format}"] = picture(drawing(figure), format)
        if options.report:
            files[f"judgement{number}.html"] = _page(one, drive, options)
    return files


def _table(judged):
    rows = []
    for one in judged:
        for look in shown_looks(one.judgement):
            rows.append(
                {
                    "imu": one.name,
                    "look": look.name,
                    "unit": look.unit,
                    "model": look.manner,
                    "observed": look.observed,
                    "median": look.median,
                    "low": look.low,
                    "high": look.high,
                    "percentile": look.percentile,
                    "p": look.p_value,
                    "adjusted": look.adjusted,
                }
            )
    return pd.DataFrame(rows)


def _rounded(table):
    """Return the same for a person: texts of three digits."""
    shown = table.copy()
    shown["range"] = [
        f"{low:.3g} .. {high:.3g}" if math.isfinite(low) else ""
        for low, high in zip(table["low"], table["high"])
    ]
    for name in ("observed", "median", "percentile", "p", "adjusted"):
        shown[name] = [f"{value:.3g}" if math.isfinite(value) else "" for value in table[name]]
    return shown


def _verdicts(judged):
    rows = []
    for one in judged:
        looks = shown_looks(one.judgement)
        rarest = min(looks, key=lambda look: look.adjusted)
        refuted = f"refuted: {one.judgement.verdict}"
        rows.append(
            {
                "imu": one.name,
                "verdict": refuted if one.judgement.refuted else one.judgement.verdict,
                "p": f"{one.judgement.envelope.p_value:.3g}",
                "smallest": f"{rarest.adjusted:.3g}",
                "look": rarest.name if rarest.adjusted < 1.0 else "",
            }
        )
    return pd.DataFrame(rows)


def _record(judged, drive, options):
    return {
        "drive": drive.observed.name,
        "sources": [str(path) for path in drive.sources],
        "what": options.what,
        "runs": options.runs,
        "seed": options.seed,
        "step [s]": options.step,
        "duration [s]": float(judged[0].judgement.time[-1]),
        "samples": len(judged[0].judgement.time),
        "remarks": _all_remarks(judged, drive),
        "imus": [
            {
                "name": one.name,
                "refuted": one.judgement.refuted,
                "verdict": one.judgement.verdict,
                "sentence": one.judgement.sentence,
                "level": one.judgement.level,
                "looks": [look._asdict() for look in shown_looks(one.judgement)],
                "reference noise": [dataclasses.asdict(source) for source in one.reference],
                "remarks": list(one.remarks),
            }
            for one in judged
        ],
        "versions": versions(),
    }


def _page(one, drive, options):
    judgement = one.judgement
    probabilities, edges = [0.5], [judgement.median]
    for band in judgement.bands:
        probabilities += [0.5 - 0.5 * band.level, 0.5 + 0.5 * band.level]
        edges += [band.low, band.high]
    shown = ShownEnsemble(
        options.runs,
        judgement.time,
        dict(zip(probabilities, edges)),
        curve_statistics(judgement.time, one.curves),
        curve_time=judgement.time,
        curves=one.curves[:CURVES],
    )
    settings = {
        "drive": drive.observed.name,
        "sources": [str(path) for path in drive.sources],
        "what": options.what,
        "runs": options.runs,
        "seed": options.seed,
        "step [s]": options.step,
        "imu": {one.name: dataclasses.asdict(one.errors)},
        "reference noise": {source.name: dataclasses.asdict(source) for source in one.reference},
        "versions": versions(),
    }
    page = ensemble_page(
        f"{drive.observed.name} judged by {one.name}",
        shown,
        options.within,
        settings,
        _all_remarks([one], drive),
        judgement=judgement,
        footer=f"judge_imu, imu_simulation_framework {__version__}, seed {options.seed}",
    )
    return page_html(page).encode("utf-8")


def _all_remarks(judged, drive):
    """Each sentence once, before it the models that it is about, if not about all."""
    about: dict[str, list[str]] = {}
    for one in judged:
        for remark in one.remarks:
            about.setdefault(remark, []).append(one.name)
    said = [
        remark if len(names) == len(judged) else f"{listed(names)}: {remark}"
        for remark, names in about.items()
    ]
    return list(dict.fromkeys([*drive.remarks, *said, ONE_DRIVE]))


def _lines(text):
    return text.rstrip("\n").split("\n")
