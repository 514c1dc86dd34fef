"""Plot the yaw errors and spectra of several experiments, and print a table of statistics.

The command line is defined in :mod:`.parsers.plot_multiple_errors`.
"""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..core.errors import ResultError
from ..core.whole_files import make_folder
from ..drive.figures import MAX_PANELS, ShownError, yaw_error_spectra, yaw_errors
from ..drive.results.files import ExperimentTables, find_results
from ..drive.summary import RunDescription, evaluate, previous_summary
from ..heading.experiment_comparison import Comparison
from ..heading.yaw_comparison import ComparisonSettings, YawComparison
from ..report import table as table_text
from ..report.drawing import to_matplotlib
from ..report.table import Column
from .command_line import write_pictures
from .parsers.plot_multiple_errors import NAME

RECORDED = "recorded IMU"
MAX_DURATION_DIFFERENCE = 1.0  # s, largest difference between the durations of runs of a drive
DISTANCE, TURN = 10.0, 0.5 * np.pi  # m and rad, intervals of the relative errors in the table
COLUMNS = (
    Column("drive", "drive"),
    Column("imu", "IMU"),
    Column("run", "run"),
    Column("seed", "seed"),
    Column("duration", "duration", "s", 1),
    Column("rms", "rms", "deg", 3),
    Column("maximum_absolute", "max", "deg", 3),
    Column("final", "final", "deg", 3),
    Column("drift", "drift", "deg/min", 3),
    Column("over_distance", f"over {DISTANCE:g} m", "deg", 3),
    Column("over_turn", f"over {np.degrees(TURN):g} deg", "deg", 3),
)


class _Row(NamedTuple):
    drive: str
    imu: str
    run: str
    seed: str
    comparison: YawComparison

    @property
    def recorded(self) -> bool:
        return self.imu == RECORDED


def run(options):
    """Plot the results specified on the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.
    """
    settings = ComparisonSettings(median_window=options.median_window, align=options.align)
    results = (folder for path in options.results for folder in find_results(path))
    folders = list({folder.path("").resolve(): folder for folder in results}.values())
    rows, remarks = _rows(folders, settings, options.until)
    kinds = {"recorded": [True], "simulated": [False]}.get(options.imu, [True, False])
    rows = [row for row in rows if row.recorded in kinds]
    if not rows:
        raise ResultError(
            f"{options.results[0]}: there is no {options.imu} IMU to plot in "
            f"{'this result' if len(folders) == 1 else f'these {len(folders)} results'}"
        )
    drives = {row.drive for row in rows}
    if MAX_PANELS < len(drives) < len(rows):
        raise ResultError(
            f"{len(drives)} drives are specified, expected at most one for each of {MAX_PANELS} "
            "panels; choose fewer results, or one kind of IMU with --imu"
        )
    errors = []
    for row in rows:
        name = row.imu if row.recorded and not row.run else f"{row.imu}, run {row.run}"
        name = f"{row.drive}, {name}" if len(drives) == len(rows) else name
        errors.append(ShownError(row.drive, name, row.recorded, row.comparison))
    table = pd.DataFrame([_statistics(row) for row in rows])
    out = make_folder(options.out)
    print(table_text.format_table(table, COLUMNS), end="")
    for remark in remarks:
        print(remark)
    over_time = to_matplotlib(yaw_errors(errors, settings.median_window))
    write_pictures(out, NAME, over_time, options.formats)
    write_pictures(out, f"{NAME}_psd", to_matplotlib(yaw_error_spectra(errors)), options.formats)
    print(*table_text.write_tables(out, NAME, table, COLUMNS, options.table), sep="\n")


def _rows(folders, settings, until) -> tuple[list[_Row], list[str]]:
    """Return the IMUs of all results, each recorded IMU once, and remarks on missing IMUs."""
    rows: list[_Row] = []
    remarks: list[str] = []
    lengths: dict = {}
    for folder in folders:
        run = previous_summary(folder).get("run", {})
        comparison = _evaluate(folder, settings, until, run)
        drive = str(run.get("drive") or _parent_name(folder, 2))
        imu = run.get("imu")
        label = (imu.get("label") if isinstance(imu, dict) else imu) or _parent_name(folder, 1)
        number = folder.folder.name if folder.folder.name.isdecimal() else folder.prefix
        for kind in ("real", "simulated"):
            result = getattr(comparison, kind)
            if result is not None and len(result.error) < 2:
                raise ResultError(
                    f"{folder.prefix_path}: the {kind} IMU has only one sample and is not plotted"
                )
        if comparison.simulated is not None:
            _require_same_length(lengths, drive, folder, comparison.simulated)
            seed = "" if run.get("seed") is None else str(run["seed"])
            rows.append(_Row(drive, str(label), number, seed, comparison.simulated))
        if comparison.real is None:
            remarks.append(f"{folder.prefix_path}: has no recorded IMU to plot")
            continue
        others = [row for row in rows if row.recorded and row.drive == drive]
        if not any(row.comparison.error.equals(comparison.real.error) for row in others):
            rows.append(_Row(drive, RECORDED, number if others else "", "", comparison.real))
    # The recorded IMU of each drive comes first, then the runs in command-line order.
    drives = list(dict.fromkeys(row.drive for row in rows))
    return sorted(rows, key=lambda row: (drives.index(row.drive), not row.recorded)), remarks


def _evaluate(folder, settings, until, run) -> Comparison:
    tables = ExperimentTables.load(folder)
    if until is not None:
        names = ("imu_simulated", "ground_truth", "control_error", "imu_real")
        parts = {name: getattr(tables, name) for name in names}
        parts = {name: table.loc[:until] for name, table in parts.items() if table is not None}
        tables = dataclasses.replace(tables, **parts)
    return evaluate(tables, settings, RunDescription(run))[1]


def _parent_name(folder, levels):
    """Return the name of a run's parent folder, which is named after the drive or the IMU."""
    parts = folder.folder.resolve().parts
    return parts[-1 - levels] if len(parts) > levels + 1 else folder.folder.name


def _require_same_length(lengths, drive, folder, simulated):
    length = float(simulated.error.index[-1])
    other, first = lengths.setdefault(drive, (length, folder))
    if abs(length - other) > MAX_DURATION_DIFFERENCE:
        raise ResultError(
            f"{folder.prefix_path}: the duration is {length:.1f} s, expected {other:.1f} s as in "
            f"{first.prefix_path}; compare only the common time with "
            f"--until {min(length, other):.0f}"
        )


def _statistics(row):
    statistics = row.comparison.statistics
    time = row.comparison.error.index
    names = ("rms", "maximum_absolute", "final", "drift")
    angles = {name: getattr(statistics, name) for name in names}
    angles["over_distance"] = _over(row.comparison.over_distance, DISTANCE)
    angles["over_turn"] = _over(row.comparison.over_turn, TURN)
    degrees = {name: np.degrees(angle) for name, angle in angles.items()}
    degrees["drift"] *= 60.0
    labels = {name: getattr(row, name) for name in ("drive", "imu", "run", "seed")}
    return {**labels, "duration": time[-1] - time[0], **degrees}


def _over(entries, length):
    return next((entry.rms for entry in entries if np.isclose(entry.length, length)), math.nan)
