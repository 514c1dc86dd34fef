"""Draw many runs of a drive, and compute the distribution of the yaw error.

    monte_carlo.py a --imu bno055 --runs 10000 --within 5deg
    monte_carlo.py --straight 10min --imu my_imu.yaml --runs 1000000 --what linear
    monte_carlo.py a --imu hector --runs 200 --what experiment --setting terrain/kind=uneven
    monte_carlo.py a --imu bno055_magnetometer --heading rejecting --magnetic-environment steel_beam
    monte_carlo.py a --imu bno055 --runs 100000 --scheduler tcp://10.0.0.1:8786

A run is a run of the three-axis sensor with its orientation filter, of its linear model, or a whole
experiment in the embedded simulator with its own IMU and bumps (--what). Run k of a seed does not
depend on the number of workers. Another call continues an interrupted job, or adds runs to it.
Workers of a cluster need this package and its libraries in the same versions. Writes to DIR:

    ensemble.png          bands over time, final errors, mean power spectral density
    ensemble.txt          the printed text
    ensemble.html         with --report: all results as a web page
    summary.csv           mean, standard deviation and quantiles over time
    spectrum.csv          mean power spectral density
    runs.csv.gz           final, maximum and rms error and drift of each run
    curves.npz            the first runs as whole curves: time [s], errors [rad]
    job.json, chunks      runs so far
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
from ..drive.ensembles.monte_carlo import KEEP, Computers, monte_carlo
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
    """Draw the ensemble of a command line.

    Parameters
    ----------
    arguments : list of str
        Command line.
    """
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
    computers = Computers(workers, options.scheduler)
    with progress_bar(total=options.runs, unit=" runs") as progress:
        ensemble = monte_carlo(
            drawing,
            options.runs,
            options.out,
            computers=computers,
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
            "--what experiment requires a drive or a recording; --straight and --rounds are for "
            "--what sensor and linear"
        )
    for option, given in (("--heading", options.heading), ("--unit", options.unit)):
        if given:
            raise ConfigurationError(
                f"{option} has no effect with --what experiment, whose sensor is that of the "
                "specification; use --what sensor or linear"
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
            f"--imu is {options.imu}, but an experiment does not read parameters of other tools; "
            "convert them to a specification with convert_imu_parameters.py"
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
    add("--runs", type=command_line.run_count, required=True, metavar="N", help="number of runs")
    add("--what", choices=KINDS, default=KINDS[0], help="kind of runs, %(default)s by default")
    command_line.add_seed(parser)
    imu_options.add_limit_option(parser, "limit whose probability is computed")
    add("--period", type=option_types.positive_duration, default=1.0, metavar="TIME",
        help="interval between errors, by default 1s")
    add("--keep", type=command_line.whole_number, default=KEEP, metavar="N",
        help="number of first runs that are kept as whole curves, by default %(default)s")
    add("--workers", type=command_line.worker_count, metavar="N",
        help="number of processes on this computer, by default the number of processors")
    add("--scheduler", metavar="ADDRESS",
        help="Dask scheduler whose workers draw the runs, as tcp://10.0.0.1:8786")
    # fmt: on
    command_line.add_results(parser, NAME)
    return parser
