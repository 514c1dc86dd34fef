"""Simulate a static recording of an IMU from its specification, to test other tools.

The command line is defined in :mod:`.parsers.simulate_static`.
"""

import shutil
from pathlib import Path

from ..core.errors import ConfigurationError, ResultError
from ..core.progress import progress_bar
from ..core.whole_files import refuse_overwriting
from ..recordings.imu_writer import write_imu_recording
from ..recordings.written_formats import format_of
from ..sensors.files import find_imu_specification, load_imu_specification
from ..sensors.simulation import record_at_rest

MAX_HOURS = 8784.0  # h, duration of a leap year
MAX_RATE = 100_000.0  # Hz, far above the rate of any IMU
# Measured file size per sample in each format, without compression [bytes].
BYTES_PER_SAMPLE = {"bag": 380, "rostopic_csv": 530, "csv": 210}


def run(options):
    """Simulate the recording specified on the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.
    """
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
            f"--hours is {hours:g}, expected at least one sample at {rate:g} Hz; increase --hours"
        )
    return samples


def _require_space(path, kind, samples) -> None:
    """Check before the simulation that there is enough disk space."""
    folder = Path(path).parent
    if not folder.is_dir():
        return  # the error is reported when the file is opened
    size, free = samples * BYTES_PER_SAMPLE[kind], shutil.disk_usage(folder).free
    if size > free:
        raise ResultError(
            f"{path}: {samples} samples require about {size / 1e9:.3g} GB, but only "
            f"{free / 1e9:.3g} GB are free; reduce --hours or --rate, or choose another folder"
        )


def _count_samples(blocks, progress):
    for block in blocks:
        yield block
        progress.update(len(block.time))
