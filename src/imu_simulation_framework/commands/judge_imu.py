"""Test whether a model of an IMU explains the yaw error of a real IMU on a drive.

The command line is defined in :mod:`.parsers.judge_imu`.
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

from ..core.errors import ConfigurationError
from ..core.sentences import number_duplicates, quote
from ..drive.ensembles import judgement_files
from ..drive.ensembles.drive_judgement import (
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
from . import command_line, imu_options, option_types, recording_options


def run(options):
    """Test the models specified on the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.
    """
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
    file_options = judgement_files.FileOptions(
        options.formats, options.table, options.report, options.within
    )
    if len(judgements) > 1:
        pooled = pool_judgements(judgements)
        lines = judgement_files.pooled_text(judgements, pooled)
        files = judgement_files.pooled_files(judgements, pooled, file_options)
    else:
        lines = judgement_files.drive_text(judgements[0])
        files = judgement_files.drive_files(judgements[0], file_options)
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
                f"{imu.name} is an identified model, but --what sensor requires a specification; "
                "use --what linear, or the specification imu.yaml in the same folder"
            )
    return placed


def _read_drives(options):
    settings = recording_options.parse_settings(options.setting)
    drives, left_out = read_drives(options.drives, options.config, options.step, settings)
    drives = [drive.select_output(options.of) for drive in drives]
    drives[0] = dataclasses.replace(drives[0], remarks=(*left_out, *drives[0].remarks))
    return drives


def _reference_noise(text) -> tuple[YawErrorParameters | None, list[str]]:
    """Return model parameters with the reference noise, and the files that they are read from."""
    if text is None:
        return None, []
    try:
        noise = option_types.positive_angle(text)
        return YawErrorParameters(reference_noise=noise, drives=0), []
    except argparse.ArgumentTypeError as error:
        if Path(text).is_file() and is_yaw_error_model_file(text):
            return read_yaw_error_model(text), [text]
        raise ConfigurationError(
            f"--reference-noise is {quote(text)}, expected an angle above 0, such as 0.2deg, or "
            "the file of an identified model"
        ) from error
