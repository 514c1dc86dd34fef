"""Compute the distribution of the yaw error for a motion, and its error sources.

The command line is defined in :mod:`.parsers.heading_budget`.
"""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any, NamedTuple

from .. import __version__
from ..core.errors import ConfigurationError, prefix_errors
from ..core.memory import describe_memory
from ..core.progress import progress_bar
from ..core.whole_files import write_whole
from ..heading import budget_tables
from ..heading.answer import RUNS, HeadingAnswer
from ..heading.budget import (
    Budget,
    bias_instability_remark,
    budget_remarks,
    budget_step,
    distinguish_budgets,
    earth_rate_remark,
    fuse_all,
)
from ..heading.budget_page import (
    budget_page,
    budget_settings,
    requirement_section,
    result_sections,
)
from ..heading.figures.budget import budget_figure, shown_budgets
from ..heading.improvements import better_part
from ..heading.model.odometer import MAX_TIMES
from ..heading.requirements import requirements
from ..heading.selection import model_step
from ..heading.sensor_budget import BudgetTask, budget_answers, sensor_budget
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
from . import command_line, imu_options, motion_options
from .parsers.heading_budget import NAME

MAX_STEPS = 4000
# Memory of the libraries and of each step of a motion [bytes], from drives of one and three hours.
_FIXED_MEMORY, _MEMORY_PER_STEP = 216e6, 930.0


class _Task(NamedTuple):
    """Chosen motion, including the stops for measuring the gyroscope bias, and budget settings."""

    chosen: motion_options.ChosenMotion
    budget: BudgetTask


def run(options):
    """Compute and write the budgets and requirements specified on the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.
    """
    _check_options(options)
    task = _task(options)
    sensors = _sensors(options)
    out = _results_folder(options, task.chosen, sensors)
    adjusted = [_adjusted(placed.imu, options) for placed in sensors]
    title = _title(task)
    remarks = [f"note: {remark}" for remark in task.chosen.remarks]
    steps = len(task.budget.driven.time)
    remarks += describe_memory(task.chosen.name, steps, _FIXED_MEMORY + _MEMORY_PER_STEP * steps)
    # The title is printed first, since the budgets take several seconds.
    print(title, *remarks, sep="\n", flush=True)
    budgets = _budgets(options, task, sensors, adjusted)
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
            "--imu, --odometer and --require are missing, expected at least one of them"
        )
    if options.fuse and not (options.imu and options.odometer):
        raise ConfigurationError("--fuse requires an IMU (--imu) and an odometer (--odometer)")


def _task(options) -> _Task:
    operation = imu_options.operation_from_options(options)
    chosen_motion = motion_options.choose_motion(options, linear=True)
    driven, motion = chosen_motion.motion, operation.insert_stops(chosen_motion.motion)
    end = motion_options.evaluation_time(options, chosen_motion.name, motion.duration)
    most = MAX_TIMES - 1 if options.fuse else MAX_STEPS
    period = min(budget_step(end, most), model_step(end, motion, operation, 1))
    task = BudgetTask(motion, driven, operation, end, period, chosen_motion.sample)
    return _Task(chosen_motion._replace(motion=motion), task)


def _sensors(options) -> list[imu_options.PlacedImu]:
    imus = [imu_options.choose_unit(imu_options.choose_imu(text), options) for text in options.imu]
    sensors = imu_options.place_imus(imus, options)
    for path in options.odometer:
        odometer = NamedImu(Path(path).stem, read_odometer(path), (path,), ())
        sensors.append(imu_options.PlacedImu(odometer, None))
    return sensors


def _results_folder(options, chosen_motion, sensors):
    names = [f"{NAME}.{format}" for format in options.formats] + ["bands.csv"] if sensors else []
    for name, is_written in (("budget", sensors), ("requirements", options.require is not None)):
        names += [f"{name}.{table_text.ENDINGS[f]}" for f in options.table if is_written]
    names += [f"{NAME}.html"] if options.report else []
    sources = [*chosen_motion.files, *(file for placed in sensors for file in placed.imu.files)]
    return command_line.results_folder(options.out, names, sources)


def _budgets(options, task, sensors, adjusted) -> list[Budget]:
    part, use = None, task.budget
    if any(isinstance(placed.imu.errors, ImuSpecification) for placed in sensors):
        parts = imu_options.bundled_parts()
        part = better_part(
            parts, use.motion, options.within, use.at, use.operation, use.sample, use.period
        )
    budgets = [_budget(*pair, use, part) for pair in zip(sensors, adjusted)]
    count = len(options.odometer)
    fused_budgets = fuse_all(budgets[:-count], budgets[-count:]) if options.fuse else []
    return distinguish_budgets([*budgets, *fused_budgets])


def _budget(placed, adjusted, task, part):
    imu, environment = placed.imu, placed.environment
    name, errors, remarks = adjusted
    budget = sensor_budget(
        name, errors, task, part=part, environment=environment, origins=imu.origins
    )
    limits = budget.remarks
    if isinstance(errors, ImuSpecification):
        for remark, option in (
            (bias_instability_remark(errors, budget.model), "--bias-instability-band"),
            (earth_rate_remark(errors, budget.model, task.motion), "--latitude"),
        ):
            limits += [f"{remark} ({option})"] if remark is not None else []
    return budget._replace(remarks=remarks + [f"{imu.name}: {remark}" for remark in limits])


def _adjusted(imu: NamedImu, options) -> tuple[str, Any, list[str]]:
    """Apply ``--inflate`` and ``--bias-instability-band``; return name, errors and remarks."""
    name, errors, remarks = imu.name, imu.errors, list(imu.remarks)
    factor, band = options.inflate, options.bias_instability_band
    if not isinstance(errors, ImuSpecification):
        is_changed = factor is not None or band is not None
        if is_changed and not isinstance(errors, OdometerSpecification):
            option = "--bias-instability-band" if factor is None else "--inflate"
            raise ConfigurationError(
                f"{option} requires a specification, but {imu.name} is a plug-in model"
            )
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
        remarks.append(understated + "; increase the noise with --inflate, as Kalibr recommends")
    return name, errors, remarks


def _title(task: _Task) -> str:
    end, turn = task.budget.at, math.degrees(task.budget.turn)
    return f"{_use(task)}: yaw error after {end:g} s and a net turn of {round(turn) + 0.0:.0f} deg"


def _use(task: _Task) -> str:
    return f"{task.chosen.name}, {task.budget.operation.sentence()}"


def _answers(options, budgets) -> list[HeadingAnswer]:
    total = RUNS * len(budgets)
    with progress_bar(desc="simulating drives", total=total, unit=" runs", leave=False) as progress:
        return budget_answers(budgets, options.within, options.seed, progress.update)


def _show_budgets(options, out, task, budgets, answers) -> list[Section]:
    """Print and write the budgets; return their sections of the web page."""
    sentences = budget_tables.answer_sentences(budgets, answers, options.within)
    columns = budget_tables.summary_columns(options.within)
    summary = budget_tables.summary_table(budgets, answers)
    causes = budget_tables.source_table(budgets, answers)
    note, source_columns = budget_tables.SUMMARY_NOTE, budget_tables.SOURCE_COLUMNS
    print(*sentences, "", table_text.format_table(summary, columns) + note, "", sep="\n")
    print(table_text.format_table(causes, source_columns), end="")
    for remark in budget_remarks(budgets):
        print(f"note: {remark}")
    write_whole(out / "bands.csv", budget_tables.bands_text(budgets).encode("utf-8"))
    title = f"{_use(task)}, up to {task.budget.at:g} s"
    figure = budget_figure(shown_budgets(budgets), options.within)
    command_line.write_pictures(out, NAME, to_matplotlib(figure, title), options.formats)
    print(out / "bands.csv")
    print(*table_text.write_tables(out, "budget", causes, source_columns, options.table), sep="\n")
    return result_sections(sentences, summary, causes, options.within)


def _show_requirements(options, out, task) -> Section:
    """Print and write the requirements; return their section of the web page."""
    use = task.budget
    limits = requirements(
        use.motion, options.require, use.at, options.probability,
        sample=use.sample, operation=use.operation,
    )  # fmt: skip
    table = budget_tables.requirement_table(limits)
    sentence = budget_tables.requirement_sentence(options.require, use.at, options.probability)
    columns, note = budget_tables.REQUIREMENT_COLUMNS, budget_tables.REQUIREMENT_NOTE
    print(f"\n{sentence}")
    print(table_text.format_table(table, columns), end="")
    print(note)
    print(*table_text.write_tables(out, "requirements", table, columns, options.table), sep="\n")
    return requirement_section(sentence, table)


def _page(options, task, title, budgets, sections):
    settings = budget_settings(task.budget, budgets, options.within, options.seed, options.inflate)
    remarks = list(dict.fromkeys([*task.chosen.remarks, *budget_remarks(budgets)]))
    footer = f"{NAME}, imu_simulation_framework {__version__}, seed {options.seed}"
    shown = shown_budgets(budgets)
    return budget_page(f"{title}.", shown, options.within, sections, settings, remarks, footer)
