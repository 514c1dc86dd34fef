"""A gimbal: its geometry, how far its joints go, and what moves them; also as keys and values.

Joints move as prescribed, not at all, as sines, or along a table, or are stabilised. Times count
from the start of the motion.

In a YAML file the keys are the fields of :class:`.GimbalGeometry`, what moves the joints, and how
far they go; meaning and unit of each are documented at :func:`.gimbal_from_mapping` and the classes
there::

    pan_to_tilt: [0.0, 0.0, -0.1]
    tilt_to_roll: [0.1, 0.0, 0.0]
    limits: {pan: [-3.0, 3.0], tilt: [-1.2, 1.2], roll: [-0.8, 0.8]}
    stabilisation:
      hold: {roll: 0.0, pitch: 0.0}
      bandwidth: 3.0
      servo_bandwidth: 20.0
      rate_limits: [2.0, 2.0, 2.0]

A table that commands the joints is a CSV file beside it, ``table: angles.csv``, with columns
``time`` [s, after the start of the motion], ``pan``, ``tilt``, ``roll`` [rad].
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
_LATE = 1e-6  # s; beyond a table's end by rounding


@dataclass(frozen=True)
class FixedJoints(Settings):
    """Joints that stand.

    ``angles`` (3 float): of pan, tilt, roll [rad].
    """

    angles: Axes = setting(_ZERO, check_numbers, count=3, maximum=_LARGEST_ANGLE)

    @property
    def reach(self) -> tuple[tuple[float, float], ...]:
        """Smallest and largest angle of each joint [rad]."""
        return tuple((angle, angle) for angle in self.angles)

    def joints(self, time: np.ndarray) -> JointMotion:
        """Return the joints at times [s]."""
        still = np.zeros((len(time), 3))
        return JointMotion(time, still + self.angles, still, still)


@dataclass(frozen=True)
class SinusoidalJoints(Settings):
    r"""Joints that swing, each as :math:`o + A \sin(2 \pi t / P + \varphi)`.

    ``amplitudes`` (3 float): of pan, tilt, roll [rad]. ``periods`` (3 float) [s]. ``offsets``,
    ``phases`` (3 float) [rad].
    """

    amplitudes: Axes = setting(_ZERO, check_numbers, count=3, minimum=0.0, maximum=_LARGEST_ANGLE)
    periods: Axes = setting((4.0, 6.0, 10.0), check_numbers, count=3, minimum=1e-3, maximum=1e6)
    offsets: Axes = setting(_ZERO, check_numbers, count=3, maximum=_LARGEST_ANGLE)
    phases: Axes = setting(_ZERO, check_numbers, count=3, maximum=_LARGEST_ANGLE)

    @property
    def reach(self) -> tuple[tuple[float, float], ...]:
        """Smallest and largest angle of each joint [rad]."""
        return tuple((o - a, o + a) for o, a in zip(self.offsets, self.amplitudes))

    def joints(self, time: np.ndarray) -> JointMotion:
        """Return the joints at times [s]."""
        pulsation = 2.0 * np.pi / np.array(self.periods)
        size = np.array(self.amplitudes)
        phase = np.outer(time - time[0], pulsation) + self.phases
        sine, cosine = size * np.sin(phase), pulsation * size * np.cos(phase)
        return JointMotion(time, self.offsets + sine, cosine, -(pulsation**2) * sine)


def _listed(name: str, value: Any) -> list | tuple:
    values = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(values, (list, tuple)):
        raise ConfigurationError(f"{name} is {quote(value)}, but it must be a list.")
    return values


def _checked_times(name: str, value: Any) -> tuple[float, ...]:
    times = tuple(check_number(name, time) for time in _listed(name, value))
    require_increasing(name, tuple(zip(times, times)))
    return times


def _checked_angles(name: str, value: Any) -> tuple[Any, ...]:
    rows = _listed(name, value)
    return tuple(check_numbers(name, row, 3, maximum=_LARGEST_ANGLE) for row in rows)


@dataclass(frozen=True)
class TabulatedJoints(Settings):
    """Joints that go through given angles at given times, between them along cubic splines.

    ``times`` (sequence of n float): at least two, increasing [s]. ``angles`` (sequence of n x 3
    float): pan, tilt, roll [rad]. ``source``: where they are from, for sentences.
    """

    times: tuple[float, ...] = setting(check=_checked_times)
    angles: tuple[Axes, ...] = setting(check=_checked_angles)
    source: str = setting("the table")

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.times) < 2 or len(self.times) != len(self.angles):
            raise ConfigurationError(
                f"times has {len(self.times)} values and angles {len(self.angles)} rows, but there "
                "must be as many of both, at least two."
            )

    @property
    def reach(self) -> tuple[tuple[float, float], ...]:
        """Smallest and largest angle of each joint [rad]."""
        return tuple((min(column), max(column)) for column in zip(*self.angles))

    def joints(self, time: np.ndarray) -> JointMotion:
        """Return the joints at times [s].

        Raises MotionError if the table does not reach from the first time to the last.
        """
        since = time - time[0]
        first, last = self.times[0], self.times[-1]
        if first > _LATE or since[-1] > last + _LATE:
            raise MotionError(
                f"{self.source}: the gimbal's angles are there from {first:g} s to {last:g} s, but "
                f"the motion needs them from 0 s to {since[-1]:g} s after its start"
            )
        path, within = CubicSpline(self.times, self.angles), np.clip(since, first, last)
        return JointMotion(time, path(within), path(within, 1), path(within, 2))


Drive = Union[FixedJoints, SinusoidalJoints, TabulatedJoints, Stabilisation]

_NO_ARMS = GimbalGeometry()
_STANDING = FixedJoints()
_FREE = (-math.inf, math.inf)
_UPRIGHT = 0.5 * math.pi


@dataclass(frozen=True)
class GimbalSpecification:
    """A gimbal; without arguments one that stands and has no arms, as if there were none.

    ``drive`` (FixedJoints, SinusoidalJoints, TabulatedJoints or Stabilisation): what moves the
    joints. ``limits`` (sequence of 3, each 2 float or None): smallest and largest angle of pan,
    tilt and roll [rad]; None, for both or one, is without end, of the tilt a quarter turn. Two
    equal ones are a joint that cannot move. Raises ConfigurationError if a value is not what it
    must be, or prescribed angles are beyond the limits.
    """

    name: str = "gimbal"
    geometry: GimbalGeometry = _NO_ARMS
    drive: Drive = _STANDING
    limits: Any = (None, None, None)

    def __post_init__(self) -> None:
        check_text("name", self.name, needed=True)
        check_part("geometry", self.geometry, GimbalGeometry)
        if not isinstance(self.limits, (list, tuple)) or len(self.limits) != 3:
            raise ConfigurationError(
                f"limits is {quote(self.limits)}, but it must be three pairs of angles, of pan, "
                "tilt and roll."
            )
        limits = tuple(_pair(joint, pair) for joint, pair in zip(JOINTS, self.limits))
        object.__setattr__(self, "limits", limits)
        if isinstance(self.drive, Stabilisation):
            return
        if not isinstance(self.drive, (FixedJoints, SinusoidalJoints, TabulatedJoints)):
            raise ConfigurationError(
                f"drive is {quote(self.drive)}, but it must be joints or a stabilisation."
            )
        for joint, (low, high), (least, most) in zip(JOINTS, limits, self.drive.reach):
            if least < low or most > high:
                beyond = least if least < low else most
                raise ConfigurationError(
                    f"the gimbal is at its limits: {joint} shall go to {beyond:.6g} rad, but it "
                    f"goes from {low:.6g} rad to {high:.6g} rad."
                )


def _pair(joint: str, pair: Any) -> tuple[float, float]:
    least, most = (-_UPRIGHT, _UPRIGHT) if joint == "tilt" else _FREE
    if pair is None:
        return least, most
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise ConfigurationError(
            f"limits of {joint} are {quote(pair)}, but they must be two angles."
        )
    low, high = (
        end
        if value is None or value == end
        else check_number(f"limits of {joint}", value, maximum=min(most, 1e3))
        for value, end in zip(pair, (least, most))
    )
    if not low <= high:
        raise ConfigurationError(
            f"limits of {joint} are {low:g} rad and {high:g} rad, but the smaller one must be "
            "first."
        )
    return low, high


_ARMS = [field.name for field in fields(GimbalGeometry)]
_DRIVES = ("fixed", "sinusoid", "table", "stabilisation")
_TARGETS = ("hold", "point")
_LOOP = [field.name for field in fields(Stabilisation) if field.name != "target"]


def gimbal_from_mapping(content: Mapping[str, Any]) -> GimbalSpecification:
    """Return the gimbal that keys and values describe; what is left out has its default.

    ``content``: fields of :class:`.GimbalGeometry`, ``name``, ``limits`` (``pan``, ``tilt``,
    ``roll``: pairs of angles), and one of ``fixed`` (angles), ``sinusoid`` (fields of
    :class:`.SinusoidalJoints`), ``table`` (a :class:`.TabulatedJoints`, or its fields) and
    ``stabilisation`` (fields of :class:`.Stabilisation`; its target is ``hold`` with fields of
    :class:`.HeldAttitude` or ``point`` with those of :class:`.PointAhead` or
    :class:`.PointOnEarth`). Raises ConfigurationError if a key is unknown, or a value is not what
    it must be.
    """
    check_keys(content, ["name", *_ARMS, "limits", *_DRIVES], "the gimbal")
    values: dict[str, Any] = {"name": content["name"]} if "name" in content else {}
    values["geometry"] = GimbalGeometry(**{key: content[key] for key in _ARMS if key in content})
    drive = _only_one(content, _DRIVES, "the gimbal", "can move it")
    if drive is not None:
        values["drive"] = _drive(drive, content[drive])
    if "limits" in content:
        check_keys(content["limits"], JOINTS, "limits")
        values["limits"] = tuple(content["limits"].get(joint) for joint in JOINTS)
    return GimbalSpecification(**values)


def _only_one(content: Any, keys: Sequence[str], whose: str, can: str) -> str | None:
    """Return which of some keys is there; raise ConfigurationError where there are several."""
    given = [key for key in keys if key in content]
    if len(given) > 1:
        raise ConfigurationError(f"{whose} has {' and '.join(given)}, but only one of them {can}.")
    return given[0] if given else None


def gimbal_to_mapping(gimbal: GimbalSpecification) -> dict[str, Any]:
    """Return keys and values that give the gimbal again; what is at its default is left out.

    Only dictionaries, lists, texts and float, so that it can be YAML or JSON.
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


def _drive(key: str, content: Any) -> Any:
    if key == "fixed":
        with prefix_errors("fixed: "):
            return FixedJoints(content)
    if key != "stabilisation":
        kind: Any = TabulatedJoints if key == "table" else SinusoidalJoints
        return content if isinstance(content, kind) else _made(kind, content, key)
    check_keys(content, [*_TARGETS, *_LOOP], key)
    loop = {name: value for name, value in content.items() if name not in _TARGETS}
    aim = _only_one(content, _TARGETS, key, "can be its target")
    if aim is not None:
        kind, given = PointAhead, content[aim]
        if aim == "hold":
            kind, given = HeldAttitude, {} if given is None else given
        elif isinstance(given, Mapping) and {"latitude", "longitude", "height"} & set(given):
            kind = PointOnEarth
        loop["target"] = _made(kind, given, f"{key}.{aim}")
    with prefix_errors(f"{key}."):
        return Stabilisation(**loop)


def _made(kind: type, content: Any, where: str) -> Any:
    return from_mapping(kind, content, where, f"{where}.")


LONGEST_STEP = 10.0
"""Of a table's times, in median steps; a longer one is a gap, through which no spline is led."""
MAX_ROWS = 1_000_000


def read_gimbal(name: str | os.PathLike[str]) -> GimbalSpecification:
    """Return a gimbal by its name, ``agisim``, or from its file.

    ``name`` (str or Path): a file, or the name of one in the package's config/gimbals. Raises
    ConfigurationError if there is neither, it cannot be read, or it is no description of one; the
    same of its table.
    """
    path = find_description(name, "gimbals", "a gimbal")

    def gimbal_of(content: Any) -> Any:
        if isinstance(content, dict) and not isinstance(content.get("table", {}), dict):
            content["table"] = _table(path.parent, content["table"])
        return gimbal_from_mapping(content)

    return read_description(path, "the gimbal", gimbal_of, named=True, may_be_empty=True)


def read_joint_table(path: str | os.PathLike[str]) -> TabulatedJoints:
    """Return the angles of a CSV file with columns time [s], pan, tilt, roll [rad].

    Raises ConfigurationError if it cannot be read, a column is missing, its time does not increase,
    a value is not finite, or there is a gap: a step of more than :data:`LONGEST_STEP` median ones.
    """
    try:
        table = read_csv(path)
    except ResultError as error:
        raise ConfigurationError(f"{path}: {str(error).replace(f'{path}: ', '', 1)}.") from None
    for name in JOINTS:
        if name not in table:
            raise ConfigurationError(
                f"{path}: line 1: there is no column {name}, expected time, {', '.join(JOINTS)}."
            )
    if not 2 <= len(table) <= MAX_ROWS:
        raise ConfigurationError(
            f"{path}: there are {len(table)} rows of angles, expected 2 to {MAX_ROWS}."
        )
    time, angles = table.index.to_numpy(), table[list(JOINTS)].to_numpy()
    wrong = np.argwhere(~np.isfinite(angles))
    if len(wrong):
        row, column = wrong[0]
        raise ConfigurationError(
            f"{path}: line {row + 2}, column {JOINTS[column]}: {angles[row, column]} is no angle."
        )
    steps = np.diff(time)
    longest = int(np.argmax(steps))
    if steps[longest] > LONGEST_STEP * np.median(steps):
        raise ConfigurationError(
            f"{path}: line {longest + 3}: there is a gap of {steps[longest]:g} s before it, while "
            f"the other times are {np.median(steps):g} s apart."
        )
    with prefix_errors(f"{path}: "):
        return TabulatedJoints(tuple(time.tolist()), tuple(map(tuple, angles.tolist())), str(path))


def _table(folder: Any, name: Any) -> Any:
    if not isinstance(name, str):
        raise ConfigurationError(f"table is {quote(name)}, but it must be a file's name.")
    return read_joint_table(folder / name)
