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
