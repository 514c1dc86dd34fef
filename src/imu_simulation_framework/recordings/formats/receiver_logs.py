"""Text logs of GNSS receivers: NovAtel ASCII logs, Racelogic VBOX (``.vbo``), and GPX.

- NovAtel ASCII logs are lines such as ``#INSPVAA,...`` and ``%INSPVASA,...``, with one table per
  log: INSPVA, BESTPOS, CORRIMU, CORRIMUDATA, RAWIMU and RAWIMUX. Other logs and lines with a wrong
  checksum are skipped. Times are GPS seconds. NovAtel's vehicle axes (right, forward, up) are
  converted to forward, left, up (OEM7 Commands and Logs Reference Manual). IMU logs contain
  increments per sample, which are converted to rates and accelerations, such as
  ``CORRIMUDATA.gyro_z [rad/s]``. The scale factor of RAWIMU counts depends on the IMU model, which
  is determined from the magnitude of gravity (same manual, RAWIMU, Raw IMU Scale Factors). Gravity
  cannot distinguish IMU-CPT and IMU-FSAS: for these models, state the product of the scale factor
  in the manual and the sample rate in the map, ``gyro_z = RAWIMU.gyro_z * 3e-7 [rad/s]``.
- A VBOX log is a single table, ``VBOX``, with position fixes, and with other channels and their
  units. Times are times of day in UTC.
- GPX is a single table with the points of all tracks.
"""

from __future__ import annotations

import collections
import re
import zlib

import numpy as np
import pandas as pd

from ...core.errors import RecordingError
from ..file_access import text_blocks
from ..text_table import distinct_names, text_lines

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
"""Field index of each column, by log; a minus sign before a name negates the column."""
_WEEK_AT = {"INSPVA": 0, "RAWIMU": 0, "RAWIMUX": 2, "CORRIMUDATA": 0}
"""Field index of the GPS week, by log; other logs contain week and seconds in the header."""
_SOLVED = {
    "INSPVA": ("INS_SOLUTION_GOOD", "INS_ALIGNMENT_COMPLETE", "INS_SOLUTION_FREE"),
    "BESTPOS": ("SOL_COMPUTED",),
}
"""Solution status words of each log; a line without such a word contains no valid solution."""


def read_novatel(path) -> dict[str, pd.DataFrame]:
    """Read the ASCII logs of a NovAtel receiver.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    dict of str to DataFrame
        Table by log.

    Raises
    ------
    RecordingError
        No log in the file can be used.
    """
    rows: dict[str, list[dict[str, float]]] = collections.defaultdict(list)
    for line in text_lines(text_blocks(path)):
        match = _LOG.search(line)
        # The name of a log with a short header has an additional S at the end.
        names = (match["name"], re.sub(r"S\Z", "", match["name"])) if match else ()
        name = next((candidate for candidate in names if candidate in _FIELDS), "")
        if match is None or not name:
            continue
        # The checksum is zlib's CRC-32 with an initial value of zero and without inversion.
        checksum = zlib.crc32(match["checked"].encode("utf-8", "replace"), 0xFFFFFFFF) ^ 0xFFFFFFFF
        if checksum == int(match["checksum"], 16):
            row = _row(name, match["header"].split(","), match["fields"].split(","))
            rows[name] += [row] if row else []
    if not rows:
        raise RecordingError(
            f"{path}: no line is a NovAtel log with a valid checksum and a solution, expected one "
            f"of {', '.join(_FIELDS)}"
        )
    tables = {name: pd.DataFrame(table_rows) for name, table_rows in rows.items()}
    return {
        name: _with_rates(table, _COUNTS if "RAW" in name else _CHANGES) if "IMU" in name else table
        for name, table in tables.items()
    }


_DEGREE, _FOOT = np.pi / 180.0, 0.3048
_COUNTS = {
    "HG1700, HG1900 and HG1930": (2.0**-27 * _FOOT, 2.0**-33),
    "LN-200": (2.0**-14, 2.0**-19),
    "ISA-100C": (2e-8, 1e-9),
    "ADIS16488": (200.0 / 2.0**31, 720.0 / 2.0**31 * _DEGREE),
    "STIM300": (2.0**-22, 2.0**-21 * _DEGREE),
    "HG4930": (2.0**-29, 2.0**-33),
}
"""Scale factors [m/s, rad per count] by IMU model.

IMU-CPT and IMU-FSAS are excluded: only the gyroscopes of these models differ, so gravity cannot
distinguish them."""
_CHANGES = {"corrected": (1.0, 1.0)}
"""Scale factors of corrected logs, which contain increments per sample [m/s, rad]."""
_GRAVITY = 9.8  # m/s^2
# Largest relative deviation of the median specific force from gravity.
_MAX_GRAVITY_DEVIATION = 0.05


def _with_rates(table, scales):
    """Add rates and accelerations to a table if a scale factor yields the magnitude of gravity."""
    times = table["time [s]"].to_numpy()
    steps = np.diff(times)
    step = float(np.median(steps[steps > 0.0])) if (steps > 0.0).any() else np.nan
    if step > 0.0:
        # GPS seconds are rounded, so the mean period is used instead of single differences.
        step = float(times[-1] - times[0]) / max(1, round((times[-1] - times[0]) / step))
    length = float(np.median(np.linalg.norm(table[["accel_x", "accel_y", "accel_z"]], axis=1)))
    for velocity, angle in scales.values():
        if abs(length * velocity / step / _GRAVITY - 1.0) < _MAX_GRAVITY_DEVIATION:
            scaled = {
                f"{kind}_{axis} [{unit}]": table[f"{kind}_{axis}"] * factor / step
                for kind, unit, factor in (("gyro", "rad/s", angle), ("accel", "m/s^2", velocity))
                for axis in "xyz"
            }
            return pd.concat([table[["time [s]"]], pd.DataFrame(scaled), table.iloc[:, 1:]], axis=1)
    return table


def _row(name, header, fields):
    """Return the values of a line by column; empty without a valid solution or if truncated."""
    try:
        if name in _SOLVED and set(_SOLVED[name]).isdisjoint(fields):
            return {}
        # A short header contains week and seconds; in a long header, four fields precede them.
        place = _WEEK_AT.get(name)
        clock = fields[place:] if place is not None else header[-2 if len(header) == 2 else 4 :]
        row = {"time [s]": _WEEK * int(clock[0]) + float(clock[1])}
        for column, index in _FIELDS[name].items():
            value = float(fields[index])
            row[column.lstrip("-")] = -value if column.startswith("-") else value
        return row
    except (IndexError, ValueError):
        return {}


_VBOX = {
    "time": "time [s]", "lat": "latitude [deg]", "long": "longitude [deg]",
    "height": "altitude [m]", "heading": "course [deg]", "velocity": "speed [km/h]",
}  # fmt: skip
_DAY = 86400.0  # s
_STANDARD = 10  # number of standard channels, whose units the format defines


def read_vbox(path) -> dict[str, pd.DataFrame]:
    """Read a VBOX log, which consists of sections such as column names and data.

    Times are times of day in UTC, ``hhmmss.ss``. Latitude and longitude are in minutes, and the
    longitude is positive to the west (Racelogic, VBO file format). The section ``channel units``
    contains the units of additional channels, which follow the standard channels.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    dict of str to DataFrame
        A single table.

    Raises
    ------
    RecordingError
        There are no data, or the column names are incomplete.
    """
    sections, name = collections.defaultdict(list), ""
    for line in map(str.strip, text_lines(text_blocks(path))):
        section = re.fullmatch(r"\[([\w ]+)\]", line)
        if section:
            name = section[1].lower()
        elif line or name == "channel units":
            sections[name].append(line)
    names = " ".join(sections["column names"]).split()
    rows = [row for row in map(str.split, sections["data"]) if len(row) == len(names)]
    if not rows or not {"time", "lat", "long"} <= set(names):
        raise RecordingError(
            f"{path}: VBOX data are missing, expected the sections [column names] with time, lat "
            "and long, and [data] with one number per column"
        )
    units = "\n".join(sections["channel units"]).rstrip("\n").split("\n")
    units = ["", *units][-max(len(names) - _STANDARD, 1) :]
    units = [""] * (len(names) - len(units)) + units
    plain = [_VBOX.get(name, f"{name} [{u}]" if u else name) for name, u in zip(names, units)]
    table = pd.DataFrame(rows, columns=distinct_names(plain)[0])
    table = table.apply(pd.to_numeric, errors="coerce")
    clock = table["time [s]"].to_numpy(dtype=float)
    seconds = clock // 1e4 * 3600.0 + clock // 1e2 % 1e2 * 60.0 + clock % 1e2
    days = np.cumsum(np.diff(seconds, prepend=seconds[:1]) < -0.5 * _DAY)
    table["time [s]"] = seconds + _DAY * days
    table["latitude [deg]"] /= 60.0
    table["longitude [deg]"] /= -60.0
    return {"VBOX": table}


_POINT = re.compile(r"<(?:\w+:)?trkpt\b([^>]*?)(?:/>|>(.*?)</(?:\w+:)?trkpt>)", re.DOTALL)
_POINT_FIELD = re.compile(r"<(?:\w+:)?(time|ele|speed|course|hdop)>([^<]*)<")
_GPX = {
    "lat": "latitude [deg]", "lon": "longitude [deg]", "ele": "altitude [m]",
    "speed": "speed [m/s]", "course": "course [deg]",
}  # fmt: skip


def read_gpx(path) -> dict[str, pd.DataFrame]:
    """Read the points of all tracks of a GPX file.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    dict of str to DataFrame
        A single table.

    Raises
    ------
    RecordingError
        The file contains no track.
    """
    rows = []
    for match in _POINT.finditer("".join(text_blocks(path))):
        place = re.findall(r"\b(lat|lon)=[\"']([^\"']*)[\"']", match[1])
        rows.append({**dict(place), **dict(_POINT_FIELD.findall(match[2] or ""))})
    if not rows:
        raise RecordingError(f"{path}: the GPX file has no track, expected <trkpt> elements")
    table = pd.DataFrame(rows)
    times = {"time": table.pop("time").fillna("")} if "time" in table else {}
    table = table.apply(pd.to_numeric, errors="coerce").rename(columns=_GPX)
    return {"track": table.assign(**times)}
