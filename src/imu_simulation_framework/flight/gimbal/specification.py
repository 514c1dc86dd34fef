"""Gimbal specifications: geometry, joint limits and joint drive, also as YAML files.

The joints are fixed, follow a sine or a table, or are stabilised. Times are relative to the start
of the motion.

The keys of a YAML file are the fields of :class:`.GimbalGeometry`, the drive of the joints, and the
joint limits. :func:`.gimbal_from_mapping` and the classes named there document the keys and their
units::

    pan_to_tilt: [0.0, 0.0, -0.1]
    tilt_to_roll: [0.1, 0.0, 0.0]
    limits: {pan: [-3.0, 3.0], tilt: [-1.2, 1.2], roll: [-0.8, 0.8]}
    stabilisation:
      hold: {roll: 0.0, pitch: 0.0}
      bandwidth: 3.0
      servo_bandwidth: 20.0
      rate_limits: [2.0, 2.0, 2.0]

A table of joint angles is a CSV file in the same folder, ``table: angles.csv``, with the columns
``time`` [s, since the start of the motion], ``pan``, ``tilt`` and ``roll`` [rad].
"""

from __future__ import annotations

import math
import os
from dataclasses import asdict, dataclass, fields
from typing import Any, Mapping, Sequence, Union

import numpy as np
from scipy.interpolate import CubicSpline

from ...core.checks import (
    Axes,
    check_keys,
    check_number,
    check_numbers,
    check_part,
    check_text,
    require_increasing,
)
from ...core.errors import ConfigurationError, MotionError, ResultError, prefix_errors
from ...core.sentences import quote
from ...core.settings import Settings, from_mapping, setting, to_mapping
from ...core.tables import read_csv
from ...core.yaml_files import find_description, read_description
from .geometry import JOINTS, GimbalGeometry, JointMotion
from .stabilisation import HeldAttitude, PointAhead, PointOnEarth, Stabilisation

_ZERO = (0.0, 0.0, 0.0)
_LARGEST_ANGLE = 100.0 * 2.0 * math.pi
_TIME_ROUNDING = 1e-6  # s; rounding tolerance for the first and last time of a table


@dataclass(frozen=True)
class FixedJoints(Settings):
    """Joints with constant angles.

    Attributes
    ----------
    angles : tuple of float
        Angles of pan, tilt and roll [rad].
    """

    angles: Axes = setting(_ZERO, check_numbers, count=3, maximum=_LARGEST_ANGLE)

    @property
    def reach(self) -> tuple[tuple[float, float], ...]:
        """Smallest and largest angle that each joint reaches [rad]."""
        return tuple((angle, angle) for angle in self.angles)

    def joints(self, time: np.ndarray) -> JointMotion:
        """Return the motion of the joints.

        Parameters
        ----------
        time : ndarray, shape (n,)
            Times [s].

        Returns
        -------
        JointMotion
            Constant angles.
        """
        zeros = np.zeros((len(time), 3))
        return JointMotion(time, zeros + self.angles, zeros, zeros)


@dataclass(frozen=True)
class SinusoidalJoints(Settings):
    r"""Joints with sinusoidal angles :math:`o + A \sin(2 \pi t / P + \varphi)`.

    Attributes
    ----------
    amplitudes : tuple of float
        Amplitudes A of pan, tilt and roll [rad].
    periods : tuple of float
        Periods P [s].
    offsets, phases : tuple of float
        Offsets o and phases :math:`\varphi` [rad].
    """

    amplitudes: Axes = setting(_ZERO, check_numbers, count=3, minimum=0.0, maximum=_LARGEST_ANGLE)
    periods: Axes = setting((4.0, 6.0, 10.0), check_numbers, count=3, minimum=1e-3, maximum=1e6)
    offsets: Axes = setting(_ZERO, check_numbers, count=3, maximum=_LARGEST_ANGLE)
    phases: Axes = setting(_ZERO, check_numbers, count=3, maximum=_LARGEST_ANGLE)

    @property
    def reach(self) -> tuple[tuple[float, float], ...]:
        """Smallest and largest angle that each joint reaches [rad]."""
        return tuple((o - a, o + a) for o, a in zip(self.offsets, self.amplitudes))

    def joints(self, time: np.ndarray) -> JointMotion:
        """Return the motion of the joints.

        Parameters
        ----------
        time : ndarray, shape (n,)
            Times [s].

        Returns
        -------
        JointMotion
            Angles and their derivatives in closed form.
        """
        pulsation = 2.0 * np.pi / np.array(self.periods)
        size = np.array(self.amplitudes)
        phase = np.outer(time - time[0], pulsation) + self.phases
        sine, cosine = size * np.sin(phase), pulsation * size * np.cos(phase)
        return JointMotion(time, self.offsets + sine, cosine, -(pulsation**2) * sine)


def _check_list(name: str, value: Any) -> list | tuple:
    values = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(values, (list, tuple)):
        raise ConfigurationError(f"{name} is {quote(value)}, expected a list")
    return values


def _checked_times(name: str, value: Any) -> tuple[float, ...]:
    times = tuple(check_number(name, time) for time in _check_list(name, value))
    require_increasing(name, tuple(zip(times, times)))
    return times


def _checked_angles(name: str, value: Any) -> tuple[Any, ...]:
    rows = _check_list(name, value)
    return tuple(check_numbers(name, row, 3, maximum=_LARGEST_ANGLE) for row in rows)


@dataclass(frozen=True)
class TabulatedJoints(Settings):
    """Joints that follow cubic splines through tabulated angles.

    Attributes
    ----------
    times : tuple of float
        At least two increasing times [s].
    angles : tuple of tuple of float
        Angles of pan, tilt and roll at each time [rad].
    source : str
        Name of the table in error messages.
    """

    times: tuple[float, ...] = setting(check=_checked_times)
    angles: tuple[Axes, ...] = setting(check=_checked_angles)
    source: str = setting("the table")

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.times) < 2 or len(self.times) != len(self.angles):
            raise ConfigurationError(
                f"times has {len(self.times)} values and angles {len(self.angles)} rows, "
                "expected the same number, at least two"
            )

    @property
    def reach(self) -> tuple[tuple[float, float], ...]:
        """Smallest and largest angle that each joint reaches [rad]."""
        return tuple((min(column), max(column)) for column in zip(*self.angles))

    def joints(self, time: np.ndarray) -> JointMotion:
        """Return the motion of the joints.

        Parameters
        ----------
        time : ndarray, shape (n,)
            Times [s].

        Returns
        -------
        JointMotion

        Raises
        ------
        MotionError
            The table does not cover all times.
        """
        elapsed = time - time[0]
        first, last = self.times[0], self.times[-1]
        if first > _TIME_ROUNDING or elapsed[-1] > last + _TIME_ROUNDING:
            raise MotionError(
                f"{self.source}: the joint angles are from {first:g} s to {last:g} s, expected "
                f"from 0 s to {elapsed[-1]:g} s after the start of the motion"
            )
        path, clipped_times = CubicSpline(self.times, self.angles), np.clip(elapsed, first, last)
        return JointMotion(
            time, path(clipped_times), path(clipped_times, 1), path(clipped_times, 2)
        )


Drive = Union[FixedJoints, SinusoidalJoints, TabulatedJoints, Stabilisation]

_NO_ARMS = GimbalGeometry()
_FIXED = FixedJoints()
_UNLIMITED = (-math.inf, math.inf)
_TILT_LIMIT = 0.5 * math.pi


@dataclass(frozen=True)
class GimbalSpecification:
    """Specification of a gimbal; the default, with fixed joints and without arms, has no effect.

    Attributes
    ----------
    name : str
    geometry : GimbalGeometry
    drive : FixedJoints, SinusoidalJoints, TabulatedJoints or Stabilisation
        Drive of the joints.
    limits : sequence of (float or None, float or None) or None
        Smallest and largest angle of pan, tilt and roll [rad]. None means no limit, or 90 degrees
        for the tilt. A joint with identical limits cannot move.

    Raises
    ------
    ConfigurationError
        A value is invalid, or prescribed angles exceed the limits.
    """

    name: str = "gimbal"
    geometry: GimbalGeometry = _NO_ARMS
    drive: Drive = _FIXED
    limits: Any = (None, None, None)

    def __post_init__(self) -> None:
        check_text("name", self.name, needed=True)
        check_part("geometry", self.geometry, GimbalGeometry)
        if not isinstance(self.limits, (list, tuple)) or len(self.limits) != 3:
            raise ConfigurationError(
                f"limits is {quote(self.limits)}, expected three pairs of angles for pan, tilt and "
                "roll"
            )
        limits = tuple(_check_limits(joint, pair) for joint, pair in zip(JOINTS, self.limits))
        object.__setattr__(self, "limits", limits)
        if isinstance(self.drive, Stabilisation):
            return
        if not isinstance(self.drive, (FixedJoints, SinusoidalJoints, TabulatedJoints)):
            raise ConfigurationError(
                f"drive is {quote(self.drive)}, expected joints or a stabilisation"
            )
        for joint, (low, high), (least, most) in zip(JOINTS, limits, self.drive.reach):
            if least < low or most > high:
                beyond = least if least < low else most
                raise ConfigurationError(
                    f"the gimbal exceeds its limits: the angle of {joint} is {beyond:.6g} rad, "
                    f"expected {low:.6g} rad to {high:.6g} rad"
                )


def _check_limits(joint: str, pair: Any) -> tuple[float, float]:
    least, most = (-_TILT_LIMIT, _TILT_LIMIT) if joint == "tilt" else _UNLIMITED
    if pair is None:
        return least, most
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise ConfigurationError(f"limits of {joint} are {quote(pair)}, expected two angles")
    low, high = (
        end
        if value is None or value == end
        else check_number(f"limits of {joint}", value, maximum=min(most, 1e3))
        for value, end in zip(pair, (least, most))
    )
    if not low <= high:
        raise ConfigurationError(
            f"limits of {joint} are {low:g} rad and {high:g} rad, expected the smaller angle first"
        )
    return low, high


_ARMS = [field.name for field in fields(GimbalGeometry)]
_DRIVES = ("fixed", "sinusoid", "table", "stabilisation")
_TARGETS = ("hold", "point")
_LOOP = [field.name for field in fields(Stabilisation) if field.name != "target"]


def gimbal_from_mapping(content: Mapping[str, Any]) -> GimbalSpecification:
    """Create a gimbal specification from a mapping; missing keys have default values.

    Parameters
    ----------
    content : mapping
        Fields of :class:`.GimbalGeometry`, ``name``, ``limits`` (``pan``, ``tilt``, ``roll``: pairs
        of angles), and at most one drive: ``fixed`` (angles), ``sinusoid`` (fields of
        :class:`.SinusoidalJoints`), ``table`` (a :class:`.TabulatedJoints` or its fields) or
        ``stabilisation`` (fields of :class:`.Stabilisation`). The target of a stabilisation is
        ``hold`` with fields of :class:`.HeldAttitude`, or ``point`` with fields of
        :class:`.PointAhead` or :class:`.PointOnEarth`.

    Returns
    -------
    GimbalSpecification

    Raises
    ------
    ConfigurationError
        A key is unknown, or a value is invalid.
    """
    check_keys(content, ["name", *_ARMS, "limits", *_DRIVES], "the gimbal")
    values: dict[str, Any] = {"name": content["name"]} if "name" in content else {}
    values["geometry"] = GimbalGeometry(**{key: content[key] for key in _ARMS if key in content})
    drive = _single_key(content, _DRIVES, "the gimbal")
    if drive is not None:
        values["drive"] = _read_drive(drive, content[drive])
    if "limits" in content:
        check_keys(content["limits"], JOINTS, "limits")
        values["limits"] = tuple(content["limits"].get(joint) for joint in JOINTS)
    return GimbalSpecification(**values)


def _single_key(content: Any, keys: Sequence[str], where: str) -> str | None:
    """Return the only key in ``keys`` that a mapping contains, or None; reject several keys."""
    present = [key for key in keys if key in content]
    if len(present) > 1:
        raise ConfigurationError(
            f"{where} has {' and '.join(present)}, expected at most one of them"
        )
    return present[0] if present else None


def gimbal_to_mapping(gimbal: GimbalSpecification) -> dict[str, Any]:
    """Convert a gimbal specification to a mapping for YAML or JSON, without default values.

    Parameters
    ----------
    gimbal : GimbalSpecification
        Gimbal to convert.

    Returns
    -------
    dict
        Content that :func:`gimbal_from_mapping` can read.
    """
    content: dict[str, Any] = {"name": gimbal.name, **to_mapping(gimbal.geometry)}
    drive = gimbal.drive
    if isinstance(drive, SinusoidalJoints):
        content["sinusoid"] = to_mapping(drive)
    elif isinstance(drive, TabulatedJoints):
        content["table"] = {**to_mapping(drive), "source": drive.source}
    elif isinstance(drive, Stabilisation):
        kind = "hold" if isinstance(drive.target, HeldAttitude) else "point"
        loop = to_mapping(drive)
        loop.pop("target", None)
        content["stabilisation"] = {kind: asdict(drive.target), **loop}
    elif any(drive.angles):
        content["fixed"] = list(drive.angles)
    default = GimbalSpecification().limits
    limits = {
        joint: [value if math.isfinite(value) else None for value in pair]
        for joint, pair, usual in zip(JOINTS, gimbal.limits, default)
        if pair != usual
    }
    if limits:
        content["limits"] = limits
    return content


def _read_drive(key: str, content: Any) -> Any:
    if key == "fixed":
        with prefix_errors("fixed: "):
            return FixedJoints(content)
    if key != "stabilisation":
        kind: Any = TabulatedJoints if key == "table" else SinusoidalJoints
        return content if isinstance(content, kind) else _create(kind, content, key)
    check_keys(content, [*_TARGETS, *_LOOP], key)
    loop = {name: value for name, value in content.items() if name not in _TARGETS}
    target = _single_key(content, _TARGETS, key)
    if target is not None:
        kind, values = PointAhead, content[target]
        if target == "hold":
            kind, values = HeldAttitude, {} if values is None else values
        elif isinstance(values, Mapping) and {"latitude", "longitude", "height"} & set(values):
            kind = PointOnEarth
        loop["target"] = _create(kind, values, f"{key}.{target}")
    with prefix_errors(f"{key}."):
        return Stabilisation(**loop)


def _create(kind: type, content: Any, where: str) -> Any:
    return from_mapping(kind, content, where, f"{where}.")


LONGEST_STEP = 10.0
"""Largest accepted ratio of a time step in a table to the median step; splines fail in gaps."""
MAX_ROWS = 1_000_000


def read_gimbal(name: str | os.PathLike[str]) -> GimbalSpecification:
    """Read a gimbal specification from a file, or by the name of a bundled gimbal.

    Parameters
    ----------
    name : str or Path
        Path of a file, or name of a file in config/gimbals, for example ``agisim``.

    Returns
    -------
    GimbalSpecification

    Raises
    ------
    ConfigurationError
        The file or its table does not exist, cannot be read or is invalid.
    """
    path = find_description(name, "gimbals", "a gimbal")

    def from_content(content: Any) -> Any:
        if isinstance(content, dict) and not isinstance(content.get("table", {}), dict):
            content["table"] = _read_table(path.parent, content["table"])
        return gimbal_from_mapping(content)

    return read_description(path, "the gimbal", from_content, named=True, may_be_empty=True)


def read_joint_table(path: str | os.PathLike[str]) -> TabulatedJoints:
    """Read joint angles from a CSV file.

    Parameters
    ----------
    path : str or Path
        File with the columns time [s], pan, tilt, roll [rad].

    Returns
    -------
    TabulatedJoints

    Raises
    ------
    ConfigurationError
        The file cannot be read, a column is missing, the time does not increase, a value is not
        finite, or a step is longer than :data:`LONGEST_STEP` median steps.
    """
    try:
        table = read_csv(path)
    except ResultError as error:
        raise ConfigurationError(f"{path}: {str(error).replace(f'{path}: ', '', 1)}.") from None
    for name in JOINTS:
        if name not in table:
            raise ConfigurationError(
                f"{path}: line 1: column {name} is missing, expected time, {', '.join(JOINTS)}"
            )
    if not 2 <= len(table) <= MAX_ROWS:
        raise ConfigurationError(
            f"{path}: the table has {len(table)} rows of angles, expected 2 to {MAX_ROWS}"
        )
    time, angles = table.index.to_numpy(), table[list(JOINTS)].to_numpy()
    invalid = np.argwhere(~np.isfinite(angles))
    if len(invalid):
        row, column = invalid[0]
        raise ConfigurationError(
            f"{path}: line {row + 2}, column {JOINTS[column]}: the angle is {angles[row, column]}, "
            "expected a finite number"
        )
    steps = np.diff(time)
    longest = int(np.argmax(steps))
    if steps[longest] > LONGEST_STEP * np.median(steps):
        raise ConfigurationError(
            f"{path}: line {longest + 3}: the step to this time is {steps[longest]:g} s, expected "
            f"at most {LONGEST_STEP:g} times the median step of {np.median(steps):g} s"
        )
    with prefix_errors(f"{path}: "):
        return TabulatedJoints(tuple(time.tolist()), tuple(map(tuple, angles.tolist())), str(path))


def _read_table(folder: Any, name: Any) -> Any:
    if not isinstance(name, str):
        raise ConfigurationError(f"table is {quote(name)}, expected the name of a file")
    return read_joint_table(folder / name)
