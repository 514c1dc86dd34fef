"""How far a heading will have drifted, with what probability, and because of what.

    heading_budget.py a --imu bno055 --imu hector --at 10min --within 5deg
    heading_budget.py drive.bag --setting reference/topic=/odom --imu my_imu.yaml
    heading_budget.py --rounds 11 --radius 5 --imu kalibr:imu.yaml
    heading_budget.py --straight 10min --require 5deg --probability 0.95
    heading_budget.py a --imu bno055_magnetometer --magnetic-environment steel_beam
    heading_budget.py --straight 10min --imu stim300 --latitude 50
    heading_budget.py a --imu mpu6050 --standstill 60s --stops "every 2min for 3s"
    heading_budget.py a --imu mpu6050 --odometer odometer.yaml --fuse

Each IMU is a bundled one's name, the file of a specification, FORMAT:FILE with another tool's
parameters, or a plug-in's parameters by name. The gyroscope's offset is measured while the robot
stands still before the drive (--standstill), and each IMU is any unit of its part, unless its file
describes one unit (--unit). An odometer is a bundled one, differential or skid_steer, or a file
with the fields of isf.OdometerSpecification; --fuse adds what the best estimator makes of both.

The bands are computed, not drawn, and exact where errors are small; "all the time" is counted in
4000 drawn drives, between the model's steps, too. With --require: how small each error of a
gyroscope must be, as a standard deviation. Writes to DIR:

    heading_budget.png    bands over time, and which source causes them
    bands.csv             mean, standard deviation and bands over time [deg]
    budget.csv            what each source adds at the time asked for
    requirements.csv      with --require
    heading_budget.html   with --report: all of this as one web page
"""

from __future__ import annotations

import dataclasses
import math
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from .. import __version__
from ..core.errors import ConfigurationError, prefix_errors, versions
from ..core.programs import ArgumentParser
from ..core.progress import progress_bar
from ..core.sentences import number_duplicates
from ..core.whole_files import write_whole
from ..heading import budget_tables
from ..heading.answer import RUNS, HeadingAnswer, Improvement, heading_answer
from ..heading.budget import (
    Budget,
    bias_instability_remark,
    budget_step,
    earth_rate_remark,
    fuse_budgets,
)
from ..heading.budget_page import budget_page
from ..heading.figures.budget import ShownBudget, budget_figure
from ..heading.improvements import better_part, propose_improvements
from ..heading.model.imu_error_sources import yaw_error_model
from ..heading.model.odometer import MAX_TIMES
from ..heading.requirements import requirements
from ..heading.selection import model_step
from ..motion.earth_motion import EarthMotion
from ..motion.motion import Motion
from ..report import table as table_text
from ..report.drawing import to_matplotlib
from ..report.page import Section, page_html
from ..sensors.errors_in_motion import (
    inflate_noise,
    remark_on_constant_bias,
    remark_on_missing_noise,
    remark_on_motion_errors,
)
from ..sensors.formats.registry import NamedImu
from ..sensors.imu_specification import ImuSpecification
from ..sensors.odometer import OdometerSpecification, read_odometer
from ..sensors.operation import Operation
from . import command_line, imu_options, motion_options, option_types

NAME = "heading_budget"
MAX_STEPS = 4000


class _Task(NamedTuple):
    """Motion and operation for which budgets are made.

    ``chosen`` has the motion with the operation's stops, ``driven`` is the motion without them.
    ``at`` [s]: time of the answer; ``period`` [s]: step of the models.
    """

    chosen: motion_options.ChosenMotion
    driven: Motion | EarthMotion
    operation: Operation
    at: float
    period: float


def main(arguments):
    """Compute and write the budgets and requirements that the command line asks for."""
    options = _parser().parse_args(arguments)
    _check_options(options)
    task = _task(options)
    sensors = _sensors(options)
    out = _results_folder(options, task.chosen, sensors)
    budgets = _budgets(options, task, sensors)
    title = _title(task)
    print(title, *(f"note: {remark}" for remark in task.chosen.remarks), sep="\n")
    sections = []
    if sensors:
        answers = _answers(options, budgets)
        sections += _show_budgets(options, out, task, budgets, answers)
    if options.require is not None:
        sections.append(_show_requirements(options, out, task))
    if options.report:
        page = _page(options, task, title, budgets, sections)
        command_line.write_file(out / f"{NAME}.html", page_html(page).encode("utf-8"))


def _check_options(options):
    if not options.imu and not options.odometer and options.require is None:
        raise ConfigurationError(
            "name an IMU with --imu, an odometer with --odometer, or a requirement with --require"
        )
    if options.fuse and not (options.imu and options.odometer):
        raise ConfigurationError("--fuse needs an IMU, --imu, and an odometer, --odometer")


def _task(options) -> _Task:
    operation = imu_options.operation_from_options(options)
    chosen = motion_options.choose_motion(options, linear=True)
    driven, motion = chosen.motion, operation.moved(chosen.motion)
    at = math.floor(motion.duration + 1e-6) if options.at is None else options.at
    if not 0.0 < at <= motion.duration * (1.0 + 1e-9):
        raise ConfigurationError(
            f"{chosen.name} lasts {motion.duration:.6g} s, so that nothing is known at {at:g} s"
        )
    most = MAX_TIMES - 1 if options.fuse else MAX_STEPS
    period = min(budget_step(at, most), model_step(at, motion, operation, 1))
    return _Task(chosen._replace(motion=motion), driven, operation, at, period)


def _sensors(options) -> list[imu_options.PlacedImu]:
    imus = [imu_options.choose_unit(imu_options.choose_imu(text), options) for text in options.imu]
    sensors = imu_options.place_imus(imus, options)
    for path in options.odometer:
        odometer = NamedImu(Path(path).stem, read_odometer(path), (path,), ())
        sensors.append(imu_options.PlacedImu(odometer, None))
    return sensors


def _results_folder(options, chosen, sensors):
    names = [f"{NAME}.{format}" for format in options.formats] + ["bands.csv"] if sensors else []
    for name, is_written in (("budget", sensors), ("requirements", options.require is not None)):
        names += [f"{name}.{table_text.ENDINGS[f]}" for f in options.table if is_written]
    names += [f"{NAME}.html"] if options.report else []
    sources = [*chosen.files, *(file for placed in sensors for file in placed.imu.files)]
    return command_line.results_folder(options.out, names, sources)


def _budgets(options, task, sensors) -> list[Budget]:
    part = None
    if any(isinstance(placed.imu.errors, ImuSpecification) for placed in sensors):
        part = better_part(
            imu_options.bundled_parts(), task.chosen.motion, options.within, task.at,
            task.operation, task.chosen.sample, task.period,
        )  # fmt: skip
    budgets = [_budget(placed, task, part, options) for placed in sensors]
    if options.fuse:
        count = len(options.odometer)
        budgets += [fuse_budgets(*pair) for pair in product(budgets[:-count], budgets[-count:])]
    names = number_duplicates([budget.name for budget in budgets])
    return [budget._replace(name=name) for name, budget in zip(names, budgets)]


def _budget(placed, task: _Task, part: Improvement | None, options) -> Budget:
    imu, motion, operation = placed.imu, task.chosen.motion, task.operation
    name, errors, remarks = _adjusted(imu, options)
    arguments = {
        "period": task.period,
        "magnetic_environment": placed.environment,
        "sample": task.chosen.sample,
    }
    model = yaw_error_model(errors, motion, operation=operation, **arguments)
    model = model.until(min(round(task.at / task.period) + 1, len(model.time)))
    improvements = propose_improvements(errors, task.driven, operation, model, part, **arguments)
    limits = list(model.limits)
    if isinstance(errors, ImuSpecification):
        for remark, option in (
            (bias_instability_remark(errors, model), "--bias-instability-band"),
            (earth_rate_remark(errors, model, motion), "--latitude"),
        ):
            limits += [f"{remark} ({option})"] if remark is not None else []
    elif not isinstance(errors, OdometerSpecification) and operation != Operation(standstill=0.0):
        limits.append(
            "its yaw error is a plug-in's, or that of drives as recorded: zeroing changes nothing"
        )
    remarks += [f"{imu.name}: {sentence}" for sentence in limits]
    return Budget(name, errors, model, remarks, improvements, imu.origins)


def _adjusted(imu: NamedImu, options) -> tuple[str, Any, list[str]]:
    """Return name and errors of a sensor as ``--inflate`` and the band change them, and remarks."""
    name, errors, remarks = imu.name, imu.errors, list(imu.remarks)
    factor, band = options.inflate, options.bias_instability_band
    if not isinstance(errors, ImuSpecification):
        is_changed = factor is not None or band is not None
        if is_changed and not isinstance(errors, OdometerSpecification):
            option = "--bias-instability-band" if factor is None else "--inflate"
            raise ConfigurationError(f"{option} is for specifications, but {imu.name} is a plug-in")
        return name, errors, remarks
    if band is not None:
        with prefix_errors("--bias-instability-band: "):
            gyroscope = dataclasses.replace(errors.gyroscope, bias_instability_band=band)
        errors = dataclasses.replace(errors, gyroscope=gyroscope)
    remarks += filter(None, [remark_on_missing_noise(errors), remark_on_constant_bias(errors)])
    understated = remark_on_motion_errors(errors)
    if factor is not None:
        errors = inflate_noise(errors, factor)
        name = errors.name
    elif understated is not None:
        remarks.append(understated + "; --inflate makes its noise larger, as Kalibr advises")
    return name, errors, remarks


def _title(task: _Task) -> str:
    motion = task.chosen.motion
    last = (motion.time - motion.time[0]).searchsorted(task.at - 1e-9)
    turn = math.degrees(motion.yaw[last]) - math.degrees(motion.yaw[0])
    return (
        f"{task.chosen.name}, {task.operation.sentence()}: yaw error after {task.at:g} s, in which "
        f"it turns by {turn:.0f} deg"
    )


def _answers(options, budgets) -> list[HeadingAnswer]:
    total = RUNS * len(budgets)
    with progress_bar(desc="drawing drives", total=total, unit=" runs", leave=False) as progress:
        common = {"seed": options.seed, "on_runs": progress.update}
        return [
            heading_answer(budget.model, options.within, budget.improvements, **common)
            for budget in budgets
        ]


def _show_budgets(options, out, task, budgets, answers) -> list[Section]:
    """Print and write the budgets, and return their sections of the page."""
    sentences = [
        answer.sentence(budget.name, options.within, budget.origins)
        for budget, answer in zip(budgets, answers)
    ]
    columns = budget_tables.summary_columns(options.within)
    summary = budget_tables.summary_table(budgets, answers)
    causes = budget_tables.source_table(budgets, answers)
    note, source_columns = budget_tables.SUMMARY_NOTE, budget_tables.SOURCE_COLUMNS
    print(*sentences, "", table_text.format_table(summary, columns) + note, "", sep="\n")
    print(table_text.format_table(causes, source_columns), end="")
    for remark in dict.fromkeys(remark for budget in budgets for remark in budget.remarks):
        print(f"note: {remark}")
    write_whole(out / "bands.csv", budget_tables.bands_text(budgets).encode("utf-8"))
    title = f"{task.chosen.name}, {task.operation.sentence()}, to {task.at:g} s"
    figure = budget_figure(_shown(budgets), options.within)
    command_line.write_pictures(out, NAME, to_matplotlib(figure, title), options.formats)
    print(out / "bands.csv")
    print(*table_text.write_tables(out, "budget", causes, source_columns, options.table), sep="\n")
    text = [*sentences, f"{note}.".replace("\n", " ")]
    return [
        Section("Result", text=text, table=table_text.to_page_table(summary, columns)),
        Section(
            "What each source adds", table=table_text.to_page_table(causes, source_columns, texts=2)
        ),
    ]


def _shown(budgets) -> list[ShownBudget]:
    return [ShownBudget(budget.name, budget.model) for budget in budgets]


def _show_requirements(options, out, task) -> Section:
    """Print and write the requirements, and return their section of the page."""
    table = budget_tables.requirement_table(
        requirements(
            task.chosen.motion, options.require, task.at, options.probability,
            sample=task.chosen.sample, operation=task.operation,
        )
    )  # fmt: skip
    sentence = (
        f"To stay within {math.degrees(options.require):g} deg after {task.at:g} s in "
        f"{100.0 * options.probability:g} % of drives, each error at most:"
    )
    columns, note = budget_tables.REQUIREMENT_COLUMNS, budget_tables.REQUIREMENT_NOTE
    print(f"\n{sentence}")
    print(table_text.format_table(table, columns), end="")
    print(note)
    print(*table_text.write_tables(out, "requirements", table, columns, options.table), sep="\n")
    text = [sentence, note.replace("\n", " ")]
    return Section("Requirements", text=text, table=table_text.to_page_table(table, columns))


def _page(options, task, title, budgets, sections):
    settings = {
        "at [s]": task.at,
        "within [deg]": math.degrees(options.within),
        "step of the model [s]": task.period,
        "seed": options.seed,
        "runs drawn for all the time": RUNS,
        "inflate": options.inflate,
        "operation": dataclasses.asdict(task.operation),
        "imu": {
            budget.name: dataclasses.asdict(budget.errors) for budget in budgets if budget.errors
        },
        "versions": versions(),
    }
    remarks = [remark for budget in budgets for remark in budget.remarks]
    remarks = list(dict.fromkeys([*task.chosen.remarks, *remarks]))
    footer = f"{NAME}, imu_simulation_framework {__version__}, seed {options.seed}"
    shown = _shown(budgets)
    return budget_page(f"{title}.", shown, options.within, sections, settings, remarks, footer)


def _parser():
    parser = ArgumentParser(__doc__)
    motion_options.add_motion_options(parser)
    imu_options.add_operation_options(parser)
    add = parser.add_argument
    # fmt: off
    add("--imu", action="append", default=[], metavar="IMU", help="see above; several are compared")
    add("--odometer", action="append", default=[], metavar="ODOMETER",
        help="a differential drive's wheel odometry, compared with the IMUs; may be given again")
    add("--fuse", action="store_true", help="also each IMU's heading fused with each odometer's")
    imu_options.add_magnetic_options(parser)
    add("--at", type=option_types.positive_duration, metavar="TIME",
        help="by default the motion's end")
    imu_options.add_limit_option(parser, "limit whose probability is asked for")
    add("--require", type=option_types.positive_angle, metavar="ANGLE",
        help="say how small each error must be for this limit")
    add("--probability", type=option_types.probability, default=0.95, metavar="P",
        help="with --require, by default 0.95")
    add("--inflate", type=float, metavar="FACTOR",
        help="multiply the noise of specifications, which recordings at rest give too small")
    add("--bias-instability-band", nargs=2, type=option_types.positive_duration,
        metavar=("FROM", "TO"),
        help="averaging times over which the gyroscopes of specifications have their bias "
             "instability; by default as the specification says, 0.1s to 10000s")
    # fmt: on
    command_line.add_seed(parser)
    table_text.add_option(parser)
    command_line.add_results(parser, NAME)
    return parser
