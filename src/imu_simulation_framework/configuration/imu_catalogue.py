"""The bundled IMUs whose files say where their numbers are from."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple

from imu_simulation_framework.configuration.imu_specification_file import (
    find_imu_specification,
    imu_names,
    load_imu_specification,
    read_content,
)
from imu_simulation_framework.sensors.imu_specification import ImuSpecification


class CatalogueEntry(NamedTuple):
    """A bundled IMU.

    ``specification`` as everything else uses it; ``source`` the document its numbers are from;
    ``content`` the keys and values of its file as they stand there, by triad, so that it tells what
    the document does not say.
    """

    specification: ImuSpecification
    source: str
    content: Mapping[str, Any]

    def states(self, triad: str, parameter: str) -> bool:
        """Tell whether the document says a parameter of a triad."""
        return parameter in self.content.get(triad, {})


def imu_catalogue() -> list[CatalogueEntry]:
    """Return the bundled IMUs whose files have a ``source``, by name.

    Raises
    ------
    ConfigurationError
        A file in the package's config/imus is no specification.
    """
    entries = []
    for name in imu_names():
        path = find_imu_specification(name)
        content = read_content(path)
        if "source" in content:
            specification = load_imu_specification(path)
            entries.append(CatalogueEntry(specification, content["source"], content))
    return entries
