"""Simulate a recording of an IMU at rest from its specification, for tests of other tools.

Writes a ROS bag (FILE.bag), or a table with the columns of an ImuRecord (FILE.csv, FILE.csv.gz);
with --format rostopic_csv, a table like the output of `rostopic echo -p`. The same seed, rate and
format give the same file. SPEC is a file, or the name of a specification in config/imus.

    simulate_static.py bno055 --hours 6 --rate 100 --out static.bag
"""

import shutil
from pathlib import Path

from ..core.errors import ConfigurationError, ResultError
from ..core.programs import ArgumentParser
from ..core.progress import progress_bar
from ..core.whole_files import refuse_overwriting
from ..recordings.imu_writer import FORMATS, format_of, write_imu_recording
from ..sensors.files import find_imu_specification, load_imu_specification
from ..sensors.simulation import record_at_rest
from .command_line import add_seed

MAX_HOURS = 8784.0  # h, a leap year
MAX_RATE = 100_000.0  # Hz, far above the rate of any IMU

# Measured size of a sample in each format, without compression.
BYTES_PER_SAMPLE = {"bag": 380, "rostopic_csv": 530, "csv": 210}


def main(arguments):
    """Simulate the recording of a command line.

    Parameters
    ----------
    arguments : list of str
        Command line.
    """
    options = _parser().parse_args(arguments)
    source = find_imu_specification(options.specification)
    refuse_overwriting(options.out, [source])
    specification = load_imu_specification(source)
    rate = specification.output.rate if options.rate is None else options.rate
    samples = _samples(options.hours, rate)
    _require_space(options.out, format_of(options.out, options.format), samples)
    blocks = record_at_rest(specification, samples, rate, options.seed)
    covariances = specification.covariances(1.0 / rate, samples / rate)
    with progress_bar(desc="simulating", total=samples, unit=" samples") as progress:
        write_imu_recording(
            options.out, _count_samples(blocks, progress), covariances, options.format
        )
    size = Path(options.out).stat().st_size / 1e6
    print(f"{options.out} ({samples} samples, {samples / rate:g} s, {size:.1f} MB)")


def _samples(hours, rate) -> int:
    for name, value, largest in (("hours", hours, MAX_HOURS), ("rate", rate, MAX_RATE)):
        if not 0.0 < value <= largest:
            raise ConfigurationError(
                f"--{name} is {value:g}, expected a number above 0 and at most {largest:g}"
            )
    samples = round(hours * 3600.0 * rate)
    if samples < 1:
        raise ConfigurationError(
            f"{hours:g} h at {rate:g} Hz is less than one sample; increase --hours"
        )
    return samples


def _require_space(path, kind, samples) -> None:
    """Check the free disk space before the simulation."""
    folder = Path(path).parent
    if not folder.is_dir():
        return  # Opening the file reports the error.
    size, free = samples * BYTES_PER_SAMPLE[kind], shutil.disk_usage(folder).free
    if size > free:
        raise ResultError(
            f"{path}: {samples} samples take about {size / 1e9:.3g} GB, but only {free / 1e9:.3g} "
            "GB are free; reduce --hours or --rate, or choose another folder"
        )


def _count_samples(blocks, progress):
    for block in blocks:
        yield block
        progress.update(len(block.time))


def _parser():
    parser = ArgumentParser(__doc__)
    add = parser.add_argument
    add("specification", metavar="SPEC", help="YAML file, or name of a bundled IMU")
    add("--hours", type=float, required=True, metavar="H", help="duration [h]")
    add("--rate", type=float, metavar="HZ",
        help="sample rate (default: that of the specification)")  # fmt: skip
    add("-o", "--out", required=True, metavar="FILE", help=".bag, .csv or .csv.gz")
    add_seed(parser)
    add("--format", default="", choices=FORMATS, help="default: by the suffix of the file")
    return parser
