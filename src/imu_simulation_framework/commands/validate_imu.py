"""Compare a simulated IMU with ground truth, and check its errors against limits.

The command line is defined in :mod:`.parsers.validate_imu`.
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
from ..core.whole_files import make_folder, render_figure, write_whole
from ..core.yaml_files import read_description
from ..realistic_imu.files import read_imu_table
from .command_line import write_report

FAILED = 1
"""Exit code if a limit is exceeded."""


def run(options):
    """Compare the recordings specified on the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.

    Returns
    -------
    int
        Exit code: 0, or :data:`FAILED`.
    """
    if options.report and not options.out:
        raise ConfigurationError("--report requires --out DIR, the folder for the web page")
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
    # Imported here so that a call without --out does not load matplotlib.
    from ..report.drawing import to_matplotlib

    out = make_folder(options.out)
    write_whole(out / "validation.csv", errors.to_csv(index=False).encode())
    write_whole(out / "allan_deviation.csv", allan_table(validation).to_csv(index=False).encode())
    write_whole(out / "validation.json", format_json(summary).encode())
    write_whole(out / "validation.png", render_figure(to_matplotlib(validation_figure(validation))))
    print(f"{out}: validation.csv, allan_deviation.csv, validation.json, .png")
    if options.report:
        write_report(out / "validation.html", validation_page(validation, errors, summary))
