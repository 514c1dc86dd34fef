"""Test whether a model of an IMU explains the yaw error of a real IMU on a drive.

    judge_imu.py experiment_results/drive_a/hector/1 --imu hector --imu hector_slow
    judge_imu.py husky.bag --config husky_odometry.ini --imu bno055 --imu husky/yaw_error_model.yaml
    judge_imu.py a --imu hector --what sensor --runs 1000 --reference-noise 0.2deg
    judge_imu.py monday.bag tuesday.bag friday.bag --imu bno055

A drive is the result of an experiment, a recording with a reference and an IMU, the config.ini of a
recording, or the name of a bundled drive. A model is the name of a bundled IMU, the file of a
specification or of an identified model, FORMAT:FILE with the parameters of another tool, or the
name of a plug-in's parameters. Many runs of each model along the same motion are drawn; recorded
and simulated errors have the same zero. The program reports for each model the verdict, the p-value
and the difference. A rejected model is a result, so the exit code is 0. Writes to DIR:

    judgement.png     the recorded error in the ensemble, and the place of its statistics
    judgement.csv     all tests of all models
    judgement.json    the same with verdicts, seeds, versions and remarks
    judgement.html    with --report: all results as a web page

With several models, figures and pages have numbers, in the order of the command line. Several
drives of an IMU are judged together. Each drive has its own start offset and switch-on bias, drawn
with consecutive seeds; additional files are

    judgement_drives.csv   a row for each drive
    judgement_drives.png   percentile of each drive under the model
    judgement_drive_1.png, judgement_drive_1.html, ...: figure and page of each drive
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

from ..core.errors import ConfigurationError
from ..core.programs import ArgumentParser
from ..core.sentences import number_duplicates, quote
from ..drive.ensembles import judgement_files
from ..drive.ensembles.drive_judgement import (
    KINDS,
    LINEAR,
    SENSOR,
    DriveJudgement,
    JudgementTask,
    judge_model,
    pool_judgements,
)
from ..drive.observed_drives import read_drives
from ..heading.model.parameters import (
    YawErrorParameters,
    is_yaw_error_model_file,
    read_yaw_error_model,
)
from ..report import table as table_text
from . import command_line, imu_options, option_types, recording_options

RUNS = 2000


def main(arguments):
    """Judge the models of a command line.

    Parameters
    ----------
    arguments : list of str
        Command line.
    """
    options = _parser().parse_args(arguments)
    placed = _placed_imus(options)
    noise, noise_files = _reference_noise(options.reference_noise)
    drives = _read_drives(options)
    judgements = []
    for index, drive in enumerate(drives):
        task = JudgementTask(
            what=options.what,
            runs=options.runs,
            seed=options.seed + index,
            unit_seed=options.seed if len(drives) > 1 else None,
            step=options.step,
            reference_noise=noise,
            workers=options.workers,
        )
        motion = drive.motion()
        models = [judge_model(imu, place, drive, motion, task) for imu, place in placed]
        judgements.append(DriveJudgement(models, drive, task))
    written = judgement_files.FileOptions(
        options.formats, options.table, options.report, options.within
    )
    if len(judgements) > 1:
        pooled = pool_judgements(judgements)
        lines = judgement_files.pooled_text(judgements, pooled)
        files = judgement_files.pooled_files(judgements, pooled, written)
    else:
        lines = judgement_files.drive_text(judgements[0])
        files = judgement_files.drive_files(judgements[0], written)
    inputs = [path for drive in drives for path in drive.sources]
    inputs += [file for imu, _ in placed for file in imu.files]
    inputs += [*filter(None, [options.config]), *noise_files]
    out = command_line.results_folder(options.out, files, inputs)
    print(*lines, sep="\n")
    for name, content in files.items():
        command_line.write_file(out / name, content)


def _placed_imus(options) -> list[imu_options.PlacedImu]:
    imus = [imu_options.choose_imu(text) for text in options.imu]
    placed = imu_options.place_imus(imus, options)
    names = number_duplicates([imu.name for imu, _ in placed])
    placed = [
        imu_options.PlacedImu(imu._replace(name=name), environment)
        for (imu, environment), name in zip(placed, names)
    ]
    for imu, _ in placed:
        if options.what == SENSOR and isinstance(imu.errors, YawErrorParameters):
            raise ConfigurationError(
                f"{imu.name} is an identified model, which has no full sensor; use --what linear, "
                "or the specification imu.yaml in the same folder"
            )
    return placed


def _read_drives(options):
    settings = recording_options.parse_settings(options.setting)
    drives, left_out = read_drives(options.drives, options.config, options.step, settings)
    drives = [drive.select_output(options.of) for drive in drives]
    drives[0] = dataclasses.replace(drives[0], remarks=(*left_out, *drives[0].remarks))
    return drives


def _reference_noise(text) -> tuple[YawErrorParameters | None, list[str]]:
    """Return the noise of a reference, a size or an identified model's, and its file."""
    if text is None:
        return None, []
    try:
        noise = option_types.positive_angle(text)
        return YawErrorParameters(reference_noise=noise, drives=0), []
    except argparse.ArgumentTypeError as error:
        if Path(text).is_file() and is_yaw_error_model_file(text):
            return read_yaw_error_model(text), [text]
        raise ConfigurationError(
            f"--reference-noise is {quote(text)}, expected an angle above zero such as "
            "0.2deg, or the file of an identified model"
        ) from error


def _parser():
    parser = ArgumentParser(__doc__)
    add = parser.add_argument
    # fmt: off
    add("drives", nargs="+", metavar="RESULT_OR_RECORDING",
        help="a result's folder, a bag, CSV or TUM file, a config.ini, or a bundled drive")
    add("--imu", action="append", required=True, metavar="IMU",
        help="model of an IMU; repeatable, each is judged separately")
    imu_options.add_magnetic_options(parser)
    add("--runs", type=command_line.run_count, default=RUNS, metavar="N",
        help="number of runs of each model, %(default)s by default")
    add("--what", choices=KINDS, default=LINEAR,
        help="kind of runs: the linear model, or the three-axis sensor with its filter; "
             "%(default)s by default")
    add("--reference-noise", metavar="ANGLE_OR_MODEL",
        help="white noise of the reference's yaw, as 0.2deg, or the file of an identified model "
             "with the error of its reference; by default the error that the recording and an "
             "identified model state")
    command_line.add_seed(parser)
    add("--config", metavar="FILE", help="config.ini with the settings for reading the recording")
    recording_options.add_setting_option(parser)
    recording_options.add_of_option(parser)
    add("--step", type=option_types.positive_duration, default=1.0, metavar="TIME",
        help="interval between yaw errors, by default 1s")
    imu_options.add_limit_option(parser, "limit within which the report counts runs")
    add("--workers", type=command_line.worker_count, metavar="N",
        help="number of processes for --what sensor, by default the number of processors")
    # fmt: on
    table_text.add_option(parser)
    command_line.add_results(parser, judgement_files.NAME)
    return parser
