"""Compare yaws of recordings and results: their differences and delays.

    compare_yaw.py drive.bag@/odom drive.bag@/imu/data
    compare_yaw.py mocap.tum "log.csv@heading [deg cw from north]"
    compare_yaw.py check_drive/config.ini           # the reference and the IMU that it describes
    compare_yaw.py RESULT                           # its reference, IMUs and ground truth
    compare_yaw.py RESULT@imu_real OTHER_RESULT@imu_real

The others are compared with the first yaw. A yaw is a bag of ROS 1 or 2 (PATH@TOPIC), a CSV file
(PATH@COLUMN, with a unit in brackets), a TUM file, output of rostopic echo -p, or a result
(PATH@TABLE: reference, imu_real, ground_truth, imu_simulated, odometer, trajectory_data). A yaw
without common time with the first, such as a result and a recording, is moved to its start. The
recording of a config.ini is checked as before an experiment, and rejected if it is implausible,
unless [experiment] accept_implausible is true.
Writes to DIR:

    compare_yaw.png     the yaws, and the first minus each of the others
    compare_yaw.csv     the table
    compare_yaw.html    with --report: all results as a web page
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

REFERENCE_KEYS = ("reference", "imu", "final_within", "imu_final", "imu_final_within")
"""Keys of columns that require a reference with a known error."""


def main(arguments):
    """Compare the yaws of a command line.

    Parameters
    ----------
    arguments : list of str
        Command line.
    """
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
        refuse_overwriting(out / path, [source for signal in signals for source in signal.sources])
    for signal in signals:
        for remark in signal.remarks:
            print(remark)
    print(f"first: {names[0]}")
    columns = COLUMNS
    is_unknown = table["reference"].isna().all()
    if is_unknown:
        columns = tuple(column for column in COLUMNS if column.key not in REFERENCE_KEYS)
    print(table_text.format_table(table, columns), end="")
    remarks = [*_jumps(names, yaws), *_remarks(differences, settings, names[0])]
    if is_unknown and signals[0].poses is not None and not signals[0].group:
        remarks.append(
            f"{names[0]}: its error is unknown, so that it is not separated from the errors of the "
            "others; for odometry, set [reference] turn_slip in a config.ini"
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
                    how_to_read="Top: the yaws. Bottom: the first yaw minus each other yaw.",
                ),
            ],
            footer=f"{', '.join(options.signals)}, imu_simulation_framework {__version__}",
        )
        write_report(out / f"{NAME}.html", page)
    for path in table_text.write_tables(out, NAME, table, columns, options.table):
        print(path)


def _parser():
    parser = ArgumentParser(__doc__)
    parser.add_argument(
        "signals", nargs="+", metavar="YAW", help="PATH, PATH@TOPIC, PATH@COLUMN or PATH@TABLE"
    )
    default = ComparisonSettings()
    parser.add_argument(
        "--align",
        action="store_true",
        help="subtract the delays, which are estimated from yaw rates and printed in any case",
    )
    parser.add_argument(
        "--max-shift", type=float, default=default.max_shift, metavar="S",
        help="largest delay [s], %(default)s by default",
    )  # fmt: skip
    parser.add_argument(
        "--median-window", type=float, default=default.median_window, metavar="S",
        help="window of the moving median of the trend [s], %(default)s by default",
    )  # fmt: skip
    parser.add_argument(
        "--start-window", type=float, default=default.start_window, metavar="S",
        help="duration at the start whose median difference is set to zero [s]",
    )  # fmt: skip
    parser.add_argument(
        "--zero", choices=ZEROS, default=default.zero,
        help="zero of the differences. estimated: from the whole drive if the error of the first "
        "yaw is known; start: from the start alone; %(default)s by default",
    )  # fmt: skip
    table_text.add_option(parser)
    add_results(parser, NAME)
    return parser


def _distinct(signals):
    """Return names without the name of a common result, and number equal names."""
    names = [signal.name for signal in signals]
    if len({signal.group for signal in signals}) == 1 and signals[0].group:
        names = [signal.name[len(signal.group) :].strip() for signal in signals]
    return number_duplicates(names)


def _jumps(names, yaws):
    for name, yaw in zip(names, yaws):
        table = jumps(yaw)
        if len(table):
            time, (turn, within) = table.index[0], table.iloc[0]
            times = "once" if len(table) == 1 else f"{len(table)} times, the first"
            yield (
                f"{name}: jumps {times} at {time - yaw.index[0]:.3f} s after its beginning, by "
                f"{np.degrees(turn):.1f} deg within {within:.3f} s, faster than "
                f"{np.degrees(FASTEST_TURN):.0f} deg/s; this affects differences, delay and "
                "correlation"
            )


def _remarks(differences, settings, first):
    for difference in differences:
        if difference.rms_with_sign_turned is not None:
            yield (
                f"{difference.name}: with the opposite sign, the rms difference from {first} would "
                f"be {np.degrees(difference.rms_with_sign_turned):.3f} deg, so one of the two is "
                "clockwise; mark a clockwise column with [deg cw from north]"
            )
        if difference.clock_offset:
            yield (
                f"{difference.name}: has no time in common with {first}, so that its start is "
                "moved to that of the first; --align with a large --max-shift corrects the offset"
            )
        if difference.comparison.zero_words:
            yield f"{difference.name}: its {difference.comparison.zero_words}"
        if settings.align and difference.shift.problem:
            yield f"{difference.name}: was not aligned: {difference.shift.problem}"


_MIN_RMS = np.radians(5.0)  # below it, a yaw is not checked for the opposite sign
_MIN_RMS_RATIO = 3.0  # of the rms to that with the opposite sign, for a report


@dataclass(frozen=True)
class YawDifference:
    """Difference of a yaw from the first yaw.

    Parameters
    ----------
    name : str
        Name of the yaw.
    comparison : YawComparison
        Its error is the first yaw minus this yaw, zero at the start.
    shift : TimeShift
        Delay of the yaw; it is subtracted from the stamps only with ``align``.
    clock_offset : float
        Offset that was added to the stamps [s], as the two had no time in common.
    rms_with_sign_turned : float, optional
        Rms of the difference with the opposite sign of this yaw [rad]; None unless it is much
        smaller.
    """

    name: str
    comparison: YawComparison
    shift: TimeShift
    clock_offset: float
    rms_with_sign_turned: float | None = None


def yaw_differences(names, yaws, settings, poses=None) -> list[YawDifference]:
    """Compare yaws with the first yaw.

    A yaw without common time with the first, such as that of a result and of a recording, is moved
    to its start.

    Parameters
    ----------
    names : sequence of str
        Names of the yaws, for messages.
    yaws : sequence of Series
        Yaws [rad], indexed by time [s].
    settings : ComparisonSettings
        Settings; with ``align``, delays are subtracted.
    poses : DataFrame, optional
        Poses of the first yaw, as for :func:`.compare_yaw`.

    Returns
    -------
    list of YawDifference
        Difference of each yaw but the first.

    Raises
    ------
    RecordingError
        There are fewer than two yaws, or a yaw has too few samples within the time of the first.
    """
    if len(yaws) < 2:
        raise RecordingError(f"there is only one yaw, {', '.join(names)}, expected at least two")
    first = yaws[0]
    differences = []
    for name, yaw in zip(names[1:], yaws[1:]):
        is_apart = yaw.index[0] > first.index[-1] or yaw.index[-1] < first.index[0]
        offset = float(first.index[0] - yaw.index[0]) if is_apart else 0.0
        moved = pd.Series(yaw.to_numpy(), index=yaw.index.to_numpy(dtype=float) + offset)
        shift = find_time_shift(moved.index, moved, first.index, first, settings.max_shift)
        comparison = compare_yaw(moved, first, settings, poses)
        if comparison is None or len(comparison.error) < MIN_SAMPLES:
            raise RecordingError(
                f"{name}: has fewer than {MIN_SAMPLES} samples within the time of {names[0]}"
            )
        turned = _rms_with_sign_turned(comparison, moved, first, settings, poses)
        differences.append(YawDifference(name, comparison, shift, offset, turned))
    return differences


def _rms_with_sign_turned(comparison, yaw, first, settings, poses) -> float | None:
    """Return the rms difference with the opposite sign [rad], None unless it is much smaller."""
    rms = comparison.statistics.rms
    if rms < _MIN_RMS:
        return None
    turned = compare_yaw(-yaw, first, settings, poses)
    if turned is None or _MIN_RMS_RATIO * turned.statistics.rms > rms:
        return None
    return float(turned.statistics.rms)


def differences_table(differences) -> pd.DataFrame:
    """Summarise differences in a table.

    Parameters
    ----------
    differences : list of YawDifference
        The differences.

    Returns
    -------
    DataFrame
        A row per yaw, indexed by its name, with the columns

        - duration [s], rms and maximum_absolute [deg],
        - reference: expected rms of the first yaw's error [deg]; imu: error of this yaw, as text,
        - final and final_within: difference at the end, and half the 95 % interval due to the
          reference and the zero [deg],
        - imu_final and imu_final_within: error of this yaw at the end, and half its 95 % interval
          [deg],
        - drift [deg/min], delay [s], and correlation of the yaw rates.
    """
    rows = {}
    for difference in differences:
        comparison = difference.comparison
        statistics, time = comparison.statistics, comparison.error.index
        split = comparison.split
        rows[difference.name] = {
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
            "delay": float("nan") if difference.shift.problem else difference.shift.shift,
            "correlation": difference.shift.correlation,
        }
    return pd.DataFrame.from_dict(rows, orient="index")
