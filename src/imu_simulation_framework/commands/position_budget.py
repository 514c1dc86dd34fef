"""Compute the distribution of the position error of dead reckoning, and its error sources.

The command line is defined in :mod:`.parsers.position_budget`.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

from ..core.errors import ConfigurationError
from ..core.progress import progress_bar
from ..core.sentences import number_duplicates
from ..core.whole_files import write_whole
from ..heading.answer import RUNS
from ..heading.budget import budget_step
from ..heading.figures.position import position_figure
from ..heading.position import answer as position_answer
from ..heading.position.answer import PositionAnswer, PositionBudget
from ..heading.position.model import MAX_TIMES, StartUncertainty
from ..heading.position.prediction import DeadReckoning, position_error_model
from ..heading.selection import model_step
from ..motion.earth_motion import EarthMotion
from ..motion.motion import Motion
from ..report import table as table_text
from ..report.drawing import to_matplotlib
from ..sensors.odometer import OdometerSpecification, read_odometer
from ..sensors.operation import Operation
from . import command_line, imu_options, motion_options
from .parsers.position_budget import NAME


class _Task(NamedTuple):
    """Motion with its stops, use of the sensors, evaluation time and step of the models."""

    chosen: motion_options.ChosenMotion
    motion: Motion | EarthMotion
    operation: Operation
    end: float
    period: float


class _Robot(NamedTuple):
    """Sensors of a robot, and whether their headings are fused."""

    name: str
    imu: imu_options.PlacedImu | None
    odometer: OdometerSpecification | None
    fuse: bool = False


def run(options):
    """Compute and write the position budgets specified on the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.
    """
    if not options.imu and not options.odometer:
        raise ConfigurationError(
            "--imu and --odometer are missing, expected at least one of them as a heading"
        )
    if options.fuse and not (options.imu and options.odometer):
        raise ConfigurationError("--fuse requires an IMU (--imu) and an odometer (--odometer)")
    task = _task(options)
    robots = _robots(options)
    out = _results_folder(options, task, robots)
    remarks = [f"note: {remark}" for remark in task.chosen.remarks]
    use = f"{task.chosen.name}, {task.operation.sentence()}"
    budgets = [_budget(options, task, robot) for robot in robots]
    position_answer.check_limits(budgets, options.within, options.corridor)
    # The title is printed first, since the simulated drives take several seconds.
    print(f"{use}: position error after {task.end:g} s", *remarks, sep="\n", flush=True)
    answers = _answers(options, budgets)
    _show(options, out, f"{use}, up to {task.end:g} s", budgets, answers)


def _task(options) -> _Task:
    if options.flight is not None:
        raise ConfigurationError("--flight does not apply to a robot, whose ground is level")
    operation = imu_options.operation_from_options(options)
    chosen = motion_options.choose_motion(options, linear=True)
    motion = operation.insert_stops(chosen.motion)
    end = motion_options.evaluation_time(options, chosen.name, motion.duration)
    most = MAX_TIMES - 1
    period = min(budget_step(end, most), model_step(end, motion, operation, 1))
    period = max(period, end / most)
    # The model ends at a whole step, at most half a step from the requested time.
    steps = min(max(1, round(end / period)), math.floor(motion.duration / period + 1e-9))
    return _Task(chosen, motion, operation, steps * period, period)


def _robots(options) -> list[_Robot]:
    imus = [imu_options.choose_unit(imu_options.choose_imu(text), options) for text in options.imu]
    placed_imus = imu_options.place_imus(imus, options)
    odometers = [(Path(name).stem, read_odometer(name)) for name in options.odometer]
    robots = []
    for placed in placed_imus:
        name = placed.imu.name
        if not odometers:
            robots.append(_Robot(name, placed, None))
        for wheels, odometer in odometers:
            robots.append(_Robot(f"{name}, {wheels} odometer", placed, odometer))
            if options.fuse:
                fused_name = f"{name} fused with {wheels} odometer"
                robots.append(_Robot(fused_name, placed, odometer, fuse=True))
    robots += [_Robot(f"{name} odometer", None, odometer) for name, odometer in odometers]
    names = number_duplicates([robot.name for robot in robots])
    return [robot._replace(name=name) for name, robot in zip(names, robots)]


def _results_folder(options, task, robots):
    names = [f"{NAME}.{format}" for format in options.formats] + ["bands.csv"]
    names += [f"budget.{table_text.ENDINGS[format]}" for format in options.table]
    files = [file for robot in robots if robot.imu is not None for file in robot.imu.imu.files]
    files += [name for name in options.odometer if Path(name).is_file()]
    return command_line.results_folder(options.out, names, [*task.chosen.files, *files])


def _budget(options, task, robot) -> PositionBudget:
    fixes = tuple(fix for schedule in options.fix for fix in schedule.until(task.end))
    reckoning = DeadReckoning(
        robot.odometer,
        robot.fuse,
        fixes,
        StartUncertainty(options.start_position, options.start_heading),
    )
    model = position_error_model(
        None if robot.imu is None else robot.imu.imu.errors,
        task.motion,
        reckoning,
        task.period,
        task.operation,
        task.chosen.sample,
        None if robot.imu is None else robot.imu.environment,
        task.end,
    )
    remarks = [] if robot.imu is None else list(robot.imu.imu.remarks)
    remarks += model.limits
    if robot.fuse or fixes:
        remarks += filter(None, [position_answer.known_error_remark(model)])
    return PositionBudget(robot.name, model, remarks)


def _answers(options, budgets) -> list[PositionAnswer]:
    total = RUNS * len(budgets)
    with progress_bar(desc="simulating drives", total=total, unit=" runs", leave=False) as progress:
        return position_answer.position_answers(
            budgets,
            options.within,
            options.corridor,
            seed=options.seed,
            on_runs=progress.update,
        )


def _show(options, out, title, budgets, answers) -> None:
    """Print and write the budgets."""
    sentences = [
        answer.sentence(budget.name, options.corridor) for budget, answer in zip(budgets, answers)
    ]
    summary = position_answer.position_summary_table(budgets, answers)
    columns = position_answer.position_summary_columns(options.within, options.corridor)
    sources = position_answer.position_source_table(budgets, answers)
    source_columns = position_answer.SOURCE_COLUMNS
    print(*sentences, "", table_text.format_table(summary, columns), sep="\n", end="")
    print(position_answer.SUMMARY_NOTE, "", sep="\n")
    is_notable = sources["share"] >= position_answer.MIN_PRINTED_SHARE
    notable_sources = sources[is_notable | (sources["mean"] > 0.0)]
    print(table_text.format_table(notable_sources, source_columns), end="")
    for remark in dict.fromkeys(f"{b.name}: {remark}" for b in budgets for remark in b.remarks):
        print(f"note: {remark}")
    write_whole(out / "bands.csv", position_answer.position_bands_text(budgets).encode("utf-8"))
    figure = position_figure(budgets, options.within, options.corridor)
    command_line.write_pictures(out, NAME, to_matplotlib(figure, title), options.formats)
    print(out / "bands.csv")
    print(*table_text.write_tables(out, "budget", sources, source_columns, options.table), sep="\n")
