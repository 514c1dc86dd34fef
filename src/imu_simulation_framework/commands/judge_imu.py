"""Judge whether a real IMU's yaw error on a drive may be one of a model's.

    judge_imu.py experiment_results/drive_a/hector/1 --imu hector --imu hector_slow
    judge_imu.py husky.bag --config husky_odometry.ini --imu bno055 --imu husky/yaw_error_model.yaml
    judge_imu.py a --imu hector --what sensor --runs 1000 --reference-noise 0.2deg
    judge_imu.py monday.bag tuesday.bag friday.bag --imu bno055

A drive is an experiment's result, a recording with a reference and an IMU, the config.ini of one,
or a bundled drive's name. Each IMU is a bundled one's name, the file of a specification or of an
identified model, FORMAT:FILE with another tool's parameters, or a plug-in's parameters by name.
Of each, many runs along the same motion are drawn, and both errors start at zero in the same way.
Says for each whether it is rejected, with what p-value, and in which way it is wrong; a rejected
model is an answer, so the exit code is 0. Writes to DIR:

    judgement.png     the recorded error in the ensemble, and where its statistics are
    judgement.csv     all tests of all IMUs
    judgement.json    the same with verdicts, seeds, versions and remarks
    judgement.html    with --report: all of this as one web page

With several IMUs figures and pages have numbers, in the order of the command line. Several drives
of one IMU are judged together, each with a start offset and a switch-on bias of its own, drawn by
seeds that follow each other; then there are

    judgement_drives.csv   a row for each drive
    judgement_drives.png   where the drives are in what the model has for them
    judgement_drive_1.png, judgement_drive_1.html, ...: of each drive, what there is of one
"""

from __future__ import annotations

import argparse
import dataclasses
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .. import __version__
from ..core.errors import ConfigurationError, versions
from ..core.files import format_json
from ..core.programs import ArgumentParser
from ..core.progress import progress_bar
from ..core.sentences import join_names, number_duplicates, quote
from ..core.whole_files import render_figure
from ..drive.ensembles.executors import processors
from ..drive.ensembles.monte_carlo import monte_carlo
from ..drive.ensembles.page import TESTS, ensemble_page, rounded_tests
from ..drive.ensembles.samplers import Drawing, LinearDrawing, SensorDrawing
from ..drive.yaw_signals import ReadDrive, read_drives
from ..heading.figures import ShownEnsemble, calibration_figure
from ..heading.figures import judgement as judgement_figure
from ..heading.identification.report import PREDICTED, drives_table
from ..heading.judgement import (
    Judgement,
    curve_statistics,
    from_zero_where_known,
    judge,
    shown_tests,
)
from ..heading.model.of_imu import yaw_error_model
from ..heading.model.parameters import (
    YawErrorParameters,
    is_yaw_error_model_file,
    read_yaw_error_model,
)
from ..heading.model.sources import RandomConstant
from ..heading.several_drives import (
    Calibration,
    PooledVerdict,
    calibration_sentences,
    calibrations,
    pooled_verdict,
)
from ..report import table as table_text
from ..report.drawing import to_matplotlib
from ..report.page import page_html
from ..report.table import Column
from ..sensors.errors_in_motion import understated_in_motion
from ..sensors.imu_specification import ImuSpecification
from . import command_line, heading_choices

NAME = "judgement"
RUNS = 2000
WHAT = ("linear", "sensor")
OF_A_DRIVE = ("rate bias", "quantisation", "yaw drift")
"""Random constants of models that a unit has anew on each drive."""

NO_REFERENCE_NOISE = (
    "The noise of the drive's reference counts as the IMU's, as no --reference-noise says how "
    "large it is: where the model has too little noise at high frequencies, it may be that."
)
OF_ONE_DRIVE = (
    "A model that was identified on this very drive fits it better than it would another one: here "
    "only its being rejected says something."
)


def main(arguments):
    """Judge the IMUs named on the command line."""
    options = _parser().parse_args(arguments)
    placed = heading_choices.placed_imus(
        [heading_choices.chosen_imu(text) for text in options.imu], options
    )
    names = number_duplicates([imu.name for imu, _ in placed])
    placed = [one._replace(imu=one.imu._replace(name=name)) for one, name in zip(placed, names)]
    for imu, _ in placed:
        if options.what == "sensor" and isinstance(imu.errors, YawErrorParameters):
            raise ConfigurationError(
                f"{imu.name} is an identified model, which has no full sensor; --what linear draws "
                "it, and imu.yaml beside it is a specification"
            )
    noise, noise_files = _noise(options.reference_noise)
    drives, left_out = read_drives(
        options.drives, options.config, options.step, heading_choices.settings(options.setting)
    )
    drives = [drive.of(options.of) for drive in drives]
    drives[0] = dataclasses.replace(drives[0], remarks=(*left_out, *drives[0].remarks))
    parts = []
    for index, drive in enumerate(drives):
        own = argparse.Namespace(**vars(options))
        own.seed, own.unit = options.seed + index, options.seed if len(drives) > 1 else None
        motion = drive.motion()
        judged = [_judged(own, drive, motion, one, noise) for one in placed]
        parts.append(Part(judged, drive, own))
    several = (parts, _pooled(parts)) if len(parts) > 1 else None
    files = _contents_of_several(*several) if several else _contents(parts[0])
    read = [path for drive in drives for path in drive.sources]
    read += [file for imu, _ in placed for file in imu.files]
    out = command_line.results_folder(
        options.out, files, [*read, *filter(None, [options.config]), *noise_files]
    )
    print(*(_text_of_several(*several) if several else _text(parts[0])), sep="\n")
    for name, content in files.items():
        command_line.write_file(out / name, content)


def _judged(options, drive, motion, placed, noise) -> Judged:
    """Draw an IMU's runs along the motion and judge the drive's yaw error by them."""
    imu, environment = placed
    errors, step = imu.errors, drive.observed.step
    model = yaw_error_model(errors, motion, step, environment)
    drawings: list[Drawing] = [LinearDrawing(model, options.seed)]
    if options.what == "sensor":
        drawings = [
            SensorDrawing(motion, errors, options.seed, step, magnetic_environment=environment)
        ]
    elif options.unit is not None:
        drawings = _with_unit(model, options)
    drawn = [_drawn(drawing, imu.name, options) for drawing in drawings]
    time, curves = drawn[0].time, drawn[0].curves
    for one in drawn[1:]:
        curves = curves + one.curves
    observed, told = drive.observed, noise
    if noise is None:
        told = errors if isinstance(errors, YawErrorParameters) else YawErrorParameters()
    # White noise that is named on the command line is all that the reference is taken to have.
    known = None if noise is not None and not noise.drives else observed.reference
    turned = observed.time, observed.net_turn, observed.absolute_turn
    reference = told.reference_errors(known, turned, options.runs, options.seed)
    curves = curves + reference[:, : len(time)].astype(curves.dtype)
    # Where the reference's heading is not known nothing was observed.
    by = None if known is None else observed.zeroed_by
    time, error, curves = from_zero_where_known(time, observed.error, curves, by)
    judgement = judge(time, error, curves)
    remarks = [*imu.remarks, *_remarks(errors, bool(reference.any()))]
    remarks += [] if options.what == "sensor" else model.limits
    of_reference = float(np.sqrt(np.mean(np.square(reference))))
    if options.what == "sensor":
        one_unit = not getattr(errors, "is_any_unit", False)
    else:
        one_unit = not any(getattr(source, "spread", 0.0) for source in model.sources)
    # Of many drives all runs would not fit into memory.
    kept = curves[:CURVES].copy(), curve_statistics(time, curves)
    return Judged(imu.name, errors, of_reference, judgement, *kept, tuple(remarks), one_unit)


def _drawn(drawing, name, options):
    workers = (options.workers or processors()) if options.what == "sensor" else 1
    with progress_bar(total=options.runs, unit=" runs", desc=name, leave=False) as bar:
        return monte_carlo(
            drawing, options.runs, workers=workers, keep=options.runs, on_runs=bar.update
        )


def _with_unit(model, options):
    """Return what is drawn anew for a drive, and what stays with a unit, by the seed of units."""
    stays, anew = [], []
    for source in model.sources:
        constant = isinstance(source, RandomConstant) and source.name not in OF_A_DRIVE
        (stays if constant else anew).append(source)
    parts = [(anew, options.seed), (stays, options.unit)] if stays else [(anew, options.seed)]
    return [LinearDrawing(dataclasses.replace(model, sources=s), seed) for s, seed in parts]


def _remarks(errors, reference_errs):
    """Sentences on what limits the verdict."""
    if isinstance(errors, ImuSpecification):
        yield from filter(None, [understated_in_motion(errors)])
    if isinstance(errors, YawErrorParameters):
        yield OF_ONE_DRIVE
    elif not reference_errs:
        yield NO_REFERENCE_NOISE


def _noise(text) -> tuple[YawErrorParameters | None, list[str]]:
    """Return a reference's noise, a size or an identified model's, and files it was read from."""
    if text is None:
        return None, []
    try:
        noise = heading_choices.positive_angle(text)
        return YawErrorParameters(reference_noise=noise, drives=0), []
    except argparse.ArgumentTypeError as error:
        if Path(text).is_file() and is_yaw_error_model_file(text):
            return read_yaw_error_model(text), [text]
        raise ConfigurationError(
            f"the reference's noise is {quote(text)}, which is neither an angle above zero, as "
            "0.2deg, nor the file of an identified model"
        ) from error


def _parser():
    parser = ArgumentParser(__doc__)
    add = parser.add_argument
    # fmt: off
    add("drives", nargs="+", metavar="RESULT_OR_RECORDING",
        help="a result's folder, a bag, CSV or TUM file, a config.ini, or a bundled drive")
    add("--imu", action="append", required=True, metavar="IMU",
        help="see above; several are judged, each for itself")
    heading_choices.add_magnetic_options(parser)
    add("--runs", type=command_line.run_count, default=RUNS, metavar="N",
        help="of each, %(default)s by default")
    add("--what", choices=WHAT, default=WHAT[0],
        help="what is drawn: the linear model, or the three-axis sensor with its filter; "
             "%(default)s by default")
    add("--reference-noise", metavar="ANGLE_OR_MODEL",
        help="white noise of the reference's yaw, as 0.2deg, or an identified model's file, whose "
             "noise of the reference it is; by default what the recording and an identified model "
             "say")
    command_line.add_seed(parser)
    add("--config", metavar="FILE", help="a config.ini that says how the recording is read")
    heading_choices.add_setting_option(parser)
    heading_choices.add_of_option(parser)
    add("--step", type=heading_choices.positive_duration, default=1.0, metavar="TIME",
        help="from one yaw error to the next, by default 1s")
    heading_choices.add_limit_option(parser, "limit that the report counts runs within")
    add("--workers", type=command_line.worker_count, metavar="N",
        help="processes for --what sensor, by default one for each processor")
    # fmt: on
    table_text.add_option(parser)
    command_line.add_results(parser, NAME)
    return parser


CURVES = 20
"""Runs that a page shows as curves at most."""
ONE_DRIVE = "One drive: a model that is not rejected is not proven, and several may survive."
NOT_PROVEN = "A model that is not rejected is not proven."
OF_ONE_UNIT = (
    "Each run has one unit on all drives, whose scale factor and misalignment stay; the test of "
    "percentiles takes drives to be independent, which such constants make them less."
)
OF_ANY_UNIT = (
    "Each run has another unit on each drive, so that there is no test of all drives together."
)
COLUMNS = (Column("imu", "imu"), *TESTS)
_BOUNDS = (Column("low", "2.5 % of runs"), Column("high", "97.5 % of runs"))
_EXACT = (
    *COLUMNS[:4],
    *(one._replace(digits=0) for one in (*COLUMNS[4:6], *_BOUNDS, *COLUMNS[7:])),
)
_VERDICTS = (
    Column("imu", "imu"),
    Column("verdict", "verdict"),
    Column("p", "p of the whole curve"),
    Column("smallest", "smallest p, corrected"),
    Column("look", "of"),
)
_POOLED = (
    *_VERDICTS[:2],
    Column("together", "p of all together"),
    Column("smallest", "smallest p of one drive"),
    Column("inside", "final errors within 95 %"),
)
_DRIVES = (*PREDICTED[:-1], Column("verdict", "verdict"))


class Judged(NamedTuple):
    """An IMU and what was made of it.

    ``name`` for a person; ``errors``, its parameters; ``reference``, rms of what the reference is
    taken to add [rad]; ``judgement``; ``curves`` (CURVES, samples), the ensemble's
    first runs [rad]; ``statistics``, all runs' (:func:`.curve_statistics`); ``remarks``, sentences;
    ``one_unit``, whether all that stays with a unit is the same in a run on every drive.
    """

    name: str
    errors: Any
    reference: float
    judgement: Judgement
    curves: np.ndarray
    statistics: dict
    remarks: tuple[str, ...]
    one_unit: bool


class Part(NamedTuple):
    """A drive and what was made of it; ``options`` have the drive's own seed."""

    judged: list[Judged]
    drive: ReadDrive
    options: argparse.Namespace

    @property
    def name(self) -> str:
        return self.drive.observed.name

    def remarks(self, judged=None) -> list[str]:
        """Each sentence once, before it the models that it is about, if not about all."""
        judged = self.judged if judged is None else judged
        about: dict[str, list[str]] = {}
        for one in judged:
            for remark in one.remarks:
                about.setdefault(remark, []).append(one.name)
        said = [
            remark if len(names) == len(judged) else f"{join_names(names)}: {remark}"
            for remark, names in about.items()
        ]
        return list(dict.fromkeys([*self.drive.remarks, *said, ONE_DRIVE]))

    @property
    def settings(self) -> dict[str, Any]:
        """What a page and the record say of how it was judged."""
        options = self.options
        return {
            "drive": self.name,
            "sources": [str(path) for path in self.drive.sources],
            **{name: getattr(options, name) for name in ("what", "runs", "seed")},
            "step [s]": options.step,
        }


class Pooled(NamedTuple):
    """What all drives say of an IMU: ``table`` (DataFrame) has a row for each of them."""

    name: str
    verdict: PooledVerdict
    calibration: list[Calibration]
    table: pd.DataFrame

    @property
    def sentences(self) -> list[str]:
        """The verdict, and how the drives are in what the model has for them."""
        return [self.verdict.sentence, f"{'; '.join(calibration_sentences(self.calibration))}."]


def _pooled(parts) -> list[Pooled]:
    names, pooled = [part.name for part in parts], []
    for of_imu in zip(*(part.judged for part in parts)):
        judgements, statistics = zip(*((one.judgement, one.statistics) for one in of_imu))
        verdict = pooled_verdict(names, judgements, statistics, one_unit=of_imu[0].one_unit)
        table = drives_table(names, judgements, [one.smallest for one in judgements])
        pooled.append(Pooled(of_imu[0].name, verdict, calibrations(judgements), table))
    return pooled


def _text_of_several(parts, pooled) -> list[str]:
    options, rows = parts[0].options, []
    for name, verdict, calibration, _ in pooled:
        said = "rejected: " * verdict.rejected + verdict.verdict
        together = f"{verdict.together:.3g}" if math.isfinite(verdict.together) else ""
        inside = f"{calibration[0].inside} of {len(parts)}"
        rows.append((name, said, together, f"{verdict.alone:.3g}", inside))
    lines = [
        f"{len(parts)} drives: yaw errors of the recorded IMU among {options.runs} runs of each "
        f"model ({options.what}) along each, with a start offset and a switch-on bias of its own, "
        f"seeds {options.seed} to {parts[-1].options.seed}",
        "",
        _shown_rows(rows, _POOLED),
    ]
    for one in pooled:
        verdict, calibration = one.sentences
        table = table_text.format_table(one.table, _DRIVES).rstrip("\n")
        lines += ["", f"{one.name}: {verdict}", "", table, "", calibration]
    lines += [
        "",
        "p, corrected: of a drive for the number of its tests, so that of many drives some are "
        "small by chance; of the verdict for the number of drives, too",
    ]
    return [*lines, *(f"note: {remark}" for remark in _remarks_of_several(parts))]


def _contents_of_several(parts, pooled) -> dict[str, bytes]:
    options, drive = parts[0].options, Column("drive", "drive")
    tests = pd.concat([_table(part.judged).assign(drive=part.name) for part in parts])
    files = _tables(tests, (drive, *COLUMNS), (drive, *_EXACT), options)
    table = pd.concat([one.table.assign(imu=one.name) for one in pooled])
    for format in dict.fromkeys(options.table):
        text = table_text.format_table(table, (COLUMNS[0], *_DRIVES), format)
        files[f"judgement_drives.{table_text.ENDINGS[format]}"] = text.encode("utf-8")
    record = {
        **{name: getattr(options, name) for name in ("what", "runs")},
        "step [s]": options.step,
        "remarks": _remarks_of_several(parts),
        "imus": [
            {
                "name": one.name,
                "rejected": one.verdict.rejected,
                "verdict": one.verdict.verdict,
                "sentences": one.sentences,
                "p_of_all_together": _known(one.verdict.together),
                "p_of_one_drive": one.verdict.alone,
                "relative_to_model": {test.name: test.observed for test in one.verdict.tests},
                "drives": one.table.to_dict("records"),
                "calibration": {
                    found.name: {
                        "pit": found.pit.tolist(),
                        "inside_95": found.inside,
                        "p_value": _known(found.p_value),
                    }
                    for found in one.calibration
                },
            }
            for one in pooled
        ],
        "drives": [_record(part) for part in parts],
    }
    files["judgement.json"] = format_json(record).encode("utf-8")
    for index, one in enumerate(pooled, start=1):
        number = f"_{index}" if len(pooled) > 1 else ""
        figure = to_matplotlib(calibration_figure(one.calibration))
        for format in dict.fromkeys(options.formats):
            files[f"judgement{number}_drives.{format}"] = render_figure(figure, format)
    said = [one.sentences for one in pooled]
    for index, part in enumerate(parts, start=1):
        files.update(_pictures(part, f"_drive_{index}", said))
    return files


def _known(number):
    return number if math.isfinite(number) else None


def _remarks_of_several(parts):
    units = [OF_ONE_UNIT if one.one_unit else OF_ANY_UNIT for one in parts[0].judged]
    of_parts = (remark for part in parts for remark in part.remarks() if remark != ONE_DRIVE)
    return [*dict.fromkeys(of_parts), NOT_PROVEN, *dict.fromkeys(units)]


def _text(part) -> list[str]:
    options, time, rows = part.options, part.judged[0].judgement.time, []
    for name, judgement in ((one.name, one.judgement) for one in part.judged):
        rarest = min(shown_tests(judgement), key=lambda test: test.adjusted)
        said = "rejected: " * judgement.rejected + judgement.verdict
        p, test = judgement.envelope.p_value, rarest.name if rarest.adjusted < 1.0 else ""
        rows.append((name, said, f"{p:.3g}", f"{rarest.adjusted:.3g}", test))
    lines = [
        f"{part.name}: yaw error of the recorded IMU over {time[-1]:g} s, {len(time)} samples, "
        f"among {options.runs} runs of each model ({options.what}), seed {options.seed}",
        "",
        _shown_rows(rows, _VERDICTS),
    ]
    for one in part.judged:
        table = table_text.format_table(rounded_tests(_table([one])), TESTS).rstrip("\n")
        lines += ["", f"{one.name}: {one.judgement.sentence}", "", table]
    lines += [
        "",
        "percentile: runs of 100 that are below what was recorded; p is two-sided, and corrected "
        "for the number of tests",
    ]
    return [*lines, *(f"note: {remark}" for remark in part.remarks())]


def _shown_rows(rows, columns):
    table = pd.DataFrame(rows, columns=[column.key for column in columns])
    return table_text.format_table(table, columns).rstrip("\n")


def _contents(part) -> dict[str, bytes]:
    """Return the files' contents by their names; all are made before the first one is written."""
    files = _tables(_table(part.judged), COLUMNS, _EXACT, part.options)
    files["judgement.json"] = format_json(_record(part)).encode("utf-8")
    return {**files, **_pictures(part)}


def _tables(table, columns, exact, options):
    files = {}
    for format in dict.fromkeys(options.table):
        of = (table, exact) if format == "csv" else (rounded_tests(table), columns)
        text = table_text.format_table(*of, format)
        files[f"judgement.{table_text.ENDINGS[format]}"] = text.encode("utf-8")
    return files


def _pictures(part, ending="", said=None):
    """Return figures and pages of a drive; ``said``: of each IMU, what all drives say of it."""
    files = {}
    for index, one in enumerate(part.judged, start=1):
        name = f"judgement{f'_{index}' if len(part.judged) > 1 else ''}{ending}"
        figure = to_matplotlib(judgement_figure(one.judgement, f"{part.name}, {one.name}"))
        for format in dict.fromkeys(part.options.formats):
            files[f"{name}.{format}"] = render_figure(figure, format)
        if part.options.report:
            files[f"{name}.html"] = _page(one, part, said[index - 1] if said else [])
    return files


def _table(judged):
    tests = ((one.name, test) for one in judged for test in shown_tests(one.judgement))
    return pd.DataFrame([{"imu": name, **test._asdict()} for name, test in tests])


def _record(part):
    time = part.judged[0].judgement.time
    return {
        **part.settings,
        "duration [s]": float(time[-1]),
        "samples": len(time),
        "remarks": part.remarks(),
        "imus": [
            {
                "name": one.name,
                "rejected": one.judgement.rejected,
                "verdict": one.judgement.verdict,
                "sentence": one.judgement.sentence,
                "level": one.judgement.level,
                "looks": [test._asdict() for test in shown_tests(one.judgement)],
                "reference_rms_rad": one.reference,
                "remarks": list(one.remarks),
            }
            for one in part.judged
        ],
        "versions": versions(),
    }


def _page(one, part, said):
    judgement, options = one.judgement, part.options
    quantiles = {0.5: judgement.median}
    for band in judgement.bands:
        quantiles.update({0.5 - 0.5 * band.level: band.low, 0.5 + 0.5 * band.level: band.high})
    of = (options.runs, judgement.time, quantiles, one.statistics)
    shown = ShownEnsemble(*of, curve_time=judgement.time, curves=one.curves)
    settings = {
        **part.settings,
        "imu": {one.name: dataclasses.asdict(one.errors)},
        "reference [deg rms]": math.degrees(one.reference),
        "versions": versions(),
    }
    title, remarks = f"{part.name} judged by {one.name}", [*said, *part.remarks([one])]
    footer = f"judge_imu, imu_simulation_framework {__version__}, seed {options.seed}"
    page = ensemble_page(
        title, shown, options.within, settings, remarks, judgement=judgement, footer=footer
    )
    return page_html(page).encode("utf-8")
