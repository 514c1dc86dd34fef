"""Judge whether a real IMU's yaw error on a drive may be one of a model's.

    judge_imu.py experiment_results/drive_a/hector/1 --imu hector --imu hector_slow
    judge_imu.py husky.bag --config husky_odometry.ini --imu bno055 --imu husky/yaw_error_model.yaml
    judge_imu.py a --imu hector --what sensor --runs 1000 --reference-noise 0.2deg

The drive is an experiment's result, a recording with a reference and an IMU, the config.ini of one,
or a bundled drive's name. Each IMU is a bundled one's name, the file of a specification or of an
identified model, FORMAT:FILE with another tool's parameters, or a plug-in's parameters by name.
Of each, many runs along the same motion are drawn, and both errors start at zero in the same way.
Says for each whether it is refuted, with what p-value, and in which way it is wrong; a refuted
model is an answer, so the exit code is 0. Writes to DIR:

    judgement.png     the recorded error in the ensemble, and where its statistics are
    judgement.csv     all looks of all IMUs
    judgement.json    the same with verdicts, seeds, versions and remarks
    judgement.html    with --report: all of this as one web page

With several IMUs figures and pages have numbers, in the order of the command line.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from imu_simulation_framework.commands import heading_choices
from imu_simulation_framework.commands.command_line import (
    ArgumentParser,
    add_results,
    add_seed,
    worker_count,
    write_file,
)
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.sentences import shown, told_apart
from imu_simulation_framework.core.whole_files import make_folder, refuse_overwriting
from imu_simulation_framework.drive.ensembles.executors import processors
from imu_simulation_framework.drive.ensembles.judgement_files import Judged, contents, judged_text
from imu_simulation_framework.drive.ensembles.monte_carlo import monte_carlo
from imu_simulation_framework.drive.ensembles.samplers import Drawing, LinearDrawing, SensorDrawing
from imu_simulation_framework.drive.yaw_signals import ReadDrive, read_drive
from imu_simulation_framework.heading.judgement import from_zero_where_known, judge
from imu_simulation_framework.heading.model.files import (
    is_yaw_error_model_file,
    read_yaw_error_model,
)
from imu_simulation_framework.heading.model.model import YawErrorModel
from imu_simulation_framework.heading.model.of_imu import yaw_error_model
from imu_simulation_framework.heading.model.parameters import YawErrorParameters
from imu_simulation_framework.heading.model.sources import Source, YawNoise
from imu_simulation_framework.motion.motion import Motion
from imu_simulation_framework.report import table
from imu_simulation_framework.sensors.errors_in_motion import understated_in_motion
from imu_simulation_framework.sensors.imu_specification import ImuSpecification

NAME = "judgement"
RUNS = 2000
WHAT = ("linear", "sensor")

NO_REFERENCE_NOISE = (
    "The noise of the drive's reference counts as the IMU's, as no --reference-noise says how "
    "large it is: where the model has too little noise at high frequencies, it may be that."
)
OF_ONE_DRIVE = (
    "A model that was identified on this very drive fits it better than it would another one: here "
    "only its being refuted says something."
)


class _Noise(NamedTuple):
    """The noise of a reference, as sources of the yaw error, and the files it was read from."""

    sources: tuple[Source, ...]
    files: tuple[str, ...]


def main(arguments):
    """Judge the IMUs named on the command line."""
    options = _parser().parse_args(arguments)
    if options.runs < 1:
        raise ConfigurationError(f"{options.runs} runs are asked for; --runs is 1 or more")
    placed = heading_choices.placed_imus(
        [heading_choices.chosen_imu(text) for text in options.imu], options
    )
    names = told_apart([imu.name for imu, _ in placed])
    placed = [one._replace(imu=one.imu._replace(name=name)) for one, name in zip(placed, names)]
    for imu, _ in placed:
        if options.what == "sensor" and isinstance(imu.errors, YawErrorParameters):
            raise ConfigurationError(
                f"{imu.name} is an identified model, which has no full sensor; --what linear draws "
                "it, and imu.yaml beside it is a specification"
            )
    noise = None if options.reference_noise is None else _noise(options.reference_noise)
    drive = read_drive(
        options.drive, options.config, options.step, heading_choices.settings(options.setting)
    )
    motion = drive.motion()
    judged = [_judged(options, drive, motion, one, noise) for one in placed]
    files = contents(judged, drive, options)
    out = make_folder(options.out)
    read = [*drive.sources, *(file for imu, _ in placed for file in imu.files)]
    read += [*filter(None, [options.config]), *(noise.files if noise else ())]
    for name in files:
        refuse_overwriting(out / name, read)
    for line in judged_text(judged, drive, options):
        print(line)
    for name, content in files.items():
        write_file(out / name, content)


def _judged(options, drive: ReadDrive, motion: Motion, placed, noise) -> Judged:
    """Draw an IMU's runs along the motion and judge the drive's yaw error by them."""
    imu, environment = placed
    errors, step = imu.errors, drive.observed.step
    model = yaw_error_model(errors, motion, step, environment)
    drawing: Drawing = LinearDrawing(model, options.seed)
    if options.what == "sensor":
        drawing = SensorDrawing(
            motion, errors, options.seed, step, magnetic_environment=environment
        )
    workers = (options.workers or processors()) if options.what == "sensor" else 1
    with tqdm(total=options.runs, unit=" runs", desc=imu.name, leave=False, disable=None) as bar:
        drawn = monte_carlo(
            drawing, options.runs, workers=workers, keep=options.runs, on_runs=bar.update
        )
    time, curves = drawn.time, drawn.curves
    if noise is not None:
        sources = noise.sources
    else:
        sources = errors.reference_sources() if isinstance(errors, YawErrorParameters) else []
    if sources:
        reference = YawErrorModel(time, tuple(sources))
        curves = curves + reference.realisations(options.runs, options.seed).astype(curves.dtype)
    # Where the reference's heading is not known nothing was observed.
    time, observed, curves = from_zero_where_known(time, drive.observed.error, curves)
    judgement = judge(time, observed, curves)
    remarks = [*imu.remarks, *_remarks(errors, sources)]
    remarks += [] if options.what == "sensor" else model.limits
    return Judged(imu.name, errors, tuple(sources), judgement, curves, tuple(remarks))


def _remarks(errors, sources):
    """Sentences on what limits the verdict."""
    if isinstance(errors, ImuSpecification):
        yield from filter(None, [understated_in_motion(errors)])
    if isinstance(errors, YawErrorParameters):
        yield OF_ONE_DRIVE
    elif not sources:
        yield NO_REFERENCE_NOISE


def _noise(text) -> _Noise:
    """Return the noise of a reference: a size, or that of an identified model."""
    try:
        return _Noise((YawNoise("reference noise", heading_choices.positive_angle(text)),), ())
    except argparse.ArgumentTypeError as error:
        if Path(text).is_file() and is_yaw_error_model_file(text):
            sources = read_yaw_error_model(text).reference_sources()
            return _Noise(tuple(sources), (text,))
        raise ConfigurationError(
            f"the reference's noise is {shown(text)}, which is neither an angle above zero, as "
            "0.2deg, nor the file of an identified model"
        ) from error


def _parser():
    parser = ArgumentParser(__doc__)
    parser.add_argument(
        "drive",
        metavar="RESULT_OR_RECORDING",
        help="a result's folder, a bag, CSV or TUM file, a config.ini, or a bundled drive",
    )
    parser.add_argument(
        "--imu", action="append", required=True, metavar="IMU",
        help="see above; several are judged, each for itself",
    )  # fmt: skip
    heading_choices.add_magnetic_options(parser)
    parser.add_argument(
        "--runs", type=int, default=RUNS, metavar="N", help="of each, %(default)s by default"
    )
    parser.add_argument(
        "--what", choices=WHAT, default=WHAT[0],
        help="what is drawn: the linear model, or the three-axis sensor with its filter; "
        "%(default)s by default",
    )  # fmt: skip
    parser.add_argument(
        "--reference-noise", metavar="ANGLE_OR_MODEL",
        help="white noise of the reference's yaw, as 0.2deg, or an identified model's file, whose "
        "noise of the reference it is; by default an identified model has its own, others none",
    )  # fmt: skip
    add_seed(parser)
    parser.add_argument(
        "--config", metavar="FILE", help="a config.ini that says how the recording is read"
    )
    heading_choices.add_setting_option(parser)
    parser.add_argument(
        "--step", type=heading_choices.positive_duration, default=1.0, metavar="TIME",
        help="from one yaw error to the next, by default 1s",
    )  # fmt: skip
    parser.add_argument(
        "--within", type=heading_choices.positive_angle, default=math.radians(5.0), metavar="ANGLE",
        help="limit that the report counts runs within, by default 5deg",
    )  # fmt: skip
    parser.add_argument(
        "--workers", type=worker_count, metavar="N",
        help="processes for --what sensor, by default one for each processor",
    )  # fmt: skip
    table.add_option(parser)
    add_results(parser, NAME)
    return parser
