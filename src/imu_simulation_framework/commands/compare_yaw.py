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

import math

from .. import __version__
from ..core.programs import ArgumentParser
from ..core.sentences import number_duplicates
from ..core.settings import describe_setting
from ..core.whole_files import make_folder, refuse_overwriting
from ..drive.figures import yaws as yaws_figure
from ..drive.yaw_differences import (
    describe_jumps,
    differences_table,
    known_columns,
    yaw_differences,
)
from ..drive.yaw_signals import read_yaw_signals
from ..heading.error_split import ZEROS
from ..heading.yaw_comparison import ComparisonSettings
from ..report import table as table_text
from ..report.drawing import to_matplotlib
from ..report.page import Page, Section
from ..report.table import to_page_table
from .command_line import add_results, write_pictures, write_report

NAME = "compare_yaw"


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
    out = _results_folder(options, signals)
    recording_remarks = [remark for signal in signals for remark in signal.remarks]
    table = differences_table(differences)
    columns = known_columns(table)
    remarks = [*describe_jumps(names, yaws), *_remarks(differences, settings, names[0])]
    if _lacks_reference_error(table, signals[0]):
        remarks.append(
            f"{names[0]}: its error is unknown, so that it is not separated from the errors of the "
            "others; for odometry, set [reference] turn_slip in a config.ini"
        )
    print(*recording_remarks, f"first: {names[0]}", sep="\n")
    print(table_text.format_table(table, columns), end="")
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
                    text=recording_remarks,
                    figure=figure,
                    how_to_read="Top: the yaws. Bottom: the first yaw minus each other yaw.",
                ),
            ],
            footer=f"{', '.join(options.signals)}, imu_simulation_framework {__version__}",
        )
        write_report(out / f"{NAME}.html", page)
    for path in table_text.write_tables(out, NAME, table, columns, options.table):
        print(path)


def _results_folder(options, signals):
    out = make_folder(options.out)
    written = [f"{NAME}.{format}" for format in options.formats]
    written += [f"{NAME}.html"] if options.report else []
    written += [f"{NAME}.{table_text.ENDINGS[format]}" for format in options.table]
    for path in written:
        refuse_overwriting(out / path, [source for signal in signals for source in signal.sources])
    return out


def _lacks_reference_error(table, first) -> bool:
    """Return whether the first yaw is of a recording, and its error unknown."""
    is_recording = first.poses is not None and not first.group
    return is_recording and bool(table["reference"].isna().all())


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
        help=describe_setting(ComparisonSettings, "max_shift"),
    )  # fmt: skip
    parser.add_argument(
        "--median-window", type=float, default=default.median_window, metavar="S",
        help=describe_setting(ComparisonSettings, "median_window"),
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


def _remarks(differences, settings, first):
    for difference in differences:
        if difference.rms_with_sign_turned is not None:
            yield (
                f"{difference.name}: with the opposite sign, the rms difference from {first} would "
                f"be {math.degrees(difference.rms_with_sign_turned):.3f} deg, so one of the two is "
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
