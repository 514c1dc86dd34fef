"""Any unit of a bundled part: its data sheet, and what was measured of it.

Of the gyroscope, what was measured of the part itself goes before its data sheet, and the sheet
before what its class of part has (:mod:`.measured`), which stands in for what nobody says: cheap
sensors' sheets say nothing of bias instability and random walk.
"""

from __future__ import annotations

import math
import os
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from imu_simulation_framework.sensors.files import read_imu_specification
from imu_simulation_framework.sensors.imu_specification import ImuSpecification, UnitVariation
from imu_simulation_framework.sensors.measured import Estimate, estimates, measured_parts

SHEET = "data sheet"
SHEET_SPREAD = 0.2
"""Standard deviation of the logarithm from unit to unit of noise that a sheet calls typical."""
_NOISE = ("white_noise", "bias_instability", "random_walk")


class Part(NamedTuple):
    """A part of which any unit may be had, and where its gyroscope's numbers are from, by field."""

    specification: ImuSpecification
    origins: dict[str, str]

    def sentence(self) -> str:
        """Return in one line where the numbers are from."""
        by_origin: dict[str, list[str]] = {}
        for name, origin in self.origins.items():
            by_origin.setdefault(origin, []).append(name.replace("_", " "))
        parts = (f"{', '.join(names)}: {origin}" for origin, names in by_origin.items())
        return f"{self.specification.name}, any unit: {'; '.join(parts)}"


def read_part(name: str | os.PathLike[str]) -> ImuSpecification:
    """Return an IMU by its name or file; of a bundled part any unit, with what was measured of it.

    Raises ConfigurationError as :func:`.read_imu_specification` does.
    """
    return part_of(read_imu_specification(name)).specification


def part_of(sheet: ImuSpecification) -> Part:
    """Return a bundled part as any unit of it; what is none, or is this unit, stays as it is."""
    if not sheet.units.tolerances or sheet.name not in measured_parts().index:
        return Part(sheet, {})
    known = estimates(sheet.name)
    gyroscope, origins, spreads = sheet.gyroscope, {}, {}
    for name in _NOISE:
        estimate = known["gyroscope", name]
        if np.any(getattr(gyroscope, name)) and not estimate.units:
            origins[name], spreads[name] = SHEET, SHEET_SPREAD
            continue
        measured: dict[str, Any] = {name: (estimate.median,) * 3}
        gyroscope = replace(gyroscope, **measured)
        origins[name], spreads[name] = estimate.origin, estimate.spread
    matrix = np.array(gyroscope.scale_factor_and_misalignment)
    diagonal = np.eye(3, dtype=bool)
    for name, places in (("scale_factor", diagonal), ("misalignment", ~diagonal)):
        estimate = known["gyroscope", name]
        if np.any(matrix[places]) and not estimate.units:
            origins[name] = SHEET
            continue
        matrix[places] = _deviation(estimate)
        origins[name] = estimate.origin
    gyroscope = replace(gyroscope, scale_factor_and_misalignment=matrix.tolist())
    units = UnitVariation(tolerances=True, **spreads)
    return Part(replace(sheet, gyroscope=gyroscope, units=units), origins)


def _deviation(estimate: Estimate) -> float:
    """Return one standard deviation for units that are drawn from a normal distribution.

    Its logarithm is uncertain: the root mean square of what it may be.
    """
    return estimate.median * math.exp(min(estimate.spread, 1.0) ** 2)
