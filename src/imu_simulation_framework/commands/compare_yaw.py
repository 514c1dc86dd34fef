"""Compare yaw signals from recordings and results: differences and delays.

The command line is defined in :mod:`.parsers.compare_yaw`.
"""

from __future__ import annotations

import math
from dataclasses import replace

from .. import __version__
from ..core.sentences import number_duplicates
from ..core.whole_files import make_folder, refuse_overwriting
from ..drive.figures import yaws as yaws_figure
from ..drive.yaw_differences import (
    describe_jumps,
    differences_table,
    known_columns,
    yaw_differences,
)
from ..drive.yaw_signals import dependence_remarks, read_yaw_signals
from ..heading.yaw_comparison import ComparisonSettings
from ..report import table as table_text
from ..report.drawing import to_matplotlib
from ..report.page import Page, Section
from ..report.table import to_page_table
from .command_line import write_pictures, write_report
from .parsers.compare_yaw import NAME


def run(options):
    """Compare the yaw signals specified on the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.
    """
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
    remarks = [
        *describe_jumps(names, yaws),
        *_remarks(differences, settings, names[0]),
        *dependence_remarks([replace(s, name=name) for s, name in zip(signals, names)]),
    ]
    if _lacks_reference_error(table, signals[0]):
        remarks.append(
            f"{names[0]}: the error of this yaw is unknown, so the differences contain it; for "
            "odometry, set [reference] turn_slip in a config.ini"
        )
    print(*recording_remarks, f"first yaw: {names[0]}", sep="\n")
    print(table_text.format_table(table, columns), end="")
    if remarks:
        print(*remarks, sep="\n")
    figure = yaws_figure(names, yaws, differences)
    write_pictures(out, NAME, to_matplotlib(figure), options.formats)
    if options.report:
        page = Page(
            title="Comparison of yaws",
            summary=[f"All yaws are compared with {names[0]}.", *remarks],
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
    file_names = [f"{NAME}.{format}" for format in options.formats]
    file_names += [f"{NAME}.html"] if options.report else []
    file_names += [f"{NAME}.{table_text.ENDINGS[format]}" for format in options.table]
    for path in file_names:
        refuse_overwriting(out / path, [source for signal in signals for source in signal.sources])
    return out


def _lacks_reference_error(table, first) -> bool:
    """Return whether the reference signal is from a recording without a known yaw error."""
    is_recording = first.poses is not None and not first.group
    return is_recording and bool(table["reference"].isna().all())


def _distinct(signals):
    """Return signal names without the name of the result if they share it; number duplicates."""
    names = [signal.name for signal in signals]
    if len({signal.group for signal in signals}) == 1 and signals[0].group:
        names = [signal.name[len(signal.group) :].strip() for signal in signals]
    return number_duplicates(names)


def _remarks(differences, settings, first):
    for difference in differences:
        if difference.rms_with_opposite_sign is not None:
            yield (
                f"{difference.name}: with the opposite sign, the rms difference from {first} would "
                f"be {math.degrees(difference.rms_with_opposite_sign):.3f} deg, so one of the two "
                "yaws is clockwise; state the unit of a clockwise column as [deg cw from north]"
            )
        if difference.clock_offset:
            yield (
                f"{difference.name}: does not overlap in time with {first}, so its start is moved "
                f"to the start of {first}; estimate the time offset with --align and a large "
                "--max-shift"
            )
        if difference.comparison.zero_words:
            yield f"{difference.name}: {difference.comparison.zero_words}"
        if settings.align and difference.shift.problem:
            yield f"{difference.name}: not aligned: {difference.shift.problem}"
