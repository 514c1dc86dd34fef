"""Folders of gnss-ins-sim, with one CSV file per quantity, and one file with their times.

The table ``groundtruth`` is the reference, from ``ref_pos.csv`` and ``ref_att_euler.csv``. The
table ``imu`` is the IMU of the first run, from ``gyro-0.csv`` and ``accel-0.csv``. Axes are
north-east-down and forward-right-down, and yaw is clockwise from north. Positions are latitude and
longitude, or in metres if ``ref_frame`` is 1 (https://github.com/Aceinna/gnss-ins-sim, README,
"Step 5 get simulation results").
"""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from ...core.errors import RecordingError
from ...motion.positioning import local_position
from ..file_access import GNSS_INS_SIM, csv_files, text_blocks
from ..text_table import parse_table

_NAMES = {
    "ref_pos_lat": "latitude",
    "ref_pos_lon": "longitude",
    "ref_pos_alt": "altitude",
    "ref_pos_x": "x",
    "ref_pos_y": "y",
    "ref_pos_z": "z",
    "ref_Yaw": "yaw",
    "ref_Pitch": "pitch",
    "ref_Roll": "roll",
}
_GEODETIC = (("latitude", "deg"), ("longitude", "deg"), ("altitude", "m"))
_REFERENCE = ("ref_pos", "ref_att_euler")
_IMU = ("gyro-0", "accel-0")
_HEADER = re.compile(r"\s*(?P<name>\w+)\s*\((?P<unit>[^()]*)\)\s*\Z")


def read_gnss_ins_sim(path) -> dict[str, pd.DataFrame]:
    """Read the tables ``groundtruth`` and, if an IMU was simulated, ``imu``.

    Parameters
    ----------
    path : path-like
        Folder with the CSV files of gnss-ins-sim.

    Returns
    -------
    dict of str to DataFrame
        Table by name.

    Raises
    ------
    RecordingError
        A file cannot be read, or its number of rows differs from the number of times.
    """
    files = {file.name.partition(".csv")[0]: file for file in csv_files(path)}
    times = _read(files[GNSS_INS_SIM[0]])
    tables = {}
    for name, parts in (("groundtruth", _REFERENCE), ("imu", _IMU)):
        columns = [_read(files[part]) for part in parts if part in files]
        for part in columns:
            if len(part) != len(times):
                raise RecordingError(
                    f"{path}: {part.attrs['file']} has {len(part)} rows, expected {len(times)} as "
                    f"in {times.attrs['file']}"
                )
        if columns:
            tables[name] = pd.concat([times, *columns], axis="columns")
    tables["groundtruth"] = _convert_to_metres(tables["groundtruth"])
    return tables


def _convert_to_metres(reference: pd.DataFrame) -> pd.DataFrame:
    """Replace the geodetic position of a reference by x north, y east and z down [m].

    A yaw next to a geodetic position would be interpreted as the heading of a receiver with two
    antennas and be smoothed with the course, but the yaw of a simulation is exact.
    """
    geodetic = [f"{name} [{unit}]" for name, unit in _GEODETIC]
    if not set(geodetic) <= set(reference):
        return reference
    fix = reference[geodetic].set_axis([name for name, _ in _GEODETIC], axis="columns")
    east, north = local_position(fix).T
    down = fix["altitude"].iloc[0] - fix["altitude"]
    positions = {"x [m]": north, "y [m]": east, "z [m]": down}
    return reference.drop(columns=geodetic).assign(**positions)


def _read(file: Path) -> pd.DataFrame:
    def text():
        # In the header of a single column, the space before the unit is not a separator.
        return (block.replace(" (", "(") for block in text_blocks(file))

    cells = parse_table(file, text).cells.rename(columns=_named)
    cells.attrs["file"] = file.name
    return cells


def _named(column: str) -> str:
    match = _HEADER.match(column)
    if match is None:
        return column
    unit = {"sec": "s"}.get(match["unit"], match["unit"])
    return f"{_NAMES.get(match['name'], match['name'])} [{unit}]"
