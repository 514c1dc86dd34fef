"""Identify the errors of a wheel odometer from a drive: wheel diameters, track and slip.

The command line is defined in :mod:`.parsers.identify_odometer`.
"""

import math

import numpy as np
import pandas as pd
import yaml

from .. import __version__
from ..core.errors import RecordingError
from ..core.settings import to_mapping
from ..core.signals import find_time_shift
from ..core.tables import table_to_csv
from ..drive.yaw_signals import read_yaw_signals
from ..heading.figures.identification import odometer_figure
from ..heading.identification.odometer import identify_odometer
from ..heading.statistics import TWO_SIDED
from ..report.drawing import to_matplotlib
from ..report.page import Page, Section, tabulate_values
from . import command_line

_MAX_SHIFT = 2.0  # s, largest delay between reference and odometer that is estimated
_SIGNIFICANT = 3.0  # standard errors beyond which the two halves of a drive differ


def run(options):
    """Identify the odometer specified on the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.
    """
    odometer, reference = (_single_signal(text) for text in (options.odometry, options.reference))
    if odometer.poses is None:
        raise RecordingError(
            f"{odometer.name}: positions are missing, which are required to compute the distance; "
            "choose the topic or the table of an odometer"
        )
    yaw = reference.yaw
    shift = find_time_shift(yaw.index, yaw, odometer.yaw.index, odometer.yaw, _MAX_SHIFT)
    yaw = pd.Series(yaw.to_numpy(), yaw.index.to_numpy(dtype=float) - shift.shift)
    result = identify_odometer(odometer.poses.dropna(), yaw, options.track, options.step)
    endings = ("csv", *options.formats, *(["html"] if options.report else []))
    names = ["odometer.yaml", *(f"identification.{ending}" for ending in endings)]
    out = command_line.results_folder(options.out, names, [*odometer.sources, *reference.sources])
    remarks = dict.fromkeys([*odometer.remarks, *reference.remarks])
    sentences = list(_sentences(result, shift, odometer.name, reference.name))
    print(*remarks, *sentences, sep="\n")
    kept = to_mapping(result.specification)
    if options.wheel_radius is not None:
        kept["wheel_radius"] = options.wheel_radius
    title = f"# {odometer.name} against {reference.name}; sigmas are standard errors.\n"
    text = title.encode("ascii", "replace").decode() + yaml.safe_dump(kept, sort_keys=False)
    command_line.write_file(out / "odometer.yaml", text.encode("utf-8"))
    table = result.error.to_frame("error").assign(explained=result.explained)
    command_line.write_file(out / "identification.csv", table_to_csv(table).encode("utf-8"))
    compared = f"{odometer.name} against {reference.name}"
    figure = odometer_figure(result)
    command_line.write_pictures(
        out, "identification", to_matplotlib(figure, compared), options.formats
    )
    if options.report:
        page = Page(
            title=f"Errors of a wheel odometer: {compared}",
            summary=sentences,
            sections=[
                Section("odometer.yaml", table=tabulate_values(kept)),
                Section(
                    "Heading error",
                    figure=figure,
                    how_to_read="The slip and the reference cause the unexplained part.",
                ),
                Section("Recordings", text=list(remarks)),
            ],
            footer=f"{options.odometry}, {options.reference}, "
            f"imu_simulation_framework {__version__}",
        )
        command_line.write_report(out / "identification.html", page)


def _single_signal(text):
    signals = read_yaw_signals(text)
    if len(signals) != 1:
        names = ", ".join(signal.name for signal in signals)
        raise RecordingError(
            f"{text}: contains several yaws ({names}), expected one; choose it with {text}@TABLE"
        )
    return signals[0]


def _sentences(result, shift, odometer, reference):
    specification = result.specification
    duration = result.error.index[-1] - result.error.index[0]
    yield (
        f"{odometer}, {result.distance:.4g} m in {duration:.4g} s "
        f"with {math.degrees(result.turn):.4g} deg of turns, compared with {reference}:"
    )
    if shift.problem:
        yield f"  no delay was subtracted: {shift.problem}"
    else:
        sense = "late" if shift.shift >= 0.0 else "early"
        yield f"  the reference is {abs(shift.shift):.3f} s {sense}; this delay is subtracted"
    for name, description, value, sigma in (
        (
            "E_d", "ratio of right to left wheel diameter",
            specification.diameter_ratio, specification.diameter_ratio_sigma,
        ),
        (
            "E_b", "ratio of true to nominal track",
            specification.track_ratio, specification.track_ratio_sigma,
        ),
    ):  # fmt: skip
        yield f"  {name}  {value:.5f} +- {TWO_SIDED * sigma:.2g} (95 %): {description}"
    slip = specification.slip
    if result.slip_factor < 3.0:
        low, high = slip / result.slip_factor, slip * result.slip_factor
        span = f"{low:.3g} to {high:.3g}, 95 %"
    else:
        span = "not determined by this drive"
    yield f"  slip {slip:.3g} m/sqrt(m) ({span})"
    yield f"  white noise of the difference: {math.degrees(result.noise):.2g} deg"
    left = result.error - result.explained
    yield (
        f"  final error {math.degrees(result.error.iloc[-1]):.3g} deg, of which wheel diameters "
        f"and track explain {math.degrees(result.explained[-1]):.3g} deg; rms error "
        f"{math.degrees(np.sqrt(np.mean(result.error**2))):.3g} deg, rms of the unexplained part "
        f"{math.degrees(np.sqrt(np.mean(left**2))):.3g} deg"
    )
    if result.wander > 1.0:
        yield (
            f"  the unexplained error is {math.sqrt(result.wander):.1f} times as large as its "
            "increments predict; possible causes are changes of wheels, load or ground, slip on "
            "turns, or a late or drifting reference; intervals and slip are enlarged by this factor"
        )
    if result.prediction is None:
        yield "  the halves of the drive are too short to predict one from the other"
    else:
        predicted, std, observed = (math.degrees(value) for value in result.prediction)
        differ = abs(observed - predicted) > _SIGNIFICANT * std
        yield (
            f"  error of the second half, predicted from the first half: {predicted:.3g} +- "
            f"{TWO_SIDED * std:.2g} deg (95 %), observed: {observed:.3g} deg"
            f"{'; the error sources change during the drive' if differ else ''}"
        )
