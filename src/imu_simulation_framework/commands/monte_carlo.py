"""Simulate many runs of a drive and compute the distribution of the yaw error.

The command line is defined in :mod:`.parsers.monte_carlo`.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

from ..core.errors import ConfigurationError
from ..core.progress import progress_bar
from ..drive.configuration import Configuration, load_configuration
from ..drive.ensembles.executors import processors
from ..drive.ensembles.monte_carlo import Computers, monte_carlo
from ..drive.ensembles.page import Caption, write_ensemble, write_report
from ..drive.ensembles.samplers import Drawing, ExperimentDrawing, LinearDrawing, SensorDrawing
from ..heading.model.imu_error_sources import yaw_error_model
from ..motion.drives import DRIVES
from ..sensors.errors_in_motion import remark_on_constant_bias, remark_on_motion_errors
from ..sensors.imu_models.plugins import PRESETS
from ..sensors.imu_specification import ImuSpecification
from . import imu_options, motion_options, recording_options


def run(options):
    """Simulate the ensemble specified on the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.
    """
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
            on_remark=lambda remark: progress.write(f"note: {remark}", file=sys.stderr),
        )
    caption = Caption(name, imu.name, options.what, options.seed, options.within, tuple(remarks))
    for line in write_ensemble(options.out, ensemble, caption, options.formats):
        print(line)
    if options.report:
        parameters = dataclasses.asdict(imu.errors)  # type: ignore[call-overload]
        print(write_report(options.out, ensemble, caption, parameters))


def _drawing(options, imu, environment, configuration) -> tuple[str, Drawing, tuple[str, ...]]:
    """Return the name of the motion, the simulation of its runs, and remarks on the motion."""
    if configuration is not None:
        return options.drive, ExperimentDrawing(configuration, options.seed, options.period), ()
    chosen_motion = motion_options.choose_motion(options, linear=options.what == "linear")
    operation = None
    if isinstance(imu.errors, ImuSpecification):
        operation = imu_options.operation_from_options(options)
        name = f"{chosen_motion.name}, {operation.sentence()}"
        chosen_motion = chosen_motion._replace(
            motion=operation.insert_stops(chosen_motion.motion), name=name
        )
    name, motion, sample, remarks = (
        chosen_motion.name,
        chosen_motion.motion,
        chosen_motion.sample,
        chosen_motion.remarks,
    )
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
            "--what experiment requires a drive or a recording; use --what sensor or linear for "
            "the motions of options such as --straight"
        )
    for option, value in (("--heading", options.heading), ("--unit", options.unit)):
        if value:
            raise ConfigurationError(
                f"{option} requires --what sensor or linear; an experiment uses the sensor and "
                "heading of the specification"
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
            f"--imu is {options.imu}, expected a specification or a plug-in for --what experiment; "
            "convert parameters of other tools with convert_imu_parameters.py"
        )
    else:
        put("imu", "model", "specification")
        put("imu_specification", "file", options.imu)
    return load_configuration(overrides=settings)
