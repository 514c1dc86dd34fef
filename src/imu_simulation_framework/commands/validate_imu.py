"""Compare a simulated IMU with the truth, and judge it by limits.

SIMULATED and TRUTH are each a bag of ROS 1 or 2, a table (CSV, rostopic echo -p), or an
experiment's result. What is meant within: FILE@/topic of a bag, RESULT@imu_simulated, @imu_real or
@ground_truth of a result. The truth may be an ideal IMU, which has all axes, or poses, which have
the yaw. Angular velocity, specific force and orientation are compared axis by axis: mean, standard
deviation, largest error and Allan deviation of the error, which is truth minus IMU.

Exit code 0: compared, and within the limits, if any; 1: a limit is exceeded; 2: cannot be judged.

    validate_imu.py realistic.bag@/imu/data realistic.bag@/imu --limits config/imu_limits.yaml
    validate_imu.py RESULT@imu_simulated RESULT@ground_truth --out validation
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import pandas as pd

from imu_simulation_framework.commands.command_line import ArgumentParser
from imu_simulation_framework.commands.imu_validation import (
    STATISTICS,
    UNITS,
    ImuValidation,
    JudgedLimit,
    judge_limits,
    read_limits,
    validate_imu,
)
from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.core.files import json_text
from imu_simulation_framework.core.whole_files import make_folder, picture, write_whole
from imu_simulation_framework.core.yaml_files import read_described
from imu_simulation_framework.realistic_imu.files import read_imu_table

FAILED = 1
"""Exit code when a limit is exceeded."""


def main(arguments):
    """Compare what the command line names; return the exit code."""
    options = _parser().parse_args(arguments)
    limits = []
    if options.limits:
        limits = read_described(options.limits, "the file of limits", read_limits)
    imu, truth = (
        read_imu_table(text, truth) for text, truth in ((options.imu, False), (options.truth, True))
    )
    try:
        validation = validate_imu(imu.table, truth.table, options.align, options.max_shift)
        judged = judge_limits(validation, limits)
    except RecordingError as error:
        raise RecordingError(f"{options.imu} and {options.truth}: {error}") from None
    remarks = [*imu.remarks, *truth.remarks, *validation.remarks]
    print(_text(validation, judged))
    for remark in remarks:
        print(remark)
    if options.out:
        _write(options, validation, judged, remarks)
    return 0 if all(one.passed for one in judged) else FAILED


def _rows(validation: ImuValidation):
    """Rows of the table: names, unit, and the statistics."""
    for one in validation.axes:
        values = [getattr(one.statistics, name) for name in STATISTICS]
        yield [one.quantity, one.axis, UNITS[one.quantity], *values]


def _text(validation, judged) -> str:
    heads = ("error of", "axis", "unit", "mean", "std", "rms", "maximum")
    lines = ["{:<12}{:<7}{:<7}{:>12}{:>12}{:>12}{:>12}".format(*heads)]
    for row in _rows(validation):
        lines.append("{:<12}{:<7}{:<7}{:>12.4g}{:>12.4g}{:>12.4g}{:>12.4g}".format(*row))
    lines.append(f"{len(validation.time)} samples, {validation.time[-1] - validation.time[0]:g} s")
    for one in judged:
        word = "passed" if one.passed else "FAILED"
        unit = UNITS[one.limit.quantity]
        lines.append(
            f"{word}: {one.limit.name} {one.value:.4g} {unit}, limit {one.limit.maximum:g}"
        )
    return "\n".join(lines)


def _write(options, validation, judged: list[JudgedLimit], remarks) -> None:
    """Write table, Allan deviations, summary and figure."""
    # Nobody else waits for matplotlib.
    from imu_simulation_framework.commands.imu_validation import validation_figure
    from imu_simulation_framework.report.drawing import drawing

    out = make_folder(options.out)
    table = pd.DataFrame(_rows(validation), columns=["quantity", "axis", "unit", *STATISTICS])
    write_whole(out / "validation.csv", table.to_csv(index=False).encode())
    allan = pd.DataFrame(
        [
            (one.quantity, one.axis, tau, value)
            for one in validation.axes
            for tau, value in zip(one.tau, one.allan_deviation)
        ],
        columns=["quantity", "axis", "tau", "allan_deviation"],
    )
    write_whole(out / "allan_deviation.csv", allan.to_csv(index=False).encode())
    summary = {
        "simulated": options.imu,
        "truth": options.truth,
        "samples": len(validation.time),
        "time_shift": validation.shift,
        "errors": table.to_dict("records"),
        "limits": [
            {"limit": one.limit.name, "maximum": one.limit.maximum, "value": one.value,
             "passed": one.passed}
            for one in judged
        ],
        "passed": all(one.passed for one in judged),
        "remarks": remarks,
    }  # fmt: skip
    write_whole(out / "validation.json", json_text(summary).encode())
    write_whole(out / "validation.png", picture(drawing(validation_figure(validation))))
    print(f"{Path(options.out)}: validation.csv, allan_deviation.csv, validation.json, .png")


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is no time above zero [s]")
    return value


def _parser():
    parser = ArgumentParser(__doc__)
    parser.add_argument("imu", metavar="SIMULATED", help="FILE, FILE@TOPIC or RESULT@TABLE")
    parser.add_argument("truth", metavar="TRUTH", help="the same")
    parser.add_argument("--limits", metavar="FILE", help="YAML, as config/imu_limits.yaml")
    parser.add_argument(
        "--align", action="store_true", help="move the stamps until the yaw rates fit best"
    )
    parser.add_argument(
        "--max-shift", type=_seconds, default=1.0, metavar="S", help="at most (default: 1)"
    )
    parser.add_argument("--out", metavar="DIR", help="for CSV, JSON and the figure")
    return parser
