"""Simulate an IMU at rest from its specification, to check one's own tools against it.

Writes a ROS bag (FILE.bag), or a table with the columns of an ImuRecord (FILE.csv, FILE.csv.gz);
with --format rostopic_csv, what `rostopic echo -p` would print. The same seed gives the same
file, but in another format or at another rate. SPEC is a file, or the name of one of those in
config/imus.

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

LONGEST_HOURS = 8784.0
"""A year."""

HIGHEST_RATE = 100_000.0
"""[Hz]; no IMU has more."""

BYTES_PER_SAMPLE = {"bag": 380, "rostopic_csv": 530, "csv": 210}
"""As measured, and not packed."""


def main(arguments):
    """Make the recording that the command line describes."""
    options = _parser().parse_args(arguments)
    source = find_imu_specification(options.specification)
    refuse_overwriting(options.out, [source])
    specification = load_imu_specification(source)
    rate = specification.output.rate if options.rate is None else options.rate
    samples = _samples(options.hours, rate)
    _require_room(options.out, format_of(options.out, options.format), samples)
    blocks = record_at_rest(specification, samples, rate, options.seed)
    covariances = specification.covariances(1.0 / rate, samples / rate)
    with progress_bar(desc="simulating", total=samples, unit=" samples") as progress:
        write_imu_recording(options.out, _counted(blocks, progress), covariances, options.format)
    size = Path(options.out).stat().st_size / 1e6
    print(f"{options.out} ({samples} samples, {samples / rate:g} s, {size:.1f} MB)")


def _samples(hours, rate) -> int:
    for name, value, largest in (("hours", hours, LONGEST_HOURS), ("rate", rate, HIGHEST_RATE)):
        if not 0.0 < value <= largest:
            raise ConfigurationError(
                f"--{name} is {value:g}, but it must be above 0 and at most {largest:g}."
            )
    samples = round(hours * 3600.0 * rate)
    if samples < 1:
        raise ConfigurationError(
            f"{hours:g} h at {rate:g} Hz is less than one sample; make --hours longer."
        )
    return samples


def _require_room(path, kind, samples) -> None:
    """Refuse what would fill the disk, instead of filling it first."""
    folder = Path(path).parent
    if not folder.is_dir():
        return  # said when the file is made
    size, free = samples * BYTES_PER_SAMPLE[kind], shutil.disk_usage(folder).free
    if size > free:
        raise ResultError(
            f"{path}: {samples} samples take about {size / 1e9:.3g} GB, but only {free / 1e9:.3g} "
            "GB are free; make --hours or --rate smaller, or choose another place"
        )


def _counted(blocks, progress):
    for block in blocks:
        yield block
        progress.update(len(block.time))


def _parser():
    parser = ArgumentParser(__doc__)
    add = parser.add_argument
    add("specification", metavar="SPEC", help="YAML file, or name of a bundled one")
    add("--hours", type=float, required=True, metavar="H", help="length [h]")
    add("--rate", type=float, metavar="HZ",
        help="samples per second (default: the specification's)")  # fmt: skip
    add("-o", "--out", required=True, metavar="FILE", help=".bag, .csv or .csv.gz")
    add_seed(parser)
    add("--format", default="", choices=FORMATS, help="default: bag or csv, as the name says")
    return parser
