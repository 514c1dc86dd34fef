"""Logs of NovAtel receivers in ASCII: ``#INSPVAA,...`` and ``%INSPVASA,...``, a line each.

Positions and heading of INSPVA, positions of BESTPOS, and the IMU of CORRIMU, CORRIMUDATA, RAWIMU
and RAWIMUX; all other logs are passed over, and so are lines with a wrong checksum. Times are
seconds of GPS. Axes are turned to forward, left, up: those of a vehicle are right, forward, up
(OEM7 Commands and Logs Reference Manual). What an IMU reports are changes from sample to sample,
and counts where it is raw. Of how much a count is, which differs from model to model, gravity tells
the model: its rates and accelerations are then columns, too, with their units (the same, RAWIMU,
Raw IMU Scale Factors). All others have no unit here.
"""

from __future__ import annotations

import collections
import re
import zlib

import numpy as np
import pandas as pd

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.recordings.file_access import text_blocks
from imu_simulation_framework.recordings.text_table import text_lines

_LOG = re.compile(
    r"[#%](?P<checked>(?P<name>[A-Z0-9_]+)A,(?P<header>[^;]*);(?P<fields>[^*]*))"
    r"\*(?P<checksum>[0-9a-f]{8})"
)
_WEEK = 604800.0  # s
_PLACE = {"latitude [deg]": 2, "longitude [deg]": 3, "altitude [m]": 4}
_RAW = ("accel_z", "-accel_y", "accel_x", "gyro_z", "-gyro_y", "gyro_x")
_CORRECTED = ("-gyro_y", "gyro_x", "gyro_z", "-accel_y", "accel_x", "accel_z")
_FIELDS: dict[str, dict[str, int]] = {
    "INSPVA": {**_PLACE, "velocity_north [m/s]": 5, "velocity_east [m/s]": 6, "heading [deg]": 10},
    "BESTPOS": {**_PLACE, "sigma_north [m]": 7, "sigma_east [m]": 8},
    "RAWIMU": {name: place for place, name in enumerate(_RAW, 3)},
    "RAWIMUX": {name: place for place, name in enumerate(_RAW, 5)},
    "CORRIMUDATA": {name: place for place, name in enumerate(_CORRECTED, 2)},
    "CORRIMU": {name: place for place, name in enumerate(_CORRECTED, 1)},
}
"""Log -> column -> its place among the fields; with a sign before it the value is turned."""
_WEEK_AT = {"INSPVA": 0, "RAWIMU": 0, "RAWIMUX": 2, "CORRIMUDATA": 0}
"""Log -> place of its own week, behind which the seconds are; of others the header has both."""
_SOLVED = {
    "INSPVA": ("INS_SOLUTION_GOOD", "INS_ALIGNMENT_COMPLETE", "INS_SOLUTION_FREE"),
    "BESTPOS": ("SOL_COMPUTED",),
}
"""Log -> words of which a line has one, unless its numbers are no solution."""


def read_novatel(path) -> dict[str, pd.DataFrame]:
    """Return a table for each log that can be used; raises RecordingError if there is none."""
    rows: dict[str, list[dict[str, float]]] = collections.defaultdict(list)
    for line in text_lines(text_blocks(path)):
        match = _LOG.search(line)
        # One with a short header has another S at its name's end.
        names = (match["name"], re.sub(r"S\Z", "", match["name"])) if match else ()
        name = next((one for one in names if one in _FIELDS), "")
        if match is None or not name:
            continue
        # As zlib has it, but begun with zeros and not inverted.
        checksum = zlib.crc32(match["checked"].encode("utf-8", "replace"), 0xFFFFFFFF) ^ 0xFFFFFFFF
        if checksum == int(match["checksum"], 16):
            row = _row(name, match["header"].split(","), match["fields"].split(","))
            rows[name] += [row] if row else []
    if not rows:
        raise RecordingError(
            f"{path}: none of NovAtel's logs {', '.join(_FIELDS)} is in it with a right checksum "
            "and a solution"
        )
    tables = {name: pd.DataFrame(found) for name, found in rows.items()}
    return {name: _scaled(table) if "RAW" in name else table for name, table in tables.items()}


_DEGREE, _FOOT = np.pi / 180.0, 0.3048
_COUNTS = {
    "HG1700, HG1900 and HG1930": (2.0**-27 * _FOOT, 2.0**-33),
    "LN-200": (2.0**-14, 2.0**-19),
    "ISA-100C": (2e-8, 1e-9),
    "ADIS16488": (200.0 / 2.0**31, 720.0 / 2.0**31 * _DEGREE),
    "STIM300": (2.0**-22, 2.0**-21 * _DEGREE),
    "HG4930": (2.0**-29, 2.0**-33),
}
"""Model -> m/s and rad of a count. IMU-CPT and IMU-FSAS share that of the accelerometer alone, so
that gravity does not tell them apart."""
_GRAVITY = 9.8  # m/s^2
_MISS = 0.05  # how far the median of a drive's accelerations is from it


def _scaled(table):
    """Return a table of counts with what they are, if gravity is that of one model."""
    steps = np.diff(table["time [s]"])
    step = float(np.median(steps[steps > 0.0])) if (steps > 0.0).any() else np.nan
    length = float(np.median(np.linalg.norm(table[["accel_x", "accel_y", "accel_z"]], axis=1)))
    for velocity, angle in _COUNTS.values():
        if abs(length * velocity / step / _GRAVITY - 1.0) < _MISS:
            scaled = {
                f"{kind}_{axis} [{unit}]": table[f"{kind}_{axis}"] * factor / step
                for kind, unit, factor in (("gyro", "rad/s", angle), ("accel", "m/s^2", velocity))
                for axis in "xyz"
            }
            return pd.concat([table[["time [s]"]], pd.DataFrame(scaled), table.iloc[:, 1:]], axis=1)
    return table


def _row(name, header, fields):
    """Return the values of a line by column; none if it is cut or has no solution."""
    try:
        if name in _SOLVED and set(_SOLVED[name]).isdisjoint(fields):
            return {}
        # A short header is week and seconds, a long one has them behind port, number, idle, status.
        place = _WEEK_AT.get(name)
        clock = fields[place:] if place is not None else header[-2 if len(header) == 2 else 4 :]
        row = {"time [s]": _WEEK * int(clock[0]) + float(clock[1])}
        for column, at in _FIELDS[name].items():
            value = float(fields[at])
            row[column.lstrip("-")] = -value if column.startswith("-") else value
        return row
    except (IndexError, ValueError):
        return {}
