"""Read line-based recordings: NMEA 0183, VectorNav, printed messages, tagged or labelled lines.

Each line may begin with its time of reception, as a number or a date. NMEA sentences with a wrong
checksum are ignored, as is everything between sentences.

- NMEA 0183 (GGA, RMC, GNS, GLL, VTG, GST, HDT and THS from any talker, also between the binary
  messages of a receiver, ``.ubx``) is a single table with one row per epoch: time (since 1970 if
  RMC states the date), position, fix, speed, course, and heading of two antennas. ``receipt`` is
  the time before the sentences.
- VectorNav's VNYMR, VNQMR, VNIMU, VNYPR, VNQTN and VNINS each have a table. VectorNav's axes,
  north-east-down and forward-right-down (VN-100 User Manual, Asynchronous Output), are converted.
  Times are times of reception; if they are missing, state ``--rate``.
- ``rostopic echo TOPIC > FILE`` and ``ros2 topic echo`` print messages as YAML, separated by
  ``---``. The fields are columns, such as ``header.stamp.sec``; the first elements of a list in one
  line are columns such as ``data[0]``. A bag is preferable, because printed lines may be truncated.
- Lines of several record types contain a cell with the type, such as ``imu,0.1,0.2``, and each type
  is a table. Examples are Android's GnssLogger, GetSensorData, ArduPilot's text log without FMT
  lines, and files with one header that has a column ``MessageType``, ``sensor`` or ``type``.
  Comments such as ``# Gyro,time,x,y,z`` name the columns; without comments, columns are numbered,
  ``imu.col3``. Fixes of several sources are tables such as ``Fix GPS`` and ``Fix FLP``.
- Lines with labelled numbers, such as ``yaw: 12.3 deg, gyro x: 0.1 y: 0.2``, have one table per set
  of labels. The time is a number without a label, or a time of day, at the start of the line.
"""

from __future__ import annotations

import calendar
import collections
import functools
import operator
import re

import numpy as np
import pandas as pd

from ...core.errors import RecordingError
from ..cleaning import MINIMUM_SAMPLES
from ..file_access import TAG_COMMENTS, decoded, tag_cells, tag_place, text_blocks, unpacked_blocks
from ..text_table import as_numbers, distinct_names, text_lines
from ..vocabulary.names import canonical_unit

_SENTENCE = re.compile(r"\$(?P<content>[A-Z]{4,6},[^$*]*)(?:\*(?P<checksum>[0-9A-Fa-f]{2}))?")
_DATE = re.compile(r"\d{4}[-/]\d\d?[-/]\d\d?[T ]\d\d?:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?")
_NUMBER = re.compile(r"(?<![\w.^])[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\d.])")
_KNOT = 1852.0 / 3600.0  # m/s
_DAY = 86400.0  # s

_YPR = ["yaw [deg]", "pitch [deg]", "roll [deg]"]
_QUATERNION = ["qx", "qy", "qz", "qw"]
_MAG, _ACCEL, _GYRO = (
    [f"{name}_{axis} [{unit}]" for axis in "xyz"]
    for name, unit in (("mag", "G"), ("accel", "m/s^2"), ("gyro", "rad/s"))
)
_PLACE = ["latitude [deg]", "longitude [deg]", "altitude [m]"]
_VECTORNAV = {
    "VNYPR": _YPR,
    "VNQTN": _QUATERNION,
    "VNYMR": [*_YPR, *_MAG, *_ACCEL, *_GYRO],
    "VNQMR": [*_QUATERNION, *_MAG, *_ACCEL, *_GYRO],
    "VNIMU": [*_MAG, *_ACCEL, *_GYRO],
    "VNINS": ["time [s]", "week", "ins_status", *_YPR, *_PLACE],
}


def read_sentences(path) -> dict[str, pd.DataFrame]:
    """Read NMEA 0183 and VectorNav sentences.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    dict of str to DataFrame
        Table by sentence type.

    Raises
    ------
    RecordingError
        No sentence can be used.
    """
    epochs, messages = _Epochs(), collections.defaultdict(list)
    # Receivers may write binary messages between the sentences.
    blocks = (block.replace(b"\0", b" ") for block in unpacked_blocks(path))
    for line in text_lines(decoded(path, blocks)):
        match = _SENTENCE.search(line)
        if match is None or match["checksum"] is None:
            continue
        place = match.start()
        checksum = functools.reduce(operator.xor, match["content"].encode("utf-8", "replace"))
        if checksum != int(match["checksum"], 16):
            continue
        kind, *fields = match["content"].split(",")
        if kind in _VECTORNAV:
            messages[kind].append((_stamp(line[:place]), fields))
        else:
            epochs.add(kind[2:], fields, _stamp(line[:place]))
    tables = {"GNSS": epochs.table()} if epochs.rows else {}
    for kind, rows in messages.items():
        names = _VECTORNAV[kind]
        complete_rows = [row for row in rows if len(row[1]) >= len(names)]
        table = pd.DataFrame([fields[: len(names)] for _, fields in complete_rows], columns=names)
        table = table.apply(pd.to_numeric, errors="coerce")
        stamps = pd.Series([stamp for stamp, _ in complete_rows])
        name = "receipt" if "time [s]" in names else "time"
        tables[kind] = table.assign(**{name: stamps}) if stamps.notna().any() else table
    if not any(len(table) for table in tables.values()):
        raise RecordingError(
            f"{path}: no NMEA 0183 position or VectorNav sentence has a valid checksum, expected "
            "sentences such as $GPGGA, $GPRMC or $VNYMR"
        )
    return tables


def _stamp(prefix):
    """Return the time that precedes a sentence, as text if it is a date; nan if it is missing."""
    date, number = _DATE.search(prefix), _NUMBER.search(prefix)
    if date:
        return date[0]
    return float(number[0]) if number else np.nan


class _Epochs:
    """Rows of a receiver's table, grouped by the times of its sentences."""

    def __init__(self):
        self.rows: list[dict] = []
        self.date, self.day, self.last = None, 0.0, 0.0

    def add(self, kind, fields, stamp):
        try:
            values = getattr(self, f"_{kind.lower()}", lambda fields: None)(fields)
        except (ValueError, IndexError):
            values = None
        if not values:
            return
        time = values.pop("time [s]", None)
        if time is None:
            if self.rows:
                self.rows[-1].update(values)
            return
        if time < self.last - _DAY / 2.0:
            self.day += _DAY
        self.last = time
        if not self.rows or self.rows[-1]["time [s]"] != time + self.day:
            self.rows.append({"time [s]": time + self.day, "receipt": stamp})
        self.rows[-1].update(values)

    def table(self):
        rows = [row for row in self.rows if "latitude [deg]" in row]
        table = pd.DataFrame(rows)
        if len(table) and self.date is not None:
            table["time [s]"] += self.date - self.day
        return table.dropna(axis="columns", how="all")

    def _gga(self, fields, fixed=None):
        fixed = int(fields[5]) if fixed is None else fixed
        values = {**_time(fields[0]), **_place(*fields[1:5]), "status": float(fixed or -1)}
        return {**values, **_number("hdop", fields[7]), **_number("altitude [m]", fields[8])}

    def _gns(self, fields):
        return self._gga(fields, fixed=not set(fields[5]) <= {"N"})

    def _rmc(self, fields):
        values = {**_time(fields[0]), **_place(*fields[2:6])}
        if fields[1] != "A":
            values["status"] = -1.0
        day = fields[8]
        if len(day) == 6:
            year = int(day[4:]) + (1900 if int(day[4:]) >= 80 else 2000)
            self.date = calendar.timegm((year, int(day[2:4]), int(day[:2]), 0, 0, 0))
        values.update(_number("speed [m/s]", fields[6], _KNOT))
        return {**values, **_number("course [deg]", fields[7])}

    def _gll(self, fields):
        return {**_time(fields[4]), **_place(*fields[:4])}

    def _vtg(self, fields):
        return {**_number("course [deg]", fields[0]), **_number("speed [m/s]", fields[4], _KNOT)}

    def _hdt(self, fields):
        return _number("heading [deg]", fields[0])

    _ths = _hdt

    def _gst(self, fields):
        sigmas = {**_number("sigma_north [m]", fields[5]), **_number("sigma_east [m]", fields[6])}
        return {**_time(fields[0]), **sigmas}


def _time(text):
    return {"time [s]": _seconds_of_day(text[:2], text[2:4], text[4:])}


def _seconds_of_day(hours, minutes, seconds):
    return 3600.0 * int(hours) + 60.0 * int(minutes) + float(seconds)


def _place(north, north_or_south, east, east_or_west):
    """Convert latitude and longitude from ddmm.mmmm; return nothing if they are empty."""
    if not (north and east):
        return {}
    latitude = int(north[:2]) + float(north[2:]) / 60.0
    longitude = int(east[:3]) + float(east[3:]) / 60.0
    return {
        "latitude [deg]": -latitude if north_or_south == "S" else latitude,
        "longitude [deg]": -longitude if east_or_west == "W" else longitude,
    }


def _number(name, text, factor=1.0):
    return {name: factor * float(text)} if text else {}


_CLOCK = re.compile(r"\[?(\d\d?):(\d\d):(\d\d(?:\.\d+)?)\]?")
_SEPARATORS = re.compile(r"[,;|\t]|\s{2,}|->")
_AXIS = re.compile(r"(.*\W)?([xyzwXYZW])\Z", re.DOTALL)


def read_words(path) -> dict[str, pd.DataFrame]:
    """Read lines such as ``yaw: 12.3 deg, pitch: 0.1``.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    dict of str to DataFrame
        One table per set of labels.
    """
    rows = collections.defaultdict(list)
    for line in text_lines(text_blocks(path)):
        stamp, text = _split_clock(line)
        labelled = _labelled(text)
        names = tuple(label for label, _ in labelled)
        if any(map(_is_label, names)):
            rows[names].append([stamp, *(float(number) for _, number in labelled)])
    tables: dict[str, pd.DataFrame] = {}
    for names, values in rows.items():
        if len(values) < MINIMUM_SAMPLES:
            continue
        columns = distinct_names(["clock [s]", *(name or "time" for name in names)])[0]
        table = pd.DataFrame(values, columns=columns).dropna(axis="columns", how="all")
        name = next(filter(_is_label, names))
        tables[name if name not in tables else f"{name} {len(tables)}"] = table
    if not tables:
        raise RecordingError(
            f"{path}: fewer than {MINIMUM_SAMPLES} lines have the same labels, expected lines such "
            "as yaw: 12.3 pitch: 0.1"
        )
    return tables


def _split_clock(line):
    """Split a line into its time of day [s] (nan without one) and the remaining text."""
    match = _CLOCK.match(line.lstrip())
    if match is None:
        return np.nan, line
    return _seconds_of_day(*match.groups()), line.lstrip()[match.end() :]


def _labelled(line):
    """Return each number in a line with its label, which includes the unit; both are text.

    The labels in ``Accel X = 1, Y = 2 m/s^2`` are ``Accel X`` and ``Accel Y [m/s^2]``.
    """
    numbers = list(_NUMBER.finditer(line))
    ends = [0, *(number.end() for number in numbers)]
    between = [line[end : next_.start()] for end, next_ in zip(ends, numbers)] + [line[ends[-1] :]]
    labelled: list[tuple[str, str]] = []
    for number, preceding, following in zip(numbers, between, between[1:]):
        label = _plain(_SEPARATORS.split(preceding)[-1] if labelled else preceding, labelled)
        # The first number is a time if it has a unit but no label.
        unit = _unit(_SEPARATORS.split(following)[0]) if label or not labelled else ""
        labelled.append((f"{label or 'time'} [{unit}]" if unit else label, number[0]))
    return labelled


def _unit(text):
    """Return the unit at the beginning of a text; empty if there is none."""
    word = (text.split() or [""])[0].strip("[]():=")
    return word if canonical_unit(word) not in ("", "1") else ""


def _plain(label, previous):
    """Return a label without punctuation; a lone axis is completed from the previous label."""
    words = label.strip(" \t:=->[]()").split()
    if previous and len(words) > 1 and _unit(words[0]):
        words = words[1:]  # the first word is the unit of the previous number
    label = " ".join(words)
    last = _AXIS.fullmatch(previous[-1][0].partition(" [")[0]) if previous else None
    is_axis_letter = len(label) == 1 and _AXIS.fullmatch(label)
    return f"{last[1]}{label}" if last and last[1] and is_axis_letter else label


def _is_label(name) -> bool:
    return any(letter.isalpha() for letter in name)


_END = "---"
_LONGEST_LIST = 9  # largest number of list elements that are read: a 3 x 3 matrix


def read_echoed(path) -> dict[str, pd.DataFrame]:
    """Read messages that ``rostopic echo`` or ``ros2 topic echo`` printed.

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
        There are too few messages, or a line is not a field of a message.
    """
    rows: list[dict[str, float]] = [{}]
    within: list[tuple[int, str]] = []
    for number, line in enumerate(text_lines(text_blocks(path)), 1):
        text = line.strip()
        if text == _END:
            within = []
            rows += [{}] if rows[-1] else []
            continue
        if not text or text.startswith(("#", "-", "...")):
            continue  # elements of lists with one element per line are ignored
        name, colon, value = text.partition(":")
        if not colon:
            raise RecordingError(
                f"{path}: line {number} is not a message field, expected the output of rostopic "
                f"echo: lines such as x: 0.1, and {_END} between messages"
            )
        indent = len(line) - len(line.lstrip())
        while within and within[-1][0] >= indent:
            within.pop()
        within.append((indent, name.strip("\"'")))
        rows[-1].update(_numbers(".".join(part for _, part in within), value.strip()))
    complete_rows = [row for row in rows if len(row) == len(rows[0])]
    if len(complete_rows) < MINIMUM_SAMPLES:
        raise RecordingError(
            f"{path}: the number of complete messages printed by rostopic echo is "
            f"{len(complete_rows)}, expected at least {MINIMUM_SAMPLES}"
        )
    return {"messages": pd.DataFrame(complete_rows)}


def _numbers(name, value):
    """Yield the column and number of a field, or of each list element; texts are skipped."""
    parts = {name: value}
    if value.startswith("["):
        elements = value.strip("[]").split(",")[:_LONGEST_LIST]
        parts = {f"{name}[{place}]": element for place, element in enumerate(elements)}
    for column, text in parts.items():
        try:
            yield column, float(text)
        except ValueError:
            continue


_USUAL = {
    "IMU": "GyrX GyrY GyrZ AccX AccY AccZ",
    "ATT": "DesRoll Roll DesPitch Pitch DesYaw Yaw",
    "GPS": "Status GMS GWk NSats HDop Lat Lng Alt Spd GCrs",
}
"""Fields after the time and the optional instance in an ArduPilot log without FMT lines."""
_WITH_INSTANCE = {"IMU": 15, "GPS": 14}  # smallest number of fields of messages with an instance


def read_tagged(path) -> dict[str, pd.DataFrame]:
    """Read lines with a cell that states their record type, such as ``imu,0.1,0.2``.

    Comments such as ``# imu,time,x`` or a header name the columns.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    dict of str to DataFrame
        Table by record type.

    Raises
    ------
    RecordingError
        There are too few lines of each record type.
    """
    rows: dict[str, list[str]] = collections.defaultdict(list)
    names: dict[str, list[str]] = {}
    header: list[str] = []
    place = -1
    for text in text_lines(text_blocks(path)):
        cells = tag_cells(text)
        if text.startswith(TAG_COMMENTS):
            # Words may precede the names: % Gyroscope data: 'GYRO;time(s);x(rad/s)'
            names[re.split(r"\W+", cells[0])[-1]] = [cell.strip("'") for cell in cells[1:]]
            continue
        if place < 0:
            place, header = tag_place(cells)
            if header:
                continue
        if 0 <= place < len(cells):
            rows[cells.pop(place)].append("\t".join(cells))
    tables = {}
    for name, lines in rows.items():
        column_names = names.get(name) or header or _usual_names(name, lines, place)
        column_names = column_names[: 1 + int(np.median([line.count("\t") for line in lines]))]
        complete_lines = [
            line.split("\t")[: len(column_names)]
            for line in lines
            if line.count("\t") >= len(column_names) - 1
        ]
        if name and len(complete_lines) >= MINIMUM_SAMPLES:
            table = pd.DataFrame(complete_lines, columns=distinct_names(column_names)[0]).apply(
                as_numbers
            )
            source = table.iloc[:, 0]
            if pd.api.types.is_numeric_dtype(source) or source.nunique() > _SOURCES:
                tables[name] = table
                continue
            # A smartphone records fixes of several sources: the receiver, and a fused estimate.
            for provider, part in table.groupby(column_names[0]):
                tables[f"{name} {provider}"] = part.reset_index(drop=True)
    if not tables:
        raise RecordingError(
            f"{path}: each record type occurs in fewer than {MINIMUM_SAMPLES} lines, "
            f"expected at least {MINIMUM_SAMPLES} lines of one type"
        )
    return tables


_SOURCES = 4  # largest number of position sources of a smartphone


def _usual_names(name, lines, place):
    """Return names for the columns of lines without a header."""
    width = 1 + int(np.median([line.count("\t") for line in lines]))
    first = pd.to_numeric(pd.Series([line.partition("\t")[0] for line in lines]), errors="coerce")
    if name in _USUAL and not place and first.is_monotonic_increasing and first.nunique() > 1:
        instance = ["I"] * (width >= _WITH_INSTANCE.get(name, width + 1))
        return ["time", *instance, *_USUAL[name].split()]
    return [f"col{k}" for k in range(1, width + 2) if k != place + 1]
