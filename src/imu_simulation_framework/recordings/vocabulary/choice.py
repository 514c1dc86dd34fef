"""Choice of the columns of a table, for a reference and an IMU, by their names.

The names state quantity, axis and perhaps unit. Where they leave the unit or the order open, the
numbers decide if they are conclusive; otherwise the possible lines of a column map are kept, since
a missing column is reported and a wrong one silently leads to a wrong result. A few thousand rows,
spread over the table, serve as a sample.

- Quaternion numbered from 0 or 1: w is the part with which the quaternion turns as the gyroscope
  does; without a gyroscope, the first part, with a remark.
- Euler angles x, y, z: the heading is the angle that turns about the vertical as the gyroscope
  does; if it is x, as from a BNO055, it is clockwise. Without a gyroscope, it is the only angle
  from 0 to 360.
- Quaternion and angles that turn differently: the quaternion if the gyroscope turns as it does,
  otherwise the angles.
- ``x [m/s^2]``, ``x [rad/s]``: the unit states the quantity, also in a separate line; of x, y, z
  without a unit the name of the file does, ``Gyroscope.csv``.
- ``time_us`` with steps of 20 s in microseconds: the name states a wrong unit. The column is not
  used as the time, and the unit that fits is reported.
- Times as large as counts since 1970, with steps longer than 0.25 s between samples of an IMU or a
  date before 2004, count from the start of a device.
- Several clocks of a receiver and of a computer: the clock of the computer, unless it has one time
  for several samples with different stamps. Of two clocks, the one that does not overflow.
- Rates without a unit: an orientation or turns of gravity decide, or the name ``angular_velocity``,
  rad/s as in sensor_msgs/Imu. Otherwise the unit is open.
- Whole numbers as rates may be deg/s, mrad/s or counts. They need an orientation for comparison;
  without one, write the number of the data sheet, ``gyro_z = gz / 131 [deg/s]``.
- Whole numbers with 16384, 8192, 4096 or 2048 per g are counts, ``az / 16384 [g]``. With about 1000
  per g they are mg, or hundredths of m/s^2 as from a BNO055, ``az / 100 [m/s^2]``: the nearer one.
  They differ by 2 %, and the report names both.
- Quaternion of length 1000, 10000, 2^14 or 2^30: counts, ``qw / 16384 [1]``.
- Accelerations whose length is gravity divided by the rate are changes of velocity from sample to
  sample, ``acc_z * 100 [m/s^2]``. The gyroscope then has changes of angle, whose unit is open.
- ``angular_velocity`` of a steady length in changing directions is a magnetic field under a wrong
  name and left out.
- ``vx``, ``vy`` next to positions without a heading are used if they point where the positions go.
  Velocities of the body, and velocities next to a heading, are left out with a remark.
- ``heading`` next to fixes and a speed is the course of the receiver if it is constant while the
  robot is slow, or impossible where it is unknown (-3000); otherwise the heading of two antennas.
- Latitude and longitude both 0, if most are elsewhere, are no fix.
- Tables without names of ``ros2 topic echo --csv``, with Imu, Odometry or PoseStamped, have 40, 89
  or 10 columns, the third of text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping, Sequence

import numpy as np

from .candidates import best_scalar, quaternions, vectors, with_a_time
from .imu_columns import choose_imu_columns
from .orientations import with_euler_angles
from .reference_columns import choose_reference_columns, place_lines, with_courses
from .times import FIX_STEPS, IMU_STEPS, clause_on_time, find_time, possible_times


@dataclass
class ColumnMaps:
    """Column maps that fit the columns of a table, with reasons.

    Parameters
    ----------
    reference, imu : dict
        Quantity -> ``column [unit]``. Empty if the table has none; that of an IMU may lack the
        time, which only an Allan analysis can do without.
    time : str
        Column of the time with its unit, even if it is in no map; empty if none.
    reasons : list of str
        A sentence for each decision.
    unused : list of str
        Columns that are in neither map.
    layout : str
        Name of the layout of the table; empty if none is known.
    open_columns, open_reference : dict
        Quantity of the IMU and of the reference -> possible lines of its map, where names and
        numbers leave column or unit open.
    """

    reference: dict[str, str] = field(default_factory=dict)
    imu: dict[str, str] = field(default_factory=dict)
    time: str = ""
    reasons: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    layout: str = ""
    open_columns: dict[str, list[str]] = field(default_factory=dict)
    open_reference: dict[str, list[str]] = field(default_factory=dict)


def describe_open_columns(open_columns: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a sentence for each quantity whose column or unit is open.

    Parameters
    ----------
    open_columns : mapping of str to sequence of str
        Quantity -> possible lines of its map.

    Returns
    -------
    list of str
        Sentences.
    """
    return [
        f"{quantity} is open, state it in a column map: "
        + " or ".join(f"{quantity} = {line}" for line in lines)
        for quantity, lines in open_columns.items()
    ]


def choose_columns(candidates, pieces=None, spans=()) -> ColumnMaps:
    """Choose the columns of a table by their names.

    Parameters
    ----------
    candidates : list of Candidate
        Columns with the meanings of their names.
    pieces : array_like, shape (n,), optional
        Piece of the recording of each row, if only some rows are given.
    spans : sequence of tuple of float
        First and last time [s] of the clocks of another table, which may share one of them.

    Returns
    -------
    ColumnMaps
        Chosen columns, open quantities and reasons.
    """
    rows = len(candidates[0].values) if candidates else 0
    pieces = np.zeros(rows, dtype=int) if pieces is None else np.asarray(pieces)
    maps, used = ColumnMaps(), set()
    if rows >= _MIN_ROWS and any(candidate.meaning for candidate in candidates):
        used = _choose_by_names(maps, with_a_time(candidates), pieces, spans)
    places = {candidate.place for candidate in used}
    maps.unused = [c.name for c in candidates if c.place not in places]
    if not maps.reference and not maps.imu:
        maps.reasons.append("no columns with names of a reference or an IMU")
    return maps


def _choose_by_names(maps, candidates, pieces, spans):
    """Fill column maps; return the set of the candidates in them."""
    is_inertial = bool(vectors(candidates, "gyro", "") or vectors(candidates, "accel", ""))
    is_inertial = is_inertial or _is_orientation_alone(candidates)
    usual = IMU_STEPS if is_inertial else FIX_STEPS
    time, remarks = find_time(candidates, pieces, usual, spans)
    maps.reasons += remarks
    seconds = time.seconds if time else np.full(len(pieces), np.nan)
    if time:
        maps.time = time.written
        maps.reasons.append(f"time: {time.reason}")
    else:
        _leave_time_open(maps, candidates, pieces, usual, is_inertial)
    candidates = with_euler_angles(candidates, seconds, pieces, maps.reasons)
    positions = _kind_of_positions(candidates)
    if positions == "fixes":
        candidates = with_courses(candidates, seconds, pieces, maps.reasons)
    imu = choose_imu_columns(candidates, seconds, pieces, positions, maps.reasons)
    if time and imu.open_columns and not imu.columns:
        maps.open_columns["time"] = [time.written]
    maps.open_columns.update(imu.open_columns)
    if imu.columns:
        maps.imu = {"time": time.written, **imu.columns} if time else imu.columns
    if time is None:
        return imu.used
    others = [column for column in candidates if column not in imu.orientation]
    reference = choose_reference_columns(others, seconds, pieces, maps.reasons)
    maps.open_reference = reference.open_columns
    if reference.columns:
        maps.reference = {"time": time.written, **reference.columns}
    elif reference.open_columns:
        maps.open_reference = {"time": [time.written], **reference.open_columns}
    used = imu.used | reference.used
    return used | set(time.columns) if used else used


def _kind_of_positions(candidates) -> str:
    if best_scalar(candidates, "latitude"):
        return "fixes"
    return "poses" if vectors(candidates, "position", "xy") else ""


def _is_orientation_alone(candidates) -> bool:
    """Return whether a table has an orientation and no positions, as that of an IMU."""
    if _kind_of_positions(candidates):
        return False
    has_angles = best_scalar(candidates, "roll") or vectors(candidates, "euler", "xyz")
    return bool(quaternions(candidates) or has_angles)


def _leave_time_open(maps, candidates, pieces, usual, is_inertial):
    lines = possible_times(candidates, pieces, usual)
    maps.reasons.append(
        "no column could be identified as the time, so that there is no reference, and the "
        f"IMU is only of use for an Allan analysis with its rate; {clause_on_time(lines)}"
    )
    if _kind_of_positions(candidates):
        maps.open_reference = {"time": lines, **place_lines(candidates, pieces)}
    if is_inertial:
        maps.open_columns["time"] = lines


_MIN_ROWS = 3  # of a table of which columns are chosen; steps between rows need some

PIECES, ROWS = 8, 1000
"""Number of pieces of a long table that serve as a sample, and rows of each. A piece of 1000 rows
lasts ten seconds at 100 Hz, in which a robot turns."""


def pieces_of(count):
    """Return rows of pieces that are spread over a table, and the piece of each row.

    Parameters
    ----------
    count : int
        Number of rows of the table.

    Returns
    -------
    rows, pieces : ndarray, shape (n,)
        Row numbers, and numbers of their pieces.
    """
    if count <= PIECES * ROWS:
        return np.arange(count), np.zeros(count, dtype=int)
    starts = np.linspace(0, count - ROWS, PIECES).astype(int)
    rows = (starts[:, None] + np.arange(ROWS)).ravel()
    return rows, np.repeat(np.arange(PIECES), ROWS)
