"""Draw very many runs of a drive and say how far the heading drifts, with probabilities.

    monte_carlo.py a --imu bno055 --runs 10000 --within 5deg
    monte_carlo.py --straight 10min --imu my_imu.yaml --runs 1000000 --what linear
    monte_carlo.py a --imu hector --runs 200 --what experiment --setting terrain/kind=uneven
    monte_carlo.py a --imu bno055_magnetometer --heading rejecting --magnetic-environment steel_beam
    monte_carlo.py a --imu bno055 --runs 100000 --scheduler tcp://10.0.0.1:8786

What is drawn: the full three-axis sensor with its filter of the orientation, its linear model, or
whole experiments in the embedded simulator, each with IMU and bumps of its own. Run k of a seed has
the same numbers whatever the number of workers. An interrupted job goes on when it is called again,
and so does one that is asked for more runs. Workers of a cluster need this package and its
libraries in the same versions. Writes to DIR:

    ensemble.png          bands over time, final errors, mean power spectral density
    ensemble.txt          what is printed
    ensemble.html         with --report: all of this as one web page
    summary.csv           mean, standard deviation and quantiles over time
    spectrum.csv          mean power spectral density
    runs.csv.gz           final, maximum and rms error and drift of each run
    curves.npz            the first runs as whole curves: time [s], errors [rad]
    job.json, chunks      what was drawn already
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

from ..core.errors import ConfigurationError
from ..core.programs import ArgumentParser
from ..core.progress import progress_bar
from ..drive.configuration import Configuration, load_configuration
from ..drive.ensembles.executors import processors
from ..drive.ensembles.monte_carlo import KEEP, monte_carlo
from ..drive.ensembles.page import Caption, write_ensemble, write_report
from ..drive.ensembles.samplers import Drawing, ExperimentDrawing, LinearDrawing, SensorDrawing
from ..heading.model.imu_error_sources import yaw_error_model
from ..motion.drives import DRIVES
from ..sensors.errors_in_motion import remark_on_constant_bias, remark_on_motion_errors
from ..sensors.imu_models.plugins import PRESETS
from ..sensors.imu_specification import ImuSpecification
from . import command_line, imu_options, motion_options, option_types, recording_options

NAME = "monte_carlo"
KINDS = ("sensor", "linear", "experiment")


def main(arguments):
    """Draw the ensemble that the command line asks for."""
    options = _parser().parse_args(arguments)
    configuration = _configuration(options) if options.what == "experiment" else None
    named = imu_options.choose_imu(options.imu)
    imu, environment = named, None
    if configuration is None:
        unit = imu_options.choose_unit(named, options)
        ((imu, environment),) = imu_options.place_imus([unit], options)
    name, drawing, motion_remarks = _drawing(options, imu, environment, configuration)
    remarks = [*motion_remarks, *imu.remarks]
    if isinstance(imu.errors, ImuSpecification):
        remarks += filter(
            None, [remark_on_constant_bias(imu.errors), remark_on_motion_errors(imu.errors)]
        )
    if isinstance(drawing, LinearDrawing):
        remarks += drawing.model.limits
    workers = processors() if options.workers is None else options.workers
    with progress_bar(total=options.runs, unit=" runs") as progress:
        ensemble = monte_carlo(
            drawing,
            options.runs,
            options.out,
            workers=workers,
            scheduler=options.scheduler,
            keep=options.keep,
            on_runs=progress.update,
            on_remark=lambda sentence: progress.write(f"note: {sentence}", file=sys.stderr),
        )
    caption = Caption(name, imu.name, options.what, options.seed, options.within, tuple(remarks))
    for line in write_ensemble(options.out, ensemble, caption, options.formats):
        print(line)
    if options.report:
        parameters = dataclasses.asdict(imu.errors)  # type: ignore[call-overload]
        print(write_report(options.out, ensemble, caption, parameters))


def _drawing(options, imu, environment, configuration) -> tuple[str, Drawing, tuple[str, ...]]:
    """Return the name of the motion, the drawing, and remarks on how the motion was read."""
    if configuration is not None:
        return options.drive, ExperimentDrawing(configuration, options.seed, options.period), ()
    chosen = motion_options.choose_motion(options, linear=options.what == "linear")
    operation = None
    if isinstance(imu.errors, ImuSpecification):
        operation = imu_options.operation_from_options(options)
        name = f"{chosen.name}, {operation.sentence()}"
        chosen = chosen._replace(motion=operation.moved(chosen.motion), name=name)
    name, motion, sample, remarks = chosen.name, chosen.motion, chosen.sample, chosen.remarks
    if options.what == "sensor":
        drawing = SensorDrawing(
            motion, imu.errors, options.seed, options.period,
            magnetic_environment=environment, operation=operation,
        )  # fmt: skip
        return name, drawing, remarks
    model = yaw_error_model(imu.errors, motion, options.period, environment, sample, operation)
    return name, LinearDrawing(model, options.seed), remarks


def _configuration(options) -> Configuration:
    if options.drive is None:
        raise ConfigurationError(
            "an experiment follows a drive or a recording; --straight and --rounds are for the "
            "sensor and its linear model"
        )
    for option, given in (("--heading", options.heading), ("--unit", options.unit)):
        if given:
            raise ConfigurationError(
                f"an experiment's sensor is as its specification says; {option} is for the sensor "
                "and its linear model"
            )
    settings = recording_options.parse_settings(options.setting)

    def put(section, key, value):
        if value is not None:
            settings.setdefault(section, {})[key] = str(value)

    for name in ("standstill", "stops", "warm_up"):
        put("operation", name, getattr(options, name))
    put("simulation", "latitude", options.latitude)
    for name in options.magnetic_environment:
        put("magnetic_environment", "file", name)
    bundled = options.drive in DRIVES and not Path(options.drive).exists()
    put("recording", "drive" if bundled else "path", options.drive)
    if options.imu in PRESETS and not Path(options.imu).exists():
        put("imu", "model", options.imu)
    elif ":" in options.imu and not Path(options.imu).exists():
        raise ConfigurationError(
            f"an experiment reads no parameters of other tools, as {options.imu}; "
            "convert_imu_parameters.py makes a specification of them"
        )
    else:
        put("imu", "model", "specification")
        put("imu_specification", "file", options.imu)
    return load_configuration(overrides=settings)


def _parser():
    parser = ArgumentParser(__doc__)
    motion_options.add_motion_options(parser)
    add = parser.add_argument
    # fmt: off
    add("--imu", required=True, metavar="IMU",
        help="a bundled specification's name, its file, FORMAT:FILE, or a plug-in's parameters")
    imu_options.add_magnetic_options(parser, several=False)
    imu_options.add_operation_options(parser)
    add("--runs", type=command_line.run_count, required=True, metavar="N", help="how many")
    add("--what", choices=KINDS, default=KINDS[0], help="what is drawn, %(default)s by default")
    command_line.add_seed(parser)
    imu_options.add_limit_option(parser, "limit whose probability is asked for")
    add("--period", type=option_types.positive_duration, default=1.0, metavar="TIME",
        help="from one of the errors to the next, by default 1s")
    add("--keep", type=command_line.whole_number, default=KEEP, metavar="N",
        help="how many of the first runs are kept as whole curves, by default %(default)s")
    add("--workers", type=command_line.worker_count, metavar="N",
        help="processes on this computer, by default one for each processor")
    add("--scheduler", metavar="ADDRESS",
        help="let the workers of this Dask scheduler do it, as tcp://10.0.0.1:8786")
    # fmt: on
    command_line.add_results(parser, NAME)
    return parser
