"""Convert IMU parameters between the formats of simulators and estimators.

The command line is defined in :mod:`.parsers.convert_imu_parameters`.
"""

import os
import sys
from pathlib import Path

from ..core.errors import ConfigurationError
from ..core.whole_files import refuse_overwriting
from ..sensors.files import find_imu_specification, imu_names
from ..sensors.formats.base import WriteOptions
from ..sensors.formats.estimators import ZeroNoiseError
from ..sensors.formats.registry import read_imu_parameters, write_imu_parameters
from .command_line import write_file


def run(options):
    """Convert the parameters specified on the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.
    """
    source, file = options.source, options.input
    if source is None and not os.path.exists(file) and file in imu_names():
        source, file = "specification", str(find_imu_specification(file))
    if source is None:
        raise ConfigurationError(
            f"{file}: not the name of a bundled IMU; state the format of a file with --from"
        )
    if options.out is not None:
        refuse_overwriting(options.out, [file])
    reading = read_imu_parameters(file, source, options.rate)
    write_options = WriteOptions(
        options.correlation_time,
        options.yaw_drift and tuple(options.yaw_drift),
        options.walk_from_instability,
        options.inflate,
        options.subsampled,
    )
    title = f"Converted from {Path(file).name} ({source})."
    comments = [title, *(f"- {remark}" for remark in reading.remarks)]
    try:
        writing = write_imu_parameters(
            reading.specification, options.target, options.rate, write_options, comments
        )
    except ZeroNoiseError as error:
        raise ConfigurationError(f"{options.input}: {error}{_limits_remedy(file)}") from None
    except ConfigurationError as error:
        raise ConfigurationError(f"{options.input}: {error}") from None
    if options.out is None:
        sys.stdout.buffer.write(writing.text.encode("utf-8"))
        sys.stdout.buffer.flush()
    else:
        write_file(options.out, writing.text.encode("utf-8"))
    for name, remarks in ((options.input, reading.remarks), (options.target, writing.remarks)):
        for remark in remarks:
            print(f"{name}: {remark}", file=sys.stderr)


def _limits_remedy(file) -> str:
    """Name the file of an Allan analysis with upper limits instead of zeros, if there is one."""
    # Imported here, since only this error needs the package.
    from ..characterisation.allan.files import KALIBR

    limits = Path(file).with_name(KALIBR)
    if not limits.is_file():
        return ""
    return (
        f"; use {limits}, in which a random walk that is not identifiable from the recording has "
        "its upper limit"
    )
