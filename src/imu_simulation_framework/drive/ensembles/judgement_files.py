"""Terminal output and result files of tests of IMU models against recorded drives."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple, Sequence

import pandas as pd

from ... import __version__
from ...core.errors import versions
from ...core.files import format_json
from ...core.whole_files import render_figure
from ...heading.figures.ensemble import ShownEnsemble
from ...heading.figures.judgement import calibration_figure, judgement_figure
from ...heading.identification.report import PREDICTED
from ...heading.judgement.shown_tests import shown_tests
from ...report import table as table_text
from ...report.drawing import to_matplotlib
from ...report.page import page_html
from ...report.table import Column
from .defaults import JUDGEMENT
from .drive_judgement import ONE_DRIVE, DriveJudgement, ModelJudgement, PooledJudgement
from .page import TESTS, ensemble_page, rounded_tests

NOT_PROVEN = "A model that is not rejected is not proven."
ONE_UNIT = (
    "Each run uses one sensor on all drives, with a constant scale factor and misalignment; such "
    "constants correlate the drives, whereas the test of percentiles assumes independent drives."
)
ANY_UNIT = (
    "Each run uses a different sensor on each drive, so there is no joint test of all drives."
)

COLUMNS = (Column("imu", "imu"), *TESTS)
_DRIVE = Column("drive", "drive")
_BOUNDS = (Column("low", "2.5th percentile of runs"), Column("high", "97.5th percentile of runs"))
_EXACT_COLUMNS = (
    *COLUMNS[:4],
    *(column._replace(digits=0) for column in (*COLUMNS[4:6], *_BOUNDS, *COLUMNS[7:])),
)
_VERDICT_COLUMNS = (
    Column("imu", "imu"),
    Column("verdict", "verdict"),
    Column("p", "p-value of curve"),
    Column("smallest", "smallest corrected p-value"),
    Column("statistic", "statistic"),
)
_POOLED_COLUMNS = (
    *_VERDICT_COLUMNS[:2],
    Column("together", "p-value of all drives"),
    Column("smallest", "smallest p-value of a drive"),
    Column("inside", "final errors in 95 % interval"),
)
_DRIVE_COLUMNS = (*PREDICTED[:-1], Column("verdict", "verdict"))


class FileOptions(NamedTuple):
    """Selection of result files and their formats.

    Attributes
    ----------
    formats : list of str
        Figure formats.
    table : list of str
        Table formats.
    report : bool
        Whether to write web pages.
    limit : float
        Yaw error limit for which the page reports a probability [rad].
    """

    formats: list[str]
    table: list[str]
    report: bool
    limit: float


def drive_text(drive: DriveJudgement) -> list[str]:
    """Return the terminal output for one drive.

    Parameters
    ----------
    drive : DriveJudgement
        Results of one drive.

    Returns
    -------
    list of str
        Lines for the terminal.
    """
    task, time = drive.task, drive.models[0].judgement.time
    lines = [
        f"{drive.name}: yaw error of the recorded IMU over {time[-1]:g} s, {len(time)} samples, "
        f"among {task.runs} runs of each model ({task.what}), seed {task.seed}",
        "",
        _rows_text([_verdict_row(model) for model in drive.models], _VERDICT_COLUMNS),
    ]
    for model in drive.models:
        table = table_text.format_table(rounded_tests(_tests_table([model])), TESTS).rstrip("\n")
        lines += ["", f"{model.name}: {model.judgement.sentence}", "", table]
    lines += [
        "",
        "percentile: share of runs below the recorded value [%]; p-values are two-sided, corrected "
        "p-values account for the number of tests",
    ]
    return [*lines, *(f"note: {remark}" for remark in drive.remarks())]


def drive_files(drive: DriveJudgement, options: FileOptions) -> dict[str, bytes]:
    """Return the result files for one drive.

    Parameters
    ----------
    drive : DriveJudgement
        Results of one drive.
    options : FileOptions
        Selection of files and formats.

    Returns
    -------
    dict of str to bytes
        File contents by file name.
    """
    files = _test_files(_tests_table(drive.models), COLUMNS, _EXACT_COLUMNS, options)
    files[f"{JUDGEMENT}.json"] = format_json(_record(drive)).encode("utf-8")
    return {**files, **_pictures(drive, options)}


def pooled_text(drives: Sequence[DriveJudgement], pooled: Sequence[PooledJudgement]) -> list[str]:
    """Return the terminal output for several drives.

    Parameters
    ----------
    drives : sequence of DriveJudgement
        Results of each drive.
    pooled : sequence of PooledJudgement
        Joint results of all drives.

    Returns
    -------
    list of str
        Lines for the terminal.
    """
    task = drives[0].task
    lines = [
        f"{len(drives)} drives: recorded yaw errors among {task.runs} runs of each model "
        f"({task.what}) per drive; start offset and turn-on bias are drawn anew for each drive, "
        f"seeds {task.seed} to {drives[-1].task.seed}",
        "",
        _rows_text([_pooled_row(model, len(drives)) for model in pooled], _POOLED_COLUMNS),
    ]
    for model in pooled:
        verdict, calibration = model.sentences
        table = table_text.format_table(model.table, _DRIVE_COLUMNS).rstrip("\n")
        lines += ["", f"{model.name}: {verdict}", "", table, "", calibration]
    lines += [
        "",
        "corrected p-value: for each drive, corrected for the number of tests, so that some values "
        "are small by chance among many drives; for the verdict, also corrected for the number of "
        "drives",
    ]
    return [*lines, *(f"note: {remark}" for remark in _pooled_remarks(drives))]


def pooled_files(
    drives: Sequence[DriveJudgement], pooled: Sequence[PooledJudgement], options: FileOptions
) -> dict[str, bytes]:
    """Return the result files for several drives.

    Parameters
    ----------
    drives : sequence of DriveJudgement
        Results of each drive.
    pooled : sequence of PooledJudgement
        Joint results of all drives.
    options : FileOptions
        Selection of files and formats.

    Returns
    -------
    dict of str to bytes
        File contents by file name.
    """
    tests = pd.concat([_tests_table(drive.models).assign(drive=drive.name) for drive in drives])
    files = _test_files(tests, (_DRIVE, *COLUMNS), (_DRIVE, *_EXACT_COLUMNS), options)
    table = pd.concat([model.table.assign(imu=model.name) for model in pooled])
    for format in dict.fromkeys(options.table):
        text = table_text.format_table(table, (COLUMNS[0], *_DRIVE_COLUMNS), format)
        files[f"{JUDGEMENT}_drives.{table_text.ENDINGS[format]}"] = text.encode("utf-8")
    files[f"{JUDGEMENT}.json"] = format_json(_pooled_record(drives, pooled)).encode("utf-8")
    for index, model in enumerate(pooled, start=1):
        number = f"_{index}" if len(pooled) > 1 else ""
        figure = to_matplotlib(calibration_figure(model.calibration))
        for format in dict.fromkeys(options.formats):
            files[f"{JUDGEMENT}{number}_drives.{format}"] = render_figure(figure, format)
    sentences = [model.sentences for model in pooled]
    for index, drive in enumerate(drives, start=1):
        files.update(_pictures(drive, options, f"_drive_{index}", sentences))
    return files


def _verdict_row(model: ModelJudgement) -> tuple[str, ...]:
    judgement = model.judgement
    rarest = min(shown_tests(judgement), key=lambda test: test.adjusted)
    verdict = "rejected: " * judgement.rejected + judgement.verdict
    test = rarest.name if rarest.adjusted < 1.0 else ""
    p_value = judgement.envelope.p_value
    return model.name, verdict, f"{p_value:.3g}", f"{rarest.adjusted:.3g}", test


def _pooled_row(model: PooledJudgement, drives: int) -> tuple[str, ...]:
    verdict = model.verdict
    verdict_text = "rejected: " * verdict.rejected + verdict.verdict
    pooled_p_value = f"{verdict.together:.3g}" if math.isfinite(verdict.together) else ""
    inside = f"{model.calibration[0].inside} of {drives}"
    return model.name, verdict_text, pooled_p_value, f"{verdict.alone:.3g}", inside


def _rows_text(rows, columns) -> str:
    table = pd.DataFrame(rows, columns=[column.key for column in columns])
    return table_text.format_table(table, columns).rstrip("\n")


def _tests_table(models) -> pd.DataFrame:
    tests = ((model.name, test) for model in models for test in shown_tests(model.judgement))
    return pd.DataFrame([{"imu": name, **test._asdict()} for name, test in tests])


def _test_files(table, columns, exact_columns, options) -> dict[str, bytes]:
    files = {}
    for format in dict.fromkeys(options.table):
        if format == "csv":
            text = table_text.format_table(table, exact_columns, format)
        else:
            text = table_text.format_table(rounded_tests(table), columns, format)
        files[f"{JUDGEMENT}.{table_text.ENDINGS[format]}"] = text.encode("utf-8")
    return files


def _record(drive: DriveJudgement) -> dict[str, Any]:
    time = drive.models[0].judgement.time
    return {
        **drive.settings,
        "duration [s]": float(time[-1]),
        "samples": len(time),
        "remarks": drive.remarks(),
        "imus": [
            {
                "name": model.name,
                "rejected": model.judgement.rejected,
                "verdict": model.judgement.verdict,
                "sentence": model.judgement.sentence,
                "level": model.judgement.level,
                "tests": [test._asdict() for test in shown_tests(model.judgement)],
                "reference_rms_rad": model.reference_rms,
                "remarks": list(model.remarks),
            }
            for model in drive.models
        ],
        "versions": versions(),
    }


def _pooled_record(drives, pooled) -> dict[str, Any]:
    task = drives[0].task
    return {
        "what": task.what,
        "runs": task.runs,
        "step [s]": task.step,
        "remarks": _pooled_remarks(drives),
        "imus": [
            {
                "name": model.name,
                "rejected": model.verdict.rejected,
                "verdict": model.verdict.verdict,
                "sentences": model.sentences,
                "p_of_all_together": _finite_or_none(model.verdict.together),
                "p_of_one_drive": model.verdict.alone,
                "relative_to_model": {test.name: test.observed for test in model.verdict.tests},
                "drives": model.table.to_dict("records"),
                "calibration": {
                    calibration.name: {
                        "pit": calibration.pit.tolist(),
                        "inside_95": calibration.inside,
                        "p_value": _finite_or_none(calibration.p_value),
                    }
                    for calibration in model.calibration
                },
            }
            for model in pooled
        ],
        "drives": [_record(drive) for drive in drives],
    }


def _finite_or_none(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _pooled_remarks(drives) -> list[str]:
    units = [ONE_UNIT if model.is_one_unit else ANY_UNIT for model in drives[0].models]
    remarks = (remark for drive in drives for remark in drive.remarks() if remark != ONE_DRIVE)
    return [*dict.fromkeys(remarks), NOT_PROVEN, *dict.fromkeys(units)]


def _pictures(drive, options, ending="", pooled_sentences=None) -> dict[str, bytes]:
    """Return figures and pages by file name, with the joint test result of each model if given."""
    files = {}
    for index, model in enumerate(drive.models):
        number = f"_{index + 1}" if len(drive.models) > 1 else ""
        figure = to_matplotlib(judgement_figure(model.judgement, f"{drive.name}, {model.name}"))
        for format in dict.fromkeys(options.formats):
            files[f"{JUDGEMENT}{number}{ending}.{format}"] = render_figure(figure, format)
        if options.report:
            sentences = pooled_sentences[index] if pooled_sentences else []
            files[f"{JUDGEMENT}{number}{ending}.html"] = _page(model, drive, options, sentences)
    return files


def _page(model, drive, options, sentences) -> bytes:
    judgement = model.judgement
    quantiles = {0.5: judgement.median}
    for band in judgement.bands:
        quantiles.update({0.5 - 0.5 * band.level: band.low, 0.5 + 0.5 * band.level: band.high})
    shown_ensemble = ShownEnsemble(
        drive.task.runs,
        judgement.time,
        quantiles,
        model.statistics,
        curve_time=judgement.time,
        curves=model.curves,
    )
    settings = {
        **drive.settings,
        "imu": {model.name: dataclasses.asdict(model.errors)},
        "reference [deg rms]": math.degrees(model.reference_rms),
        "versions": versions(),
    }
    page = ensemble_page(
        f"{model.name} tested against {drive.name}",
        shown_ensemble,
        options.limit,
        settings,
        [*sentences, *drive.remarks([model])],
        judgement=judgement,
        footer=f"judge_imu, imu_simulation_framework {__version__}, seed {drive.task.seed}",
    )
    return page_html(page).encode("utf-8")
