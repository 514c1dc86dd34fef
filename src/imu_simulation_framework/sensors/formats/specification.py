"""Our own format, which can say everything: see ``sensors/files.py``."""

from __future__ import annotations

from dataclasses import replace

from imu_simulation_framework.sensors.files import imu_specification_text, load_imu_specification
from imu_simulation_framework.sensors.formats.base import NO_OPTIONS, Reading, WriteOptions, Writing
from imu_simulation_framework.sensors.imu_specification import ImuSpecification


def read(path, rate: float | None = None) -> Reading:
    """Read a specification; the rate is the file's."""
    return Reading(load_imu_specification(path), [])


def write(
    specification: ImuSpecification, rate: float, options: WriteOptions = NO_OPTIONS
) -> Writing:
    """Return the text of a specification, with this rate of output."""
    output = replace(specification.output, rate=float(rate))
    return Writing(imu_specification_text(replace(specification, output=output)), [])
