"""Choose the columns of a reference and an IMU in a table by name.

The names state quantity and axis, and often the unit. If they do not determine the unit or the
order, the values are used if they are conclusive. If they are not, all possible lines of a column
map are reported, since a missing column is noticed, whereas a wrong column silently leads to a
wrong result. A few thousand rows, spread over the table, are used as a sample.

- Quaternion with components numbered from 0 or 1: w is the component for which the turns of the
  quaternion agree with the gyroscope; without a gyroscope, it is the first component, with a
  remark.
- Euler angles x, y, z: the heading is the angle whose turns agree with the gyroscope about the
  vertical; if it is x, as from a BNO055, it is clockwise. Without a gyroscope, it is the only angle
  from 0 to 360.
- Quaternion and angles with different turns: the quaternion is used if it agrees with the
  gyroscope, and the angles are used if it does not.
- ``x [m/s^2]``, ``x [rad/s]``: the unit determines the quantity, also in a separate line. For x, y,
  z without a unit, the name of the file determines it, such as ``Gyroscope.csv``.
- ``time_us`` with steps of 20 s in microseconds: the name states a wrong unit. The column is not
  used as the time, and the unit that fits is reported.
- Times as large as counts since 1970 are counted from the start of a device if the steps of an IMU
  are longer than 0.25 s, or if the date is before 2004.
- Clocks of a receiver and of a computer: the clock of the computer is used, unless it has the same
  time for several samples with different stamps. If one of two clocks overflows, the other is used.
- Rates without a unit: an orientation or turns of gravity determine the unit, or the name
  ``angular_velocity``, which is in rad/s as in sensor_msgs/Imu. In all other cases, the unit is
  undetermined.
- Integer rates may be in deg/s, mrad/s or counts. An orientation is required to determine the unit;
  without one, state the number of the data sheet, ``gyro_z = gz / 131 [deg/s]``.
- Integers with 16384, 8192, 4096 or 2048 per g are counts, ``az / 16384 [g]``. With about 1000 per
  g, they are either mg, or hundredths of m/s^2 as from a BNO055, ``az / 100 [m/s^2]``. The nearer
  unit is used; the two differ by 2 %, and the report lists both.
- Quaternion with a norm of 1000, 10000, 2^14 or 2^30: counts, ``qw / 16384 [1]``.
- Accelerations whose magnitude is gravity divided by the sample rate are velocity increments,
  ``acc_z * 100 [m/s^2]``. The gyroscope then outputs angle increments with an undetermined unit.
- ``angular_velocity`` with a steady magnitude in changing directions is a magnetic field with a
  wrong name, and is ignored.
- ``vx``, ``vy`` next to positions without a heading are used if they agree with the direction of
  the path. Velocities in the body frame, and velocities next to a heading, are ignored with a
  remark.
- ``heading`` next to fixes and a speed is the course of the receiver if it is constant while the
  robot is slow, or has impossible values such as -3000 where it is unknown. In all other cases, it
  is the heading of two antennas.
- Latitude and longitude that are both 0 mean that there is no fix, if most positions are elsewhere.
- Tables without column names from ``ros2 topic echo --csv``, with Imu, Odometry or PoseStamped, are
  recognised by their 40, 89 or 10 columns, of which the third is text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping, Sequence

import numpy as np

from .candidates import add_time_column, best_scalar, quaternions, vectors
from .imu_columns import choose_imu_columns
from .orientations import with_euler_angles
from .reference_columns import choose_reference_columns, place_lines, with_courses
from .times import FIX_STEPS, IMU_STEPS, clause_on_time, find_time, possible_times


@dataclass
class ColumnMaps:
    """Column maps chosen for a table, with reasons.

    Parameters
    ----------
    reference, imu : dict
        Quantity -> ``column [unit]``. Empty if the table has no such columns. The time may be
        missing for an IMU; then only an Allan analysis is possible.
    time : str
        Time column with its unit, even if no map contains it; empty if there is none.
    reasons : list of str
        One message per decision.
    unused : list of str
        Columns that are in neither map.
    layout : str
        Name of the layout of the table; empty if it has no known layout.
    open_columns, open_reference : dict
        Quantity of the IMU and of the reference -> possible lines of the map, if names and values
        do not determine column or unit.
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
    """Describe each quantity whose column or unit is undetermined.

    Parameters
    ----------
    open_columns : mapping of str to sequence of str
        Quantity -> possible lines of the map.

    Returns
    -------
    list of str
        Messages for the user.
    """
    return [
        f"{quantity} is undetermined; state it in a column map: "
        + " or ".join(f"{quantity} = {line}" for line in lines)
        for quantity, lines in open_columns.items()
    ]


def choose_columns(candidates, pieces=None, spans=()) -> ColumnMaps:
    """Choose the columns of a table by name.

    Parameters
    ----------
    candidates : list of Candidate
        Columns with the meanings of their names.
    pieces : array_like, shape (n,), optional
        Index of the excerpt of the recording to which each row belongs, if the
        candidates contain only some rows.
    spans : sequence of tuple of float
        First and last time [s] of the clocks of another table, which may have a common clock.

    Returns
    -------
    ColumnMaps
        Chosen columns, undetermined quantities and reasons.
    """
    rows = len(candidates[0].values) if candidates else 0
    pieces = np.zeros(rows, dtype=int) if pieces is None else np.asarray(pieces)
    maps, used = ColumnMaps(), set()
    if rows >= _MIN_ROWS and any(candidate.meaning for candidate in candidates):
        used = _choose_by_names(maps, add_time_column(candidates), pieces, spans)
    places = {candidate.place for candidate in used}
    maps.unused = [c.name for c in candidates if c.place not in places]
    if not maps.reference and not maps.imu:
        maps.reasons.append("no column has a known name of a reference or an IMU")
    return maps


def _choose_by_names(maps, candidates, pieces, spans):
    """Add columns to the maps, and return the set of candidates that they contain."""
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
        _list_possible_times(maps, candidates, pieces, usual, is_inertial)
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
    """Return whether a table has an orientation but no positions, as expected for an IMU."""
    if _kind_of_positions(candidates):
        return False
    has_angles = best_scalar(candidates, "roll") or vectors(candidates, "euler", "xyz")
    return bool(quaternions(candidates) or has_angles)


def _list_possible_times(maps, candidates, pieces, usual, is_inertial):
    lines = possible_times(candidates, pieces, usual)
    maps.reasons.append(
        "no column could be identified as the time, so there is no reference, and the IMU can "
        f"only be used for an Allan analysis with a stated rate; {clause_on_time(lines)}"
    )
    if _kind_of_positions(candidates):
        maps.open_reference = {"time": lines, **place_lines(candidates, pieces)}
    if is_inertial:
        maps.open_columns["time"] = lines


_MIN_ROWS = 3  # smallest number of rows of a table, since differences between rows are evaluated

PIECES, ROWS = 8, 1000
"""Number of excerpts that represent a long table, and number of rows per excerpt.

An excerpt of 1000 rows lasts ten seconds at 100 Hz, during which a robot turns."""


def pieces_of(count):
    """Return the row indices of excerpts spread over a table, and the excerpt of each row.

    Parameters
    ----------
    count : int
        Number of rows of the table.

    Returns
    -------
    rows, pieces : ndarray, shape (n,)
        Indices of the rows and of their excerpts.
    """
    if count <= PIECES * ROWS:
        return np.arange(count), np.zeros(count, dtype=int)
    starts = np.linspace(0, count - ROWS, PIECES).astype(int)
    rows = (starts[:, None] + np.arange(ROWS)).ravel()
    return rows, np.repeat(np.arange(PIECES), ROWS)
