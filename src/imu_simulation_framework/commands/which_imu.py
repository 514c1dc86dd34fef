"""Rank IMUs by whether their yaw error stays within a limit.

The command line is defined in :mod:`.parsers.which_imu`.
"""

import math
from dataclasses import replace

import numpy as np

from ..core.errors import ConfigurationError
from ..heading.selection import which_imu
from ..report import table as table_text
from ..report.table import Column
from ..sensors.errors_in_motion import remark_on_missing_noise
from ..sensors.files import imu_names
from ..sensors.formats.registry import NamedImu
from ..sensors.imu_specification import ImuSpecification
from . import command_line, imu_options, motion_options
from .parsers.which_imu import NAME


def run(options):
    """Rank the IMUs for the motion specified on the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.
    """
    operation = imu_options.operation_from_options(options)
    chosen_motion = motion_options.choose_motion(options, linear=True, default="a")
    longest = operation.insert_stops(chosen_motion.motion).duration
    at = math.floor(longest + 1e-6) if options.time is None else options.time
    named = [imu_options.choose_imu(imu) for imu in options.imu or imu_options.bundled_parts()]
    format = "csv" if options.table == "terminal" else options.table
    if options.out is not None:
        inputs = [*chosen_motion.files, *(file for imu in named for file in imu.files)]
        file_name = f"{NAME}.{table_text.ENDINGS[format]}"
        command_line.results_folder(options.out, [file_name], inputs)
    imus = {
        imu.name: _comparable_specification(imu_options.choose_unit(imu, options)) for imu in named
    }
    table = which_imu(
        imus,
        chosen_motion.motion,
        options.within,
        at,
        operation,
        options.probability,
        chosen_motion.sample,
    )
    share = f"{100.0 * options.probability:g} %"
    passing = int(table["passes"].sum())
    is_any_unit = any(imu.is_any_unit for imu in imus.values())
    sensor = ", any individual sensor" if is_any_unit else ""
    print(
        f"{chosen_motion.name}, {operation.sentence()}{sensor}: the yaw error of {passing} of "
        f"{len(table)} IMUs stays within "
        f"{math.degrees(options.within):g} deg for {at:g} s in {share} of drives"
    )
    for remark in chosen_motion.remarks:
        print(f"note: {remark}")
    left_out = [] if options.imu else sorted(set(imu_names()) - set(imus))
    if left_out:
        print(
            f"note: excluded, since their files state no tolerances between individual sensors: "
            f"{', '.join(left_out)}; include them with --imu"
        )
    shown = table.reset_index()
    shown["margin"] = options.within / shown["required_percentile"].clip(lower=1e-12)
    shown["passes"] = np.where(shown["passes"], "yes", "no")
    shown["probability_within"] = [
        table_text.format_percent(share) for share in shown["probability_within"]
    ]
    percentiles = ["percentile_50", "required_percentile"]
    shown[percentiles] = np.degrees(shown[percentiles])
    required = _ordinal_percentile(100.0 * options.probability)
    columns = (
        Column("imu", "IMU"),
        Column("passes", "passes"),
        Column("probability_within", "probability within limit"),
        Column("percentile_50", "50th percentile", "deg", 2),
        Column("required_percentile", required, "deg", 2),
        Column("margin", f"limit / {required}", "", 2),
        Column("largest_source", "largest source"),
        Column("differs", "source differs"),
    )
    print(table_text.format_table(shown, columns, options.table), end="")
    if options.out is not None:
        print(*table_text.write_tables(options.out, NAME, shown, columns, [format]))


def _ordinal_percentile(percentage: float) -> str:
    """Return the name of a percentile, such as 91st percentile."""
    text = f"{percentage:g}"
    suffix = {"1": "st", "2": "nd", "3": "rd"}.get(text[-1], "th")
    if "." in text or text in ("11", "12", "13"):
        suffix = "th"
    return f"{text}{suffix} percentile"


def _comparable_specification(imu: NamedImu) -> ImuSpecification:
    if not isinstance(imu.errors, ImuSpecification):
        raise ConfigurationError(
            f"--imu is {imu.name}, expected a specification: the name of a bundled specification, "
            "a file, or FORMAT:FILE"
        )
    errors = imu.errors
    missing_noise = remark_on_missing_noise(errors)
    if missing_noise is not None:
        raise ConfigurationError(missing_noise)
    if errors.output.fuses_magnetometer:
        # Only the gyroscopes are compared, since the magnetic field depends on the location.
        output = replace(
            errors.output, magnetic_heading=False, magnetic_disturbance_rejection=False
        )
        errors = replace(errors, output=output)
    return errors
