"""How far a heading will have drifted, with what probability, and because of what.

    heading_budget.py a --imu bno055 --imu hector --at 10min --within 5deg
    heading_budget.py drive.bag --setting reference/topic=/odom --imu my_imu.yaml
    heading_budget.py --rounds 11 --radius 5 --imu kalibr:imu.yaml
    heading_budget.py --straight 10min --require 5deg --probability 0.95
    heading_budget.py a --imu bno055_magnetometer --magnetic-environment steel_beam

Each IMU is a bundled one's name, the file of a specification, FORMAT:FILE with another tool's
parameters, or a plug-in's parameters by name. The bands are computed, not drawn, and exact where
errors are small; "all the time" is counted in 4000 drawn drives. With --require: how small each
error of a gyroscope must be. Writes to DIR:

    heading_budget.png    bands over time, and which source causes them
    bands.csv             mean, standard deviation and bands over time [deg]
    budget.csv            what each source adds at the time asked for
    requirements.csv      with --require
    heading_budget.html   with --report: all of this as one web page
"""

from __future__ import annotations

import argparse
import dataclasses
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from imu_simulation_framework import __version__
from imu_simulation_framework.configuration.sections import FIGURE_FORMATS
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.evaluation.yaw_error_model import YawErrorModel, yaw_error_model
from imu_simulation_framework.evaluation.yaw_error_model.requirements import requirements
from imu_simulation_framework.experiment.versions import versions
from imu_simulation_framework.files.whole_files import (
    make_folder,
    picture,
    refuse_overwriting,
    write_whole,
)
from imu_simulation_framework.pages.budget_page import budget_page
from imu_simulation_framework.pages.page import Section
from imu_simulation_framework.pages.page_text import page_html
from imu_simulation_framework.plots.budget_figure import ShownBudget, budget_figure
from imu_simulation_framework.sensors.errors_in_motion import (
    inflated,
    understated_in_motion,
    without_wandering_bias,
)
from imu_simulation_framework.sensors.imu_specification import ImuSpecification
from imu_simulation_framework.sentences import told_apart
from imu_simulation_framework.tools.arguments import whole_number
from imu_simulation_framework.tools.heading_drift import choices
from imu_simulation_framework.tools.side_by_side import table_text
from imu_simulation_framework.tools.side_by_side.table_text import Column

NAME = "heading_budget"
RUNS = 4000
"""Drives that are drawn for the probability to stay within the limit all the time."""
PROBABILITIES = (0.5, 0.95, 0.99)
MOST_STEPS = 2000


class _Budget(NamedTuple):
    name: str
    errors: object
    model: YawErrorModel
    remarks: list[str]


def main(arguments):
    """Answer what the command line asks."""
    options = _parser().parse_args(arguments)
    if not options.imu and options.require is None:
        raise ConfigurationError("name an IMU with --imu, or a requirement with --require")
    chosen = choices.chosen_motion(options)
    motion = chosen.motion
    at = math.floor(motion.duration + 1e-6) if options.at is None else options.at
    if not 0.0 < at <= motion.duration * (1.0 + 1e-9):
        raise ConfigurationError(
            f"{chosen.name} lasts {motion.duration:.6g} s, so that nothing is known at {at:g} s"
        )
    imus = choices.placed_imus([choices.chosen_imu(text) for text in options.imu], options)
    out = make_folder(options.out)
    written = [f"{NAME}.{format}" for format in options.formats] if imus else []
    written += ["bands.csv"] if imus else []
    written += [f"budget.{table_text.ENDINGS[f]}" for f in options.table] if imus else []
    if options.require is not None:
        written += [f"requirements.{table_text.ENDINGS[f]}" for f in options.table]
    written += [f"{NAME}.html"] if options.report else []
    sources = [*chosen.files, *(file for placed in imus for file in placed.imu.files)]
    for name in written:
        refuse_overwriting(out / name, sources)
    period = _period(at)
    budgets = [_budget(imu, motion, period, at, options.inflate) for imu in imus]
    turn = math.degrees(motion.yaw[np.searchsorted(motion.time - motion.time[0], at - 1e-9)])
    turn -= math.degrees(motion.yaw[0])
    words = f"{chosen.name}: yaw error after {at:g} s, in which it turns by {turn:.0f} deg"
    print(words)
    for remark in chosen.remarks:
        print(f"note: {remark}")
    names = told_apart([budget.name for budget in budgets])
    budgets = [budget._replace(name=name) for name, budget in zip(names, budgets)]
    answers = []
    if imus:
        answers += _show_budgets(options, out, f"{chosen.name}, to {at:g} s", budgets)
    if options.require is not None:
        answers.append(_requirements(options, out, motion, at))
    if options.report:
        _write_report(options, out, words, at, period, budgets, answers, chosen.remarks)


def _show_budgets(options, out, title, budgets):
    names = [budget.name for budget in budgets]
    summary = pd.DataFrame(
        [_summary(name, budget.model, options) for name, budget in zip(names, budgets)]
    )
    print(table_text.table_text(summary, _summary_columns(options.within)), end="")
    table = pd.concat([_sources(name, b.model) for name, b in zip(names, budgets)])
    print()
    print(table_text.table_text(table, _SOURCE_COLUMNS), end="")
    for remark in dict.fromkeys(remark for budget in budgets for remark in budget.remarks):
        print(f"note: {remark}")
    bands = pd.concat(
        {
            name: np.degrees(budget.model.bands(PROBABILITIES))
            for name, budget in zip(names, budgets)
        },
        names=["imu", "time"],
    ).reset_index("imu")
    write_whole(out / "bands.csv", bands.to_csv(float_format="%.9g").encode("utf-8"))
    shown = [ShownBudget(name, budget.model) for name, budget in zip(names, budgets)]
    figure = budget_figure(shown, options.within, title)
    for format in dict.fromkeys(options.formats):
        write_whole(out / f"{NAME}.{format}", picture(figure, format))
        print(out / f"{NAME}.{format}")
    print(out / "bands.csv")
    for path in table_text.write_tables(out, "budget", table, _SOURCE_COLUMNS, options.table):
        print(path)
    return [
        Section("Result", table=table_text.page_table(summary, _summary_columns(options.within))),
        Section(
            "What each source adds", table=table_text.page_table(table, _SOURCE_COLUMNS, texts=2)
        ),
    ]


def _period(at):
    """Return steps of a second, or what gives enough of them, or not too many."""
    for period in (0.1, 1.0, 10.0, 60.0):
        if at / period <= MOST_STEPS and at / period >= 20.0:
            return period
    return 0.01 if at < 2.0 else at / MOST_STEPS


def _budget(placed, motion, period, at, factor):
    imu = placed.imu
    errors, remarks = imu.errors, list(imu.remarks)
    if isinstance(errors, ImuSpecification):
        remarks += filter(None, [without_wandering_bias(errors)])
        sentence = understated_in_motion(errors)
        if factor is not None:
            errors = inflated(errors, factor)
        elif sentence is not None:
            remarks.append(sentence + "; --inflate makes its noise larger, as Kalibr advises")
    elif factor is not None:
        raise ConfigurationError(f"--inflate is for specifications, but {imu.name} is a plug-in")
    model = yaw_error_model(errors, motion, period, placed.environment)
    steps = round(at / period) + 1
    model = model.until(min(steps, len(model.time)))
    remarks += [f"{imu.name}: {sentence}" for sentence in model.limits]
    name = imu.name if factor is None else errors.name
    return _Budget(name, errors, model, remarks)


def _summary(name, model, options):
    bands = np.degrees(model.bands(PROBABILITIES)).iloc[-1]
    row = {
        "imu": name,
        "mean": bands["mean"],
        "std": bands["std"],
        **{
            f"band_{p}": f"{bands[f'lower_{p}']:.2f} .. {bands[f'upper_{p}']:.2f}"
            for p in ("50", "95", "99")
        },
    }
    row["within"] = _percent(float(model.probability_within(options.within)[-1]))
    if np.any(model.variance() > 0.0):
        errors = model.realisations(RUNS, options.seed)
    else:
        errors = model.mean()[np.newaxis]
    share = float(np.mean(np.max(np.abs(errors), axis=1) <= options.within))
    error = math.sqrt(share * (1.0 - share) / len(errors))
    row["always"] = _percent(share) + (f" +- {100.0 * error:.1g}" if error else "")
    return row


def _percent(share):
    """Write a probability; one that rounds to certainty is none."""
    if share > 0.9995:
        return "> 99.9 %"
    return "< 0.1 %" if share < 0.0005 else f"{100.0 * share:.3g} %"


def _summary_columns(limit):
    degrees = math.degrees(limit)
    return (
        Column("imu", "IMU"),
        Column("mean", "mean", "deg", 2),
        Column("std", "std", "deg", 2),
        Column("band_50", "50 %", "deg"),
        Column("band_95", "95 %", "deg"),
        Column("band_99", "99 %", "deg"),
        Column("within", f"within {degrees:g} deg"),
        Column("always", "all the time"),
    )


_SOURCE_COLUMNS = (
    Column("imu", "IMU"),
    Column("source", "source"),
    Column("mean", "mean", "deg", 3),
    Column("std", "std", "deg", 3),
    Column("share", "share of variance", "%", 1),
)


def _sources(name, model):
    """Return what each source adds at the end, the largest first."""
    known = np.degrees(model.mean_by_source().iloc[-1])
    variance = model.budget().iloc[-1]
    total = float(variance.sum())
    table = pd.DataFrame(
        {
            "imu": name,
            "source": list(variance.index),
            "mean": [float(known.get(source, 0.0)) for source in variance.index],
            "std": np.degrees(np.sqrt(variance.to_numpy())),
            "share": 100.0 * variance.to_numpy() / total if total > 0.0 else 0.0,
        }
    )
    largest = np.hypot(table["mean"], table["std"])
    return table.loc[largest.sort_values(ascending=False).index]


def _requirements(options, out, motion, at):
    table = requirements(motion, options.require, at, options.probability).reset_index()
    sentence = (
        f"To stay within {math.degrees(options.require):g} deg after {at:g} s in "
        f"{100.0 * options.probability:g} % of drives, each error at most"
    )
    print(f"\n{sentence}:")
    for column in ("alone", "equal_shares"):
        table[column] = ["any" if math.isinf(value) else f"{value:.3g}" for value in table[column]]
    print(table_text.table_text(table, _REQUIREMENT_COLUMNS), end="")
    print(_ANY)
    for path in table_text.write_tables(
        out, "requirements", table, _REQUIREMENT_COLUMNS, options.table
    ):
        print(path)
    return Section(
        "Requirements",
        text=[f"{sentence}. {_ANY[0].upper()}{_ANY[1:]}."],
        table=table_text.page_table(table, _REQUIREMENT_COLUMNS),
    )


_ANY = "any: this motion does not show it on a level robot"
_REQUIREMENT_COLUMNS = (
    Column("name", "error"),
    Column("alone", "if alone"),
    Column("equal_shares", "with all others"),
    Column("unit", "unit"),
)


def _write_report(options, out, words, at, period, budgets, answers, remarks):
    page = budget_page(
        words + ".",
        [ShownBudget(budget.name, budget.model) for budget in budgets],
        options.within,
        answers,
        {
            "at [s]": at,
            "within [deg]": math.degrees(options.within),
            "step of the model [s]": period,
            "seed": options.seed,
            "runs drawn for all the time": RUNS,
            "inflate": options.inflate,
            "imu": {
                budget.name: dataclasses.asdict(budget.errors)  # type: ignore[call-overload]
                for budget in budgets
            },
            "versions": versions(),
        },
        list(dict.fromkeys([*remarks, *(r for budget in budgets for r in budget.remarks)])),
        f"{NAME}, imu_simulation_framework {__version__}, seed {options.seed}",
    )
    write_whole(out / f"{NAME}.html", page_html(page).encode("utf-8"))
    print(out / f"{NAME}.html")


def _parser():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    choices.add_motion_options(parser)
    parser.add_argument(
        "--imu", action="append", default=[], metavar="IMU", help="see above; several are compared"
    )
    choices.add_magnetic_options(parser)
    parser.add_argument(
        "--at", type=choices.positive_duration, metavar="TIME", help="by default the motion's end"
    )
    parser.add_argument(
        "--within", type=choices.positive_angle, default=math.radians(5.0), metavar="ANGLE",
        help="limit whose probability is asked for, by default 5deg",
    )  # fmt: skip
    parser.add_argument(
        "--require", type=choices.positive_angle, metavar="ANGLE",
        help="say how small each error must be for this limit",
    )  # fmt: skip
    parser.add_argument(
        "--probability", type=choices.probability, default=0.95, metavar="P",
        help="with --require, by default 0.95",
    )  # fmt: skip
    parser.add_argument(
        "--inflate", type=float, metavar="FACTOR",
        help="multiply the noise of specifications, which recordings at rest give too small",
    )  # fmt: skip
    parser.add_argument("--report", action="store_true", help="write a web page, too")
    parser.add_argument("--seed", type=whole_number, default=1, metavar="S", help="default: 1")
    table_text.add_option(parser)
    parser.add_argument(
        "--formats", nargs="+", choices=FIGURE_FORMATS, default=["png"], help="of the figure"
    )
    parser.add_argument(
        "--out", type=Path, default=Path(NAME), metavar="DIR", help="%(default)s by default"
    )
    return parser
