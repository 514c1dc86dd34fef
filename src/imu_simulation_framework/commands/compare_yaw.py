"""Compare yaws of any recordings and results: how far apart they are, and how late each is.

    compare_yaw.py drive.bag@/odom drive.bag@/imu/data
    compare_yaw.py mocap.tum "log.csv@heading [deg cw from north]"
    compare_yaw.py check_drive/config.ini           # the reference and the IMU that it describes
    compare_yaw.py RESULT                           # its reference, IMUs and truth
    compare_yaw.py RESULT@imu_real OTHER_RESULT@imu_real

The first yaw is what the others are compared with. Each is a bag, ROS 1 or 2 (PATH@TOPIC), a CSV
file (PATH@COLUMN, a unit in brackets), a TUM file, what rostopic echo -p wrote, or a result
(PATH@TABLE: reference, imu_real, ground_truth, imu_simulated, odometer, trajectory_data). What has
no time in common with the first, as a recording and a result, begins with it. What a config.ini
describes is checked as before an experiment, and refused unless its [experiment] accept_implausible
is true.
Writes to DIR:

    compare_yaw.png     the yaws, and the first minus each of the others
    compare_yaw.csv     the table
    compare_yaw.html    with --report: all of this as one web page
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from .. import __version__
from ..core.errors import RecordingError
from ..core.programs import ArgumentParser
from ..core.sentences import number_duplicates
from ..core.signals import TimeShift, find_time_shift
from ..core.whole_files import make_folder, refuse_overwriting
from ..drive.figures import yaws as yaws_figure
from ..drive.yaw_signals import MIN_SAMPLES, read_yaw_signals
from ..heading.error_split import ZEROS
from ..heading.statistics import TWO_SIDED
from ..heading.yaw_comparison import (
    FASTEST_TURN,
    ComparisonSettings,
    YawComparison,
    compare_yaw,
    jumps,
)
from ..report import table as table_text
from ..report.drawing import to_matplotlib
from ..report.page import Page, Section
from ..report.table import Column, to_page_table
from .command_line import add_results, write_pictures, write_report

NAME = "compare_yaw"
COLUMNS = (
    Column("name", "first minus"),
    Column("duration", "duration", "s", 1),
    Column("rms", "rms", "deg", 3),
    Column("reference", "of the first", "deg", 3),
    Column("imu", "of this one [deg]"),
    Column("maximum_absolute", "max", "deg", 3),
    Column("final", "final", "deg", 3),
    Column("final_within", "within", "deg", 3),
    Column("imu_final", "final of this one", "deg", 3),
    Column("imu_final_within", "its within", "deg", 3),
    Column("drift", "drift", "deg/min", 3),
    Column("delay", "delay", "s", 3),
    Column("correlation", "correlation", "", 3),
)

WHOSE = ("reference", "imu", "final_within", "imu_final", "imu_final_within")
"""Keys of columns that need a reference of which it is known how wrong it is."""


def main(arguments):
    """Compare the yaws named on the command line."""
    options = _parser().parse_args(arguments)
    settings = ComparisonSettings(
        median_window=options.median_window,
        align=options.align,
        max_shift=options.max_shift,
        start_window=options.start_window,
        zero=options.zero,
    )
    signals = [signal for text in options.signals for signal in read_yaw_signals(text)]
    names = _distinct(signals)
    yaws = [signal.yaw for signal in signals]
    differences = yaw_differences(names, yaws, settings, signals[0].poses)
    table = differences_table(differences)
    table.insert(0, "name", table.index)
    out = make_folder(options.out)
    written = [f"{NAME}.{format}" for format in options.formats]
    written += [f"{NAME}.html"] if options.report else []
    for path in written + [f"{NAME}.{table_text.ENDINGS[format]}" for format in options.table]:
        refuse_overwriting(out / path, [source for one in signals for source in one.sources])
    for signal in signals:
        for remark in signal.remarks:
            print(remark)
    print(f"first: {names[0]}")
    columns = COLUMNS
    unknown = table["reference"].isna().all()
    if unknown:
        columns = tuple(one for one in COLUMNS if one.key not in WHOSE)
    print(table_text.format_table(table, columns), end="")
    remarks = [*_jumps(names, yaws), *_remarks(differences, settings, names[0])]
    if unknown and signals[0].poses is not None and not signals[0].group:
        remarks.append(
            f"{names[0]}: nothing is known of how wrong it is, so that its error is not told from "
            "the others'; where it is odometry, whose wheels slip, [reference] turn_slip of a "
            "config.ini says by how much, here as in an experiment"
        )
    if remarks:
        print(*remarks, sep="\n")
    figure = yaws_figure(names, yaws, differences)
    write_pictures(out, NAME, to_matplotlib(figure), options.formats)
    if options.report:
        page = Page(
            title="Yaws compared",
            summary=[f"Compared with {names[0]}.", *remarks],
            sections=[
                Section("Differences", table=to_page_table(table, columns)),
                Section(
                    "Yaws",
                    text=[remark for signal in signals for remark in signal.remarks],
                    figure=figure,
                    how_to_read="Above the yaws; below, the first one minus each of the others.",
                ),
            ],
            footer=f"{', '.join(options.signals)}, imu_simulation_framework {__version__}",
        )
        write_report(out / f"{NAME}.html", page)
    for path in table_text.write_tables(out, NAME, table, columns, options.table):
        print(path)


def _parser():
    parser = ArgumentParser(__doc__)
    parser.add_argument("signals", nargs="+", metavar="YAW", help="PATH or PATH@WHAT; see above")
    default = ComparisonSettings()
    parser.add_argument(
        "--align",
        action="store_true",
        help="take each one's delay off, which is found from the yaw rates and shown anyway",
    )
    parser.add_argument(
        "--max-shift", type=float, default=default.max_shift, metavar="S",
        help="largest delay looked for [s], %(default)s by default",
    )  # fmt: skip
    parser.add_argument(
        "--median-window", type=float, default=default.median_window, metavar="S",
        help="window of the trend's median [s], %(default)s by default",
    )  # fmt: skip
    parser.add_argument(
        "--start-window", type=float, default=default.start_window, metavar="S",
        help="differences are zero on the median over so long a beginning [s]",
    )  # fmt: skip
    parser.add_argument(
        "--zero", choices=ZEROS, default=default.zero,
        help="estimated: with all of the drive where it is known how wrong the first one is; "
        "start: on that beginning alone; %(default)s by default",
    )  # fmt: skip
    table_text.add_option(parser)
    add_results(parser, NAME)
    return parser


def _distinct(signals):
    """Return names without what all of one result share, numbered where several are the same."""
    names = [signal.name for signal in signals]
    if len({signal.group for signal in signals}) == 1 and signals[0].group:
        names = [signal.name[len(signal.group) :].strip() for signal in signals]
    return number_duplicates(names)


def _jumps(names, yaws):
    for name, yaw in zip(names, yaws):
        found = jumps(yaw)
        if len(found):
            time, (turn, within) = found.index[0], found.iloc[0]
            times = "once" if len(found) == 1 else f"{len(found)} times, the first"
            yield (
                f"{name}: jumps {times} at {time - yaw.index[0]:.3f} s after its beginning, by "
                f"{np.degrees(turn):.1f} deg within {within:.3f} s, faster than "
                f"{np.degrees(FASTEST_TURN):.0f} deg/s; that is in the differences and spoils "
                "delay and correlation"
            )


def _remarks(differences, settings, first):
    for one in differences:
        if one.rms_with_sign_turned is not None:
            yield (
                f"{one.name}: with its sign turned it would be "
                f"{np.degrees(one.rms_with_sign_turned):.3f} deg rms from {first}, so one of the "
                "two counts clockwise; [deg cw from north] after a column says that it does"
            )
        if one.clock_offset:
            yield (
                f"{one.name}: has no time in common with {first}, so that both begin together; "
                "--align with a large --max-shift finds what that leaves"
            )
        if one.comparison.zero_words:
            yield f"{one.name}: its {one.comparison.zero_words}"
        if settings.align and one.shift.problem:
            yield f"{one.name}: was not aligned: {one.shift.problem}"


_MIN_RMS = np.radians(5.0)
_FAR_BETTER = 3.0


@dataclass(frozen=True)
class YawDifference:
    """One yaw against the first.

    ``comparison``: its error is the first yaw minus this one, zero at the start. ``shift``: how
    late it was found to be; subtracted from its stamps only if that was asked for.
    ``clock_offset``: what was added to its stamps [s] because the two had no time in common.
    ``rms_with_sign_turned``: how far apart the two are if this one counts the other way round
    [rad]; None unless that is far less.
    """

    name: str
    comparison: YawComparison
    shift: TimeShift
    clock_offset: float
    rms_with_sign_turned: float | None = None


def yaw_differences(names, yaws, settings, poses=None) -> list[YawDifference]:
    """Compare yaws with the first of them.

    ``names`` (sequence of str): for messages; the first is what the others are compared with.
    ``yaws`` (sequence of Series) [rad] indexed by time [s]. Where one has no time in common with
    the first, which is so with a recording's clock and a result's, the two begin together.
    ``settings`` (ComparisonSettings): ``align`` says whether a found delay is taken off.
    ``poses`` (DataFrame): those of the first yaw, if it is one of poses, as of
    :func:`.compare_yaw`. Returns one less than there are yaws. Raises RecordingError if there are
    less than two, or one has fewer than two samples in common with the first.
    """
    if len(yaws) < 2:
        raise RecordingError(f"there is one yaw only, {', '.join(names)}; name another one")
    first = yaws[0]
    found = []
    for name, yaw in zip(names[1:], yaws[1:]):
        apart = yaw.index[0] > first.index[-1] or yaw.index[-1] < first.index[0]
        offset = float(first.index[0] - yaw.index[0]) if apart else 0.0
        moved = pd.Series(yaw.to_numpy(), index=yaw.index.to_numpy(dtype=float) + offset)
        shift = find_time_shift(moved.index, moved, first.index, first, settings.max_shift)
        comparison = compare_yaw(moved, first, settings, poses)
        if comparison is None or len(comparison.error) < MIN_SAMPLES:
            raise RecordingError(
                f"{name}: has fewer than {MIN_SAMPLES} samples within the time of {names[0]}"
            )
        turned = _rms_with_sign_turned(comparison, moved, first, settings, poses)
        found.append(YawDifference(name, comparison, shift, offset, turned))
    return found


def _rms_with_sign_turned(comparison, yaw, first, settings, poses) -> float | None:
    """Return how far apart two yaws are if one of them counts the other way round [rad].

    None unless that is far less than as they are, which ``comparison`` says.
    """
    rms = comparison.statistics.rms
    if rms < _MIN_RMS:
        return None
    turned = compare_yaw(-yaw, first, settings, poses)
    if turned is None or _FAR_BETTER * turned.statistics.rms > rms:
        return None
    return float(turned.statistics.rms)


def differences_table(differences) -> pd.DataFrame:
    """Sum up differences: a row each, with degrees and seconds.

    Indexed by name: duration [s], rms, reference (what of it is expected of the first), imu (in
    words, what is left for this one), maximum_absolute, final and final_within (half the 95 %
    interval that the reference and the zero leave of it) [deg], imu_final and imu_final_within
    (this one's own, and half its 95 % interval) [deg], drift [deg/min], delay [s], correlation of
    the rates.
    """
    rows = {}
    for one in differences:
        statistics, time = one.comparison.statistics, one.comparison.error.index
        split = one.comparison.split
        rows[one.name] = {
            "duration": time[-1] - time[0],
            "rms": np.degrees(statistics.rms),
            "reference": np.degrees(split.reference) if split else float("nan"),
            "imu": split.imu_words() if split else "",
            "maximum_absolute": np.degrees(statistics.maximum_absolute),
            "final": np.degrees(statistics.final),
            "final_within": TWO_SIDED * np.degrees(split.final_std) if split else float("nan"),
            "imu_final": np.degrees(split.imu_final) if split else float("nan"),
            "imu_final_within": np.degrees(0.5 * (split.imu_final_high - split.imu_final_low))
            if split
            else float("nan"),
            "drift": 60.0 * np.degrees(statistics.drift),
            "delay": float("nan") if one.shift.problem else one.shift.shift,
            "correlation": one.shift.correlation,
        }
    return pd.DataFrame.from_dict(rows, orient="index")
