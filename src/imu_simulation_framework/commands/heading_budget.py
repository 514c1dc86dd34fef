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
from types import MappingProxyType
from typing import Any, Mapping, NamedTuple

import numpy as np
import pandas as pd

from .. import __version__
from ..core.errors import ConfigurationError, prefix_errors, versions
from ..core.programs import ArgumentParser
from ..core.progress import progress_bar
from ..core.sentences import number_duplicates
from ..core.tables import escape_formula
from ..core.whole_files import write_whole
from ..heading.answer import (
    LATE,
    RUNS,
    HeadingAnswer,
    Mending,
    another_part,
    heading_answer,
    mendings_of,
    requirements,
    step_of_model,
)
from ..heading.figures import ShownBudget, budget_figure, budget_page
from ..heading.model.distribution import YawErrorDistribution
from ..heading.model.odometer import MAX_TIMES, FusedYawError
from ..heading.model.of_imu import BIAS_INSTABILITY, yaw_error_model
from ..heading.model.sources import RateGaussMarkov
from ..motion.earth import EARTH_RATE
from ..motion.earth_motion import EarthMotion
from ..report import table as table_text
from ..report.drawing import to_matplotlib
from ..report.page import Section, page_html
from ..report.table import Column
from ..sensors.errors_in_motion import (
    inflated,
    understated_in_motion,
    without_noise,
    without_wandering_bias,
)
from ..sensors.formats.registry import NamedImu
from ..sensors.imu_specification import ImuSpecification
from ..sensors.noise.processes import flicker_processes
from ..sensors.odometer import OdometerSpecification, read_odometer
from ..sensors.operation import Operation
from . import command_line, heading_choices

NAME = "heading_budget"
PROBABILITIES = (0.5, 0.95, 0.99)
MAX_STEPS = 4000
REMARKED = 0.1
"""Share of an error's size from which on a part of it that is uncertain is worth a remark."""


class _Budget(NamedTuple):
    name: str
    errors: Any
    model: YawErrorDistribution
    remarks: list[str]
    mendings: tuple[Mending, ...]
    origins: Mapping[str, str] = MappingProxyType({})


def main(arguments):
    """Answer what the command line asks."""
    options = _parser().parse_args(arguments)
    if not options.imu and not options.odometer and options.require is None:
        raise ConfigurationError(
            "name an IMU with --imu, an odometer with --odometer, or a requirement with --require"
        )
    if options.fuse and not (options.imu and options.odometer):
        raise ConfigurationError("--fuse needs an IMU, --imu, and an odometer, --odometer")
    operation = heading_choices.operation(options)
    chosen = heading_choices.chosen_motion(options, linear=True)
    driven, motion = chosen.motion, operation.moved(chosen.motion)
    chosen = chosen._replace(motion=motion)
    at = math.floor(motion.duration + 1e-6) if options.at is None else options.at
    if not 0.0 < at <= motion.duration * (1.0 + 1e-9):
        raise ConfigurationError(
            f"{chosen.name} lasts {motion.duration:.6g} s, so that nothing is known at {at:g} s"
        )
    named = map(heading_choices.chosen_imu, options.imu)
    imus = [heading_choices.unit_of(imu, options) for imu in named]
    imus = heading_choices.placed_imus(imus, options)
    for path in options.odometer:
        odometer = NamedImu(Path(path).stem, read_odometer(path), (path,), ())
        imus.append(heading_choices.PlacedImu(odometer, None))
    written = [f"{NAME}.{format}" for format in options.formats] + ["bands.csv"] if imus else []
    for name, wanted in (("budget", imus), ("requirements", options.require is not None)):
        written += [f"{name}.{table_text.ENDINGS[f]}" for f in options.table if wanted]
    written += [f"{NAME}.html"] if options.report else []
    sources = [*chosen.files, *(file for placed in imus for file in placed.imu.files)]
    out = command_line.results_folder(options.out, written, sources)
    most = MAX_TIMES - 1 if options.fuse else MAX_STEPS
    period = min(_period(at, most), step_of_model(at, motion, operation, 1))
    part = None
    if any(isinstance(placed.imu.errors, ImuSpecification) for placed in imus):
        parts = heading_choices.any_bundled_unit()
        part = another_part(parts, motion, options.within, at, operation, chosen.sample, period)
    budgets = [_budget(imu, chosen, driven, operation, period, at, part, options) for imu in imus]
    if options.fuse:
        count = len(options.odometer)
        budgets += [_fused(*both) for both in product(budgets[:-count], budgets[-count:])]
    yaw = motion.yaw[[0, np.searchsorted(motion.time - motion.time[0], at - 1e-9)]]
    words = (
        f"{chosen.name}, {operation.sentence()}: yaw error after {at:g} s, in which it turns by "
        f"{math.degrees(yaw[1]) - math.degrees(yaw[0]):.0f} deg"
    )
    print(words, *(f"note: {remark}" for remark in chosen.remarks), sep="\n")
    names = number_duplicates([budget.name for budget in budgets])
    budgets = [budget._replace(name=name) for name, budget in zip(names, budgets)]
    answers = []
    if imus:
        title = f"{chosen.name}, {operation.sentence()}, to {at:g} s"
        answers += _show_budgets(options, out, title, budgets)
    if options.require is not None:
        answers.append(_requirements(options, out, chosen, operation, at))
    if options.report:
        settings = {
            "at [s]": at,
            "within [deg]": math.degrees(options.within),
            "step of the model [s]": period,
            "seed": options.seed,
            "runs drawn for all the time": RUNS,
            "inflate": options.inflate,
            "operation": dataclasses.asdict(operation),
            "imu": {one.name: dataclasses.asdict(one.errors) for one in budgets if one.errors},
            "versions": versions(),
        }
        remarks = dict.fromkeys([*chosen.remarks, *(r for one in budgets for r in one.remarks)])
        footer = f"{NAME}, imu_simulation_framework {__version__}, seed {options.seed}"
        shown = [ShownBudget(one.name, one.model) for one in budgets]
        page = budget_page(
            f"{words}.", shown, options.within, answers, settings, list(remarks), footer
        )
        command_line.write_file(out / f"{NAME}.html", page_html(page).encode("utf-8"))


def _show_budgets(options, out, title, budgets):
    total = RUNS * len(budgets)
    with progress_bar(desc="drawing drives", total=total, unit=" runs", leave=False) as progress:
        common = {"seed": options.seed, "on_runs": progress.update}
        found = [heading_answer(b.model, options.within, b.mendings, **common) for b in budgets]
    sentences = [
        answer.sentence(one.name, options.within, one.origins)
        for one, answer in zip(budgets, found)
    ]
    summary = pd.DataFrame([_summary(*both) for both in zip(budgets, found)])
    columns = _summary_columns(options.within)
    causes = pd.concat([_sources(*both) for both in zip(budgets, found)])
    print(*sentences, "", table_text.format_table(summary, columns) + _COUNTED, "", sep="\n")
    print(table_text.format_table(causes, _SOURCE_COLUMNS), end="")
    for remark in dict.fromkeys(remark for budget in budgets for remark in budget.remarks):
        print(f"note: {remark}")
    bands = {
        escape_formula(one.name): np.degrees(one.model.bands(PROBABILITIES)) for one in budgets
    }
    text = pd.concat(bands, names=["imu", "time"]).reset_index("imu").to_csv(float_format="%.9g")
    write_whole(out / "bands.csv", text.encode("utf-8"))
    shown = [ShownBudget(one.name, one.model) for one in budgets]
    command_line.write_pictures(
        out, NAME, to_matplotlib(budget_figure(shown, options.within), title), options.formats
    )
    print(out / "bands.csv")
    print(*table_text.write_tables(out, "budget", causes, _SOURCE_COLUMNS, options.table), sep="\n")
    text, added = [*sentences, f"{_COUNTED}.".replace("\n", " ")], "What each source adds"
    return [
        Section("Result", text=text, table=table_text.to_page_table(summary, columns)),
        Section(added, table=table_text.to_page_table(causes, _SOURCE_COLUMNS, texts=2)),
    ]


def _period(at, most):
    """Return steps of a second, or what gives enough of them, or not too many."""
    for period in (0.1, 1.0, 10.0, 60.0):
        if at / period <= most and at / period >= 20.0:
            return period
    return 0.01 if at < 2.0 else at / most


def _budget(placed, chosen, driven, operation, period, at, part, options):
    imu, factor = placed.imu, options.inflate
    name, errors, remarks = imu.name, imu.errors, list(imu.remarks)
    if isinstance(errors, ImuSpecification):
        if options.bias_instability_band is not None:
            with prefix_errors("--bias-instability-band: "):
                gyroscope = dataclasses.replace(
                    errors.gyroscope, bias_instability_band=options.bias_instability_band
                )
            errors = dataclasses.replace(errors, gyroscope=gyroscope)
        remarks += filter(None, [without_noise(errors), without_wandering_bias(errors)])
        sentence = understated_in_motion(errors)
        if factor is not None:
            errors = inflated(errors, factor)
            name = errors.name
        elif sentence is not None:
            remarks.append(sentence + "; --inflate makes its noise larger, as Kalibr advises")
    elif not isinstance(errors, OdometerSpecification) and (
        factor is not None or options.bias_instability_band is not None
    ):
        option = "--bias-instability-band" if factor is None else "--inflate"
        raise ConfigurationError(f"{option} is for specifications, but {imu.name} is a plug-in")
    arguments = {
        "period": period,
        "magnetic_environment": placed.environment,
        "sample": chosen.sample,
    }
    model = yaw_error_model(errors, chosen.motion, operation=operation, **arguments)
    model = model.until(min(round(at / period) + 1, len(model.time)))
    mendings = mendings_of(errors, driven, operation, model, part, **arguments)
    said = list(model.limits)
    if isinstance(errors, ImuSpecification):
        said += filter(None, [_by_band(errors, model), _of_earth(errors, model, chosen.motion)])
    elif not isinstance(errors, OdometerSpecification) and operation != Operation(standstill=0.0):
        said.append(
            "its yaw error is a plug-in's, or that of drives as recorded: zeroing changes nothing"
        )
    remarks += [f"{imu.name}: {sentence}" for sentence in said]
    return _Budget(name, errors, model, remarks, mendings, imu.origins)


def _fused(imu, odometer):
    remarks = [
        "fused headings are those of the best estimator, which knows the size of each error; a "
        "filter on a robot is at most as good. Between the model's times they do not pass a limit"
    ]
    model = FusedYawError(imu.model, odometer.model)
    name = f"{imu.name} + {odometer.name}"
    known = math.degrees(abs(model.mean()[-1]))
    if known > REMARKED * math.degrees(_std_at_end(model)):
        remarks.append(
            f"{name}: {known:.3g} deg of it are errors that a file states as values, which the "
            "estimator does not know; stated as standard deviations, it finds them out"
        )
    return _Budget(name, None, model, remarks, ())


def _by_band(errors, model):
    """Return a sentence on what the band of the flicker noise decides; None where that is little.

    A sheet states a bias instability without saying over which times it is there.
    """
    std = _std_at_end(model)
    if BIAS_INSTABILITY not in model.names or std == 0.0:
        return None
    own = _std_at_end(model.only(BIAS_INSTABILITY))
    if own < REMARKED * std:
        return None
    first, last = errors.gyroscope.bias_instability_band

    def of_unit(end):
        times, sigmas = flicker_processes((first, end), model.sensor_period or first)
        processes = [RateGaussMarkov(BIAS_INSTABILITY, *both) for both in zip(sigmas, times)]
        return _std_at_end(dataclasses.replace(model, sources=tuple(processes)))

    ends = (0.1 * last, 10.0 * last)
    others = [own * of_unit(end) / of_unit(last) for end in ends]
    if max(others) - min(others) < REMARKED * std:
        return None  # a zeroing takes off what is as slow
    shorter, longer = (
        f"{math.degrees(other):.3g} deg to {end:g} s" for other, end in zip(others, ends)
    )
    return (
        f"its bias instability is flicker noise over averaging times from {first:g} to {last:g} s, "
        f"which gives {math.degrees(own):.3g} deg std here; it would be {shorter} and {longer} "
        "(--bias-instability-band)"
    )


def _of_earth(errors, model, motion):
    """Return a sentence where the Earth's turning is left out and would matter; else None."""
    zeroed = model.standstill > 0.0  # which takes it off
    if zeroed or isinstance(motion, EarthMotion) or errors.output.orientation_reference != "fusion":
        return None
    time, constant = float(model.time[-1]), model.heading_time_constant
    for_so_long = time if constant is None else -constant * math.expm1(-time / constant)
    drift = EARTH_RATE * for_so_long
    own = math.hypot(float(model.mean()[-1]), _std_at_end(model))
    if drift < REMARKED * own:
        return None
    return (
        f"the Earth's turning is left out: it adds {-math.degrees(drift):.3g} deg times the sine "
        f"of the latitude, beside {math.degrees(own):.3g} deg rms (--latitude)"
    )


def _std_at_end(model):
    return math.sqrt(float(model.variance()[-1]))


def _summary(budget, answer: HeadingAnswer):
    bands = np.degrees(budget.model.bands(())).iloc[-1]
    stays, half_width = answer.passage.stays[-1], answer.passage.half_width[-1]
    known = 0.0005 <= stays <= 0.9995 and half_width > 0.0
    return {
        "imu": budget.name,
        "mean": bands["mean"],
        "std": bands["std"],
        "half": math.degrees(answer.half),
        "nearly_all": math.degrees(answer.nearly_all),
        "within": table_text.format_percent(answer.within),
        "always": table_text.format_percent(stays)
        + (f" +- {100.0 * half_width:.1g}" if known else ""),
        "early": _passed(answer.passage, LATE),
        "median": _passed(answer.passage, 0.5),
    }


def _passed(passage, share):
    time = passage.by(share)
    if math.isinf(time):
        return "later"
    low, high = (f"{end:.4g}" for end in passage.interval(share))
    return f"{time:.4g}" if low == high else f"{time:.4g} ({low} to {high})"


def _summary_columns(limit):
    degrees = math.degrees(limit)
    return (
        Column("imu", "IMU"),
        Column("mean", "mean", "deg", 2),
        Column("std", "std", "deg", 2),
        Column("half", "50 %", "deg", 2),
        Column("nearly_all", "95 %", "deg", 2),
        Column("within", f"within {degrees:g} deg"),
        Column("always", "all the time"),
        Column("early", f"passed by {100.0 * LATE:g} %", "s"),
        Column("median", "by half", "s"),
    )


_COUNTED = f"""\
50 %, 95 %: what the error does not exceed in so many drives;
all the time, passed by: counted in {RUNS} drawn drives, with the 95 % interval; > 99.9 % is nearly
all drives, < 0.1 % nearly none"""
_SOURCE_COLUMNS = (
    Column("imu", "IMU"),
    Column("source", "source"),
    Column("mean", "mean", "deg", 3),
    Column("std", "std", "deg", 3),
    Column("share", "share of variance", "%", 1),
    Column("differs", "differs"),
)


def _sources(budget, answer: HeadingAnswer):
    table = answer.causes.reset_index().assign(imu=budget.name)
    table[["mean", "std"]] = np.degrees(table[["mean", "std"]])
    table["share"] *= 100.0
    return table


def _requirements(options, out, chosen, operation, at):
    asked = (options.require, at, options.probability)
    table = requirements(chosen.motion, *asked, sample=chosen.sample, operation=operation)
    table = table.reset_index()
    sentence = (
        f"To stay within {math.degrees(options.require):g} deg after {at:g} s in "
        f"{100.0 * options.probability:g} % of drives, each error at most:"
    )
    print(f"\n{sentence}")
    for column in ("alone", "equal_shares"):
        table[column] = ["any" if math.isinf(value) else f"{value:.3g}" for value in table[column]]
    print(table_text.format_table(table, _REQUIREMENT_COLUMNS), end="")
    print(_MEANING)
    columns = _REQUIREMENT_COLUMNS
    print(*table_text.write_tables(out, "requirements", table, columns, options.table), sep="\n")
    text = [sentence, _MEANING.replace("\n", " ")]
    return Section("Requirements", text=text, table=table_text.to_page_table(table, columns))


_MEANING = """\
All sizes are standard deviations from sensor to sensor or from start to start, of errors of either
sign; those of noise are its density, random walk or coefficient. What a data sheet states as a
largest value is two to three of them. "any": this motion does not show it on a level robot.
"0": the Earth's turning or the filter's lean exceeds the limit even without any."""
_REQUIREMENT_COLUMNS = (
    Column("name", "error"),
    Column("alone", "if alone"),
    Column("equal_shares", "with all others"),
    Column("unit", "unit"),
    Column("sheet", "with all others, in a data sheet"),
)


def _parser():
    parser = ArgumentParser(__doc__)
    heading_choices.add_motion_options(parser)
    heading_choices.add_operation_options(parser)
    add = parser.add_argument
    # fmt: off
    add("--imu", action="append", default=[], metavar="IMU", help="see above; several are compared")
    add("--odometer", action="append", default=[], metavar="ODOMETER",
        help="a differential drive's wheel odometry, compared with the IMUs; may be given again")
    add("--fuse", action="store_true", help="also each IMU's heading fused with each odometer's")
    heading_choices.add_magnetic_options(parser)
    add("--at", type=heading_choices.positive_duration, metavar="TIME",
        help="by default the motion's end")
    heading_choices.add_limit_option(parser, "limit whose probability is asked for")
    add("--require", type=heading_choices.positive_angle, metavar="ANGLE",
        help="say how small each error must be for this limit")
    add("--probability", type=heading_choices.probability, default=0.95, metavar="P",
        help="with --require, by default 0.95")
    add("--inflate", type=float, metavar="FACTOR",
        help="multiply the noise of specifications, which recordings at rest give too small")
    add("--bias-instability-band", nargs=2, type=heading_choices.positive_duration,
        metavar=("FROM", "TO"),
        help="averaging times over which the gyroscopes of specifications have their bias "
             "instability; by default as the specification says, 0.1s to 10000s")
    # fmt: on
    command_line.add_seed(parser)
    table_text.add_option(parser)
    command_line.add_results(parser, NAME)
    return parser
