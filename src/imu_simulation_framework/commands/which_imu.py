"""Rank IMUs by whether they keep the yaw error of a heading within a limit.

    which_imu.py a --within 5deg --for 10min
    which_imu.py --straight 1h --within 2deg --probability 99% --stops "every 5min for 5s"
    which_imu.py drive.bag --within 3deg --imu bmi088 --imu mine.yaml

An IMU passes if the yaw error stays within the limit all the time in the required share of drives,
with any unit of the part (--unit), and with its bias measured at standstill before the drive
(--standstill). The table begins with the best IMU and has percentiles of the final error, 50 % and
the required share, and the largest source. heading_budget.py shows all sources of an IMU, and its
option --require the lines of a data sheet that matter.
"""

import math
from dataclasses import replace

import numpy as np

from ..core.errors import ConfigurationError
from ..core.programs import ArgumentParser
from ..heading.selection import which_imu
from ..report import table as table_text
from ..report.table import Column
from ..sensors.errors_in_motion import remark_on_missing_noise
from ..sensors.files import imu_names
from ..sensors.formats.registry import NamedImu
from ..sensors.imu_specification import ImuSpecification
from . import imu_options, motion_options, option_types
from .command_line import add_table


def main(arguments):
    """Rank the IMUs of a command line.

    Parameters
    ----------
    arguments : list of str
        Command line.
    """
    options = _parser().parse_args(arguments)
    operation = imu_options.operation_from_options(options)
    chosen = motion_options.choose_motion(options, linear=True, default="a")
    longest = operation.moved(chosen.motion).duration
    at = math.floor(longest + 1e-6) if options.time is None else options.time
    named = map(imu_options.choose_imu, options.imu or imu_options.bundled_parts())
    imus = {
        imu.name: _comparable_specification(imu_options.choose_unit(imu, options)) for imu in named
    }
    table = which_imu(
        imus, chosen.motion, options.within, at, operation, options.probability, chosen.sample
    )
    share = f"{100.0 * options.probability:g} %"
    passing = int(table["passes"].sum())
    any_unit = any(imu.is_any_unit for imu in imus.values())
    print(
        f"{chosen.name}, {operation.sentence()}{', any unit' if any_unit else ''}: {passing} of "
        f"{len(table)} IMUs keep the yaw error within "
        f"{math.degrees(options.within):g} deg for {at:g} s in {share} of drives"
    )
    for remark in chosen.remarks:
        print(f"note: {remark}")
    left_out = [] if options.imu else sorted(set(imu_names()) - set(imus))
    if left_out:
        print(
            f"note: left out, as their files state no tolerances from unit to unit: "
            f"{', '.join(left_out)}; add them with --imu"
        )
    shown = table.reset_index()
    shown["margin"] = options.within / shown["nearly_all"].clip(lower=1e-12)
    shown["passes"] = np.where(shown["passes"], "yes", "no")
    shown["stays"] = [table_text.format_percent(share) for share in shown["stays"]]
    shown[["half", "nearly_all"]] = np.degrees(shown[["half", "nearly_all"]])
    columns = (
        Column("imu", "IMU"),
        Column("passes", "passes"),
        Column("stays", "stays within"),
        Column("half", "50 %", "deg", 2),
        Column("nearly_all", share, "deg", 2),
        Column("margin", "limit over that", "", 2),
        Column("cause", "most comes from"),
        Column("differs", "which differs"),
    )
    print(table_text.format_table(shown, columns, options.table), end="")


def _comparable_specification(imu: NamedImu) -> ImuSpecification:
    if not isinstance(imu.errors, ImuSpecification):
        raise ConfigurationError(
            f"--imu: {imu.name} is not a specification, expected the name of a bundled "
            "specification, a file, or FORMAT:FILE"
        )
    errors = imu.errors
    missing_noise = remark_on_missing_noise(errors)
    if missing_noise is not None:
        raise ConfigurationError(missing_noise)
    if errors.output.fuses_magnetometer:
        # The gyroscopes are compared, without the magnetic field of a place.
        output = replace(
            errors.output, magnetic_heading=False, magnetic_disturbance_rejection=False
        )
        errors = replace(errors, output=output)
    return errors


def _parser():
    parser = ArgumentParser(__doc__)
    motion_options.add_motion_options(parser)
    imu_options.add_limit_option(parser, "limit of the yaw error")
    add = parser.add_argument
    # fmt: off
    add("--for", dest="time", type=option_types.positive_duration, metavar="TIME",
        help="duration of the limit, by default until the end of the motion")
    add("--probability", type=option_types.probability, default=0.95, metavar="P",
        help="share of drives that keep the limit, by default 0.95")
    add("--imu", action="append", default=[], metavar="IMU",
        help="IMU to rank; repeatable; by default the IMUs of the catalogue")
    imu_options.add_operation_options(parser)
    add_table(parser)
    # fmt: on
    return parser
