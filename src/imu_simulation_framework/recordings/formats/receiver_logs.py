"""Logs of satellite receivers as text: NovAtel's, Racelogic's VBOX (``.vbo``), and GPX.

- NovAtel's logs in ASCII are lines as ``#INSPVAA,...`` and ``%INSPVASA,...``, a table for each log:
  INSPVA, BESTPOS, CORRIMU, CORRIMUDATA, RAWIMU and RAWIMUX. Other logs and lines with a wrong
  checksum are skipped. Times are seconds of GPS. NovAtel's axes of a vehicle, right, forward, up,
  are turned to forward, left, up (OEM7 Commands and Logs Reference Manual). An IMU reports changes
  from sample to sample, which become rates and accelerations, ``CORRIMUDATA.gyro_z [rad/s]``. The
  size of a count of RAWIMU differs between models, and gravity determines the model (the same
  manual, RAWIMU, Raw IMU Scale Factors). It cannot distinguish IMU-CPT and IMU-FSAS: state the
  scale of the manual times the rate in the map, ``gyro_z = RAWIMU.gyro_z * 3e-7 [rad/s]``.
- A VBOX log is one table, ``VBOX``: fixes and channels with their units. Times are times of day,
  UTC.
- GPX is one table with the points of all tracks.
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
"""Log -> column -> its place among the fields; with a sign before it the value is turned."""
_WEEK_AT = {"INSPVA": 0, "RAWIMU": 0, "RAWIMUX": 2, "CORRIMUDATA": 0}
"""Log -> place of its own week, behind which the seconds are; of others the header has both."""
_SOLVED = {
    "INSPVA": ("INS_SOLUTION_GOOD", "INS_ALIGNMENT_COMPLETE", "INS_SOLUTION_FREE"),
    "BESTPOS": ("SOL_COMPUTED",),
}
"""Log -> words of which a line has one, unless its numbers are not solution."""


def read_novatel(path) -> dict[str, pd.DataFrame]:
    """Read the logs of a NovAtel receiver in ASCII form.

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
        # The name of a log with a short header ends with another S.
        names = (match["name"], re.sub(r"S\Z", "", match["name"])) if match else ()
        name = next((candidate for candidate in names if candidate in _FIELDS), "")
        if match is None or not name:
            continue
        # The checksum is that of zlib, but begun with zeros and not inverted.
        checksum = zlib.crc32(match["checked"].encode("utf-8", "replace"), 0xFFFFFFFF) ^ 0xFFFFFFFF
        if checksum == int(match["checksum"], 16):
            row = _row(name, match["header"].split(","), match["fields"].split(","))
            rows[name] += [row] if row else []
    if not rows:
        raise RecordingError(
            f"{path}: contains no NovAtel log {', '.join(_FIELDS)} with a valid checksum and a "
            "solution"
        )
    tables = {name: pd.DataFrame(own) for name, own in rows.items()}
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
"""Model -> m/s and rad of a count. IMU-CPT and IMU-FSAS are left out: only their gyroscopes
differ, so that gravity does not distinguish them."""
_CHANGES = {"corrected": (1.0, 1.0)}
"""The same for corrected logs, which are changes from sample to sample [m/s], [rad]."""
_GRAVITY = 9.8  # m/s^2
_MISS = 0.05  # relative deviation of the median of a drive's specific force from gravity


def _with_rates(table, scales):
    """Add rates and accelerations to a table, if one of the scales fits the length of gravity."""
    times = table["time [s]"].to_numpy()
    steps = np.diff(times)
    step = float(np.median(steps[steps > 0.0])) if (steps > 0.0).any() else np.nan
    if step > 0.0:
        # Seconds of GPS are rounded, their sum is not.
        step = float(times[-1] - times[0]) / max(1, round((times[-1] - times[0]) / step))
    length = float(np.median(np.linalg.norm(table[["accel_x", "accel_y", "accel_z"]], axis=1)))
    for velocity, angle in scales.values():
        if abs(length * velocity / step / _GRAVITY - 1.0) < _MISS:
            scaled = {
                f"{kind}_{axis} [{unit}]": table[f"{kind}_{axis}"] * factor / step
                for kind, unit, factor in (("gyro", "rad/s", angle), ("accel", "m/s^2", velocity))
                for axis in "xyz"
            }
            return pd.concat([table[["time [s]"]], pd.DataFrame(scaled), table.iloc[:, 1:]], axis=1)
    return table


def _row(name, header, fields):
    """Return the values of a line by column; none if it is cut off or has no solution."""
    try:
        if name in _SOLVED and set(_SOLVED[name]).isdisjoint(fields):
            return {}
        # A short header is week and seconds, a long one has them behind port, number, idle, status.
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
_STANDARD = 10  # channels of the receiver itself, whose units are the format's


def read_vbox(path) -> dict[str, pd.DataFrame]:
    """Read a log of VBOX: sections, one of which names the columns of the data.

    Times are times of day in UTC, ``hhmmss.ss``. Latitude and longitude are in minutes, the
    longitude positive to the west (Racelogic, VBO file format). The units of channels that the
    receiver does not have itself are in a section of their own, those of the last channels at its
    end.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    dict of str to DataFrame
        The table of the data.

    Raises
    ------
    RecordingError
        There are no data below the names.
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
            f"{path}: contains no VBOX data, expected sections [column names], with time, lat and "
            "long, and [data], with a number for each column"
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
        The file has no track.
    """
    rows = []
    for match in _POINT.finditer("".join(text_blocks(path))):
        place = re.findall(r"\b(lat|lon)=[\"']([^\"']*)[\"']", match[1])
        rows.append({**dict(place), **dict(_POINT_FIELD.findall(match[2] or ""))})
    if not rows:
        raise RecordingError(f"{path}: this is GPX without a track, expected points <trkpt>")
    table = pd.DataFrame(rows)
    times = {"time": table.pop("time").fillna("")} if "time" in table else {}
    table = table.apply(pd.to_numeric, errors="coerce").rename(columns=_GPX)
    return {"track": table.assign(**times)}
