"""Compare a simulated IMU with ground truth, and check limits of its errors.

SIMULATED and TRUTH are bags of ROS 1 or 2, tables (CSV, rostopic echo -p), or results of
experiments. FILE@/topic selects a topic of a bag; RESULT@imu_simulated, @imu_real or @ground_truth
a table of a result. The truth is an ideal IMU with all axes, or poses with the yaw. Angular
velocity, specific force and orientation are compared axis by axis: mean, standard deviation,
largest error and Allan deviation of the error, which is truth minus IMU.

Exit code 0: all limits are kept; 1: a limit is exceeded; 2: the comparison is impossible.

    validate_imu.py realistic.bag@/imu/data realistic.bag@/imu --limits config/imu_limits.yaml
    validate_imu.py RESULT@imu_simulated RESULT@ground_truth --out validation
"""

from __future__ import annotations

from ..characterisation.validation.errors import validate_imu
from ..characterisation.validation.limits import judge_limits, read_limits
from ..characterisation.validation.report import (
    allan_table,
    errors_table,
    text_lines,
    validation_figure,
    validation_page,
    validation_summary,
)
from ..core.errors import ConfigurationError, RecordingError, prefix_errors
from ..core.files import format_json
from ..core.programs import ArgumentParser
from ..core.whole_files import make_folder, render_figure, write_whole
from ..core.yaml_files import read_description
from ..realistic_imu.files import read_imu_table
from .command_line import above_zero, add_report, write_report

FAILED = 1
"""Exit code if a limit is exceeded."""


def main(arguments):
    """Compare the recordings of a command line.

    Parameters
    ----------
    arguments : list of str
        Command line.

    Returns
    -------
    int
        Exit code: 0, or :data:`FAILED`.
    """
    options = _parser().parse_args(arguments)
    if options.report and not options.out:
        raise ConfigurationError("--report needs --out DIR, for the web page")
    limits = []
    if options.limits:
        limits = read_description(options.limits, "the file of limits", read_limits)
    imu, truth = (
        read_imu_table(text, truth) for text, truth in ((options.imu, False), (options.truth, True))
    )
    with prefix_errors(f"{options.imu} and {options.truth}: ", RecordingError):
        validation = validate_imu(imu.table, truth.table, options.align, options.max_shift)
        judged = judge_limits(validation, limits)
    remarks = [*imu.remarks, *truth.remarks, *validation.remarks]
    errors = errors_table(validation)
    print(*text_lines(validation, errors, judged), *remarks, sep="\n")
    summary = {
        "simulated": options.imu,
        "truth": options.truth,
        **validation_summary(validation, errors, judged, remarks),
    }
    if options.out:
        _write(options, validation, errors, summary)
    return 0 if summary["passed"] else FAILED


def _write(options, validation, errors, summary) -> None:
    # A call without --out does not load matplotlib.
    from ..report.drawing import to_matplotlib

    out = make_folder(options.out)
    write_whole(out / "validation.csv", errors.to_csv(index=False).encode())
    write_whole(out / "allan_deviation.csv", allan_table(validation).to_csv(index=False).encode())
    write_whole(out / "validation.json", format_json(summary).encode())
    write_whole(out / "validation.png", render_figure(to_matplotlib(validation_figure(validation))))
    print(f"{out}: validation.csv, allan_deviation.csv, validation.json, .png")
    if options.report:
        write_report(out / "validation.html", validation_page(validation, errors, summary))


def _parser():
    parser = ArgumentParser(__doc__)
    add = parser.add_argument
    add("imu", metavar="SIMULATED", help="FILE, FILE@TOPIC or RESULT@TABLE")
    add("truth", metavar="TRUTH", help="FILE, FILE@TOPIC or RESULT@TABLE")
    add("--limits", metavar="FILE", help="YAML file like config/imu_limits.yaml")
    add("--align", action="store_true", help="shift the stamps to the best fit of yaw rates")
    add(
        "--max-shift",
        type=above_zero,
        default=1.0,
        metavar="S",
        help="largest shift [s] (default: 1)",
    )
    add("-o", "--out", metavar="DIR", help="folder for CSV, JSON, figure and web page")
    add_report(parser)
    return parser
