"""Which mapped columns a recording can use; what is mapped and of no use is refused by name."""

from __future__ import annotations

from imu_simulation_framework.columns import ACCEL, EULER, GYRO, MAG, QUATERNION
from imu_simulation_framework.errors import RecordingError
from imu_simulation_framework.recordings.columns.quantities import QUANTITIES, USES
from imu_simulation_framework.recordings.samples import (
    GLOBAL_POSITION,
    POSITION,
    VARIANCES,
    VELOCITY,
)
from imu_simulation_framework.sentences import listed

_POSES = (POSITION + ("yaw",), POSITION + QUATERNION)
_REFERENCE = (*_POSES, GLOBAL_POSITION, POSITION)
_IMU = (QUATERNION, EULER, ("yaw",), GYRO, ACCEL)
_PLACES_ALOFT = ((*GLOBAL_POSITION, "altitude"), (*POSITION, "z"))
_OTHERS = {
    "flight": tuple((*place, *lie) for place in _PLACES_ALOFT for lie in (QUATERNION, EULER)),
    "magnetometer": (MAG,),
    "thermometer": (("temperature",),),
}
_TOGETHER = (QUATERNION, VARIANCES, ("speed", "course"), VELOCITY)
_EITHER = ((QUATERNION, ("yaw",)), (("speed",), ("velocity_east",)))
_NOT_NEEDED = {"poses": ("z", "roll", "pitch"), "positions": ("z",)}


def usable_columns(path, columns, purpose, present, explicit, timed=True):
    """Return the mapped columns that can be used.

    Parameters
    ----------
    path : path-like
        For messages.
    columns : list of MappedColumn
    purpose : str
        ``reference``, ``IMU``, ``flight``, ``magnetometer`` or ``thermometer``.
    present : sequence of str
        The file's columns, for messages.
    explicit : bool
        Whether a person wrote the map; only then something that cannot be used is refused,
        otherwise it is left out.
    timed : bool
        Whether there must be times.

    Raises
    ------
    RecordingError
        What must be there is missing, or something of no use is mapped.
    """
    names = [column.quantity.target for column in columns]
    kind = _kind(names, purpose)
    if kind is None or (timed and "time" not in names):
        expected = " or ".join(" ".join(group) for group in _needed(purpose))
        found = " ".join(column.quantity.name for column in columns) or "none"
        if kind is not None:
            found += " but no time"
        raise RecordingError(
            f"{path}: expected columns for time and {expected}, found {found}; "
            f"map them, the file's columns are {listed(present)}"
        )
    useless = _useless(names, kind)
    if explicit and useless:
        name, reason = next(iter(useless.items()))
        given = next(c.quantity.name for c in columns if c.quantity.target == name)
        raise RecordingError(
            f"{path}: the column map gives {given}, {reason}; leave it out of the map"
        )
    useless.update(() if explicit else dict.fromkeys(_NOT_NEEDED.get(kind, ()), ""))
    return [column for column in columns if column.quantity.target not in useless]


def _needed(purpose):
    if purpose in _OTHERS:
        return _OTHERS[purpose]
    return _REFERENCE if purpose == "reference" else _IMU


def _kind(names, purpose):
    """``poses``, ``fixes`` or ``IMU``; None if nothing is complete."""
    if purpose in _OTHERS:
        return purpose if any(_has(names, group) for group in _OTHERS[purpose]) else None
    if purpose == "IMU":
        single = any(name in names for name in GYRO + ACCEL)
        return "IMU" if single or any(_has(names, group) for group in _IMU) else None
    if any(_has(names, group) for group in _POSES):
        return "poses"
    if _has(names, GLOBAL_POSITION):
        return "fixes"
    return "positions" if _has(names, POSITION) else None


def _useless(names, kind):
    """Return columns of no use -> why."""
    usable = {QUANTITIES[name].target for name in USES[kind]}
    useless = {
        name: f"of which {_of(kind)} can make no use" for name in names if name not in usable
    }
    for group in _TOGETHER:
        lacking = [name for name in group if name not in names]
        if lacking:
            for name in group:
                if name in names:
                    useless.setdefault(name, f"which is of use only with {', '.join(lacking)}")
    for first, second in _EITHER:
        if _has(names, first) and _has(names, second):
            useless.setdefault(
                second[0], f"which is given by {', '.join(first)} as well; expected one of them"
            )
    angles = [name for name in ("roll", "pitch") if name in names]
    if kind == "IMU" and angles and not _has(names, EULER):
        for name in angles:
            useless.setdefault(name, "which is of use only with roll, pitch and yaw together")
    return useless


def _of(kind):
    if kind in _OTHERS:
        return f"a {kind}"
    return "an IMU" if kind == "IMU" else f"a reference of {kind}"


def _has(names, group):
    return all(name in names for name in group)
