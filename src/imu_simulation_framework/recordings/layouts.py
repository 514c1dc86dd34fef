"""Layouts of recordings: YAML files that describe the columns of known loggers.

A layout lists the columns that identify the tables of a logger, and contains column maps with the
keys of ``[imu_columns]`` and ``[reference_columns]`` in a config.ini. The bundled layouts are in
``config/recording_layouts``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Mapping, Sequence

import numpy as np

from ..core.checks import check_list, check_numbers, check_text
from ..core.errors import ConfigurationError, RecordingError
from ..core.sentences import quote
from ..core.settings import Settings, from_mapping, setting
from ..core.tables import QUATERNION
from ..core.yaml_files import bundled_names, find_description, read_description
from .cleaning import Samples
from .column_maps import check_description, parse_map
from .evidence import layout_contradiction
from .frames import FRAMES

FOLDER = "recording_layouts"
"""Folder of the bundled layouts within ``config``."""


def _checked_columns(name: str, value: Any) -> tuple[str, ...]:
    texts = check_list(name, value)
    return tuple(check_text(f"{name}[{place}]", text, True) for place, text in enumerate(texts))


def _checked_map(name: str, value: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"{name} is {quote(value)}, expected a column map.")
    descriptions = {}
    for quantity, described in value.items():
        texts = [described] if isinstance(described, str) else described
        descriptions[quantity] = _checked_columns(f"{name}.{quantity}", texts)
        for text in descriptions[quantity]:
            try:
                check_description(name, quantity, text)
            except RecordingError as error:
                raise ConfigurationError(f"{error}.") from None
    return descriptions


@dataclass(frozen=True)
class RecordingLayout(Settings):
    """Description of the columns in the tables of a logger.

    Parameters
    ----------
    name : str
        Name of the logger; by default the name of the file.
    header : sequence of str
        Columns that identify the tables of the logger; all of them must be present, also with
        ``--layout``. In a recording with several tables, they are named ``TABLE.column``.
    imu_columns, reference_columns : mapping of str to str or to a sequence of str
        Quantity -> ``column [unit]``, see :mod:`.column_maps`; one of the two maps is required. In
        a sequence, the first column that is present is used. A quantity without a present column
        is ignored, and reported with ``--layout``.
    files : sequence of str, optional
        Patterns of file names, such as ``ms25*.csv``, for a logger whose tables have no header and
        whose columns are therefore ``col1``, ``col2``.
    frame : str, optional
        Axes of the logger: ``enu``, world east-north-up and body forward-left-up, or ``ned``, world
        north-east-down and body forward-right-down. The layout maps the columns as recorded, and
        they are converted automatically: ``-GyrZ [rad/s]``, ``yaw [deg cw from north]``. With
        ``ned``, quaternions cannot be mapped.
    rates : tuple of float, optional
        Smallest and largest sample rate of the logger [Hz]. They distinguish loggers that have the
        same header, but times in different units.
    source : str
        Document that specifies units and axes.

    Raises
    ------
    ConfigurationError
        A quantity, unit or frame is unknown, no quantity is mapped, or a quaternion is mapped with
        the frame ``ned``.
    """

    name: str = setting(check=check_text, needed=True)
    header: tuple[str, ...] = setting(check=_checked_columns)
    imu_columns: Mapping[str, tuple[str, ...]] = setting(dict, _checked_map)
    reference_columns: Mapping[str, tuple[str, ...]] = setting(dict, _checked_map)
    files: tuple[str, ...] = setting(tuple, _checked_columns)
    frame: str = setting("enu", choices=FRAMES)
    rates: tuple[float, float] | None = setting(None, check_numbers, count=2, above=0.0)
    source: str = setting("")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.header:
            raise ConfigurationError("header is empty, expected the columns that identify a table.")
        if not (self.imu_columns or self.reference_columns):
            raise ConfigurationError(
                "imu_columns and reference_columns are empty, expected at least one map."
            )
        mapped = {*self.imu_columns, *self.reference_columns}
        if self.frame == "ned" and not mapped.isdisjoint(QUATERNION):
            raise ConfigurationError(
                "a quaternion is mapped with frame = ned, expected roll, pitch and yaw."
            )

    def matches(self, path: str | os.PathLike[str], columns: Sequence[str]) -> bool:
        """Return whether a table has this layout.

        Parameters
        ----------
        path : path-like
            The recording.
        columns : sequence of str
            Columns of the recording.

        Returns
        -------
        bool
            True if the file name matches and all columns of the header are present.
        """
        name = Path(path).name
        is_named = not self.files or any(fnmatch(name, pattern) for pattern in self.files)
        return is_named and set(self.header) <= set(columns)

    def maps(
        self, path: str | os.PathLike[str], columns: Sequence[str], frame: str = "enu"
    ) -> LayoutMaps:
        """Return the column maps of a table that has this layout.

        Parameters
        ----------
        path : path-like
            The recording.
        columns : sequence of str
            Columns of the recording.
        frame : str
            ``ned`` if the reader of the format converts the axes.

        Returns
        -------
        LayoutMaps
            Column maps of IMU and reference, and absent columns.
        """
        imu, reference = (
            _present_columns(path, descriptions, columns)
            for descriptions in (self.imu_columns, self.reference_columns)
        )
        mapped = {**self.reference_columns, **self.imu_columns}
        absent = {name: mapped[name] for name in mapped if name not in {*imu, *reference}}
        if self.frame == "ned" and frame == "enu":
            imu, reference = _turned_map(imu), _turned_map(reference)
        return LayoutMaps(self, imu, reference, absent)


@dataclass(frozen=True)
class LayoutMaps:
    """Column maps of a table with a known layout.

    Parameters
    ----------
    layout : RecordingLayout
        The layout.
    imu, reference : dict of str to str
        Quantity -> ``column [unit]``.
    absent : dict of str to tuple of str
        Quantity of the layout that the table lacks -> possible columns.
    """

    layout: RecordingLayout
    imu: dict[str, str]
    reference: dict[str, str]
    absent: dict[str, tuple[str, ...]]

    def contradiction(self, samples: Samples) -> str:
        """Return the evidence that samples contradict the layout.

        Parameters
        ----------
        samples : Samples
            Samples that were read with one of the maps.

        Returns
        -------
        str
            Evidence; empty if there is none.
        """
        evidence = layout_contradiction(samples)
        times = samples.columns["stamp"]
        steps = np.diff(times[np.isfinite(times)])
        rate = 1.0 / float(np.median(steps)) if len(steps) and np.median(steps) > 0.0 else 0.0
        rates = self.layout.rates
        if rate and rates is not None and not rates[0] <= rate <= rates[1]:
            expected = f"expected {rates[0]:g} to {rates[1]:g}"
            evidence = evidence or f"the sample rate is {rate:.4g} Hz, {expected}"
        return evidence


def _present_columns(path, descriptions, columns) -> dict[str, str]:
    present = {}
    for quantity, alternatives in descriptions.items():
        for description in alternatives:
            try:
                parse_map(path, {quantity: description}, columns)
            except RecordingError:  # the column is absent; units have been checked before
                continue
            present[quantity] = description
            break
    return present


_SIGN_CHANGES = ("gyro_y", "gyro_z", "accel_y", "accel_z", "mag_y", "mag_z", "pitch", "z")
"""Quantities whose sign differs between NED and ENU conventions."""

_EXCHANGED = {"x": "y", "y": "x"}
_NAUTICAL = ("yaw", "heading", "course")


def _turned_map(columns: Mapping[str, str]) -> dict[str, str]:
    """Convert a column map from NED to ENU conventions."""
    converted = {}
    for quantity, description in columns.items():
        name = _EXCHANGED.get(quantity, quantity)
        column, _, unit = description.rpartition(" [")
        if quantity in _SIGN_CHANGES:
            description = f"-{column} [{unit}"
        elif quantity in _NAUTICAL and unit.rstrip("]") in ("rad", "deg"):
            description = f"{column} [{unit.rstrip(']')} cw from north]"
        converted[name] = description
    return converted


def read_layout(name: str | os.PathLike[str]) -> RecordingLayout:
    """Read a layout from a YAML file, or by the name of a bundled layout.

    Parameters
    ----------
    name : path-like
        File whose keys are the fields of :class:`RecordingLayout`, or the name of a layout in
        config/recording_layouts, such as ``xsens_mti``.

    Returns
    -------
    RecordingLayout
        Layout of the file.

    Raises
    ------
    ConfigurationError
        There is no such file or bundled layout, or the file is not a layout.
    """
    path = find_description(name, FOLDER, "a recording layout")
    make = partial(from_mapping, RecordingLayout, subject="it")
    return read_description(path, "the recording layout", make, named=True)


@lru_cache(maxsize=1)
def bundled_layouts() -> tuple[RecordingLayout, ...]:
    """Return the layouts in config/recording_layouts.

    Returns
    -------
    tuple of RecordingLayout
        Layouts in alphabetical order.
    """
    return tuple(read_layout(name) for name in bundled_names(FOLDER))


def find_layouts(
    path: str | os.PathLike[str],
    columns: Sequence[str],
    layout: RecordingLayout | None = None,
    frame: str = "enu",
) -> list[LayoutMaps]:
    """Return the column maps of the layouts that a table may have.

    Parameters
    ----------
    path : path-like
        The recording.
    columns : sequence of str
        Columns of the recording.
    layout : RecordingLayout, optional
        Layout that the user has chosen.
    frame : str
        ``ned`` if the reader of the format converts the axes.

    Returns
    -------
    list of LayoutMaps
        Maps, sorted from the longest to the shortest header.

    Raises
    ------
    RecordingError
        The table does not have the layout that the user has chosen.
    """
    if layout is not None:
        absent = [name for name in layout.header if name not in columns]
        if absent:
            raise RecordingError(
                f"{path}: column {quote(absent[0])} of the layout {layout.name} is missing"
            )
        return [layout.maps(path, columns, frame)]
    matching = [known for known in bundled_layouts() if known.matches(path, columns)]
    matching.sort(key=lambda known: -len(known.header))
    return [known.maps(path, columns, frame) for known in matching]
