"""Conversion of orientations and vectors from the conventions of a recording to REP-103.

Recordings differ in the axes of the world frame (east-north-up or north-east-down), in the
direction and zero of the yaw, and in the order and direction of quaternions. This module converts
them to ENU, body axes forward-left-up, and yaw counter-clockwise from east (REP-103). A
north-east-down world frame implies body axes forward-right-down; in both cases, roll, pitch and yaw
are rotations about x, then y, then z of the world frame. Conventions that a column map states
(``yaw = heading [deg cw from north]``) have priority over those of the settings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..core.angles import quaternion_product
from ..core.settings import TextSettings, setting
from ..core.tables import ACCEL, GYRO, MAG, QUATERNION
from ..core.units import factors
from ..sensors.imu_specification import GYROSCOPE_FILTERS, OutputSpecification

FRAMES = {
    "enu": "world east-north-up, body forward-left-up",
    "ned": "world north-east-down, body forward-right-down",
}
"""World and body axes of each frame convention."""
SENSOR_AXES = {"flu": "forward-left-up", "frd": "forward-right-down"}
"""Axis conventions of gyroscope and accelerometer, by name."""
QUATERNION_ORDERS = ("xyzw", "wxyz")
GYRO_UNITS = factors("rad/s", "deg/s")
ACCEL_UNITS = factors("m/s^2", "g")
ACCEL_CONVENTIONS = {"specific_force": 1.0, "gravity": -1.0}
ORIENTATIONS = {
    "auto": "fused if none is recorded",
    "recorded": "",
    "fused": "computed from gyroscope and accelerometer by a filter",
}
"""Meaning of each orientation source; empty if its name is self-explanatory."""

YAW_CONVENTIONS = {
    "ccw_from_east": (1.0, 0.0),
    "cw_from_north": (-1.0, math.pi / 2.0),
    "ccw_from_north": (1.0, math.pi / 2.0),
    "cw_from_east": (-1.0, 0.0),
}
"""Sign and offset [rad] to convert a yaw of each convention to counter-clockwise from east."""

_MOUNTING = (
    "of the IMU's axes relative to the body frame (REP-103), applied after the other conventions"
)
_YAW_OF_FRAME = {"enu": "ccw_from_east", "ned": "cw_from_north"}
# NED to ENU is a rotation by 180 deg about the horizontal axis half-way between east and north.
# FRD to FLU is a rotation by 180 deg about the forward axis.
_HALF = math.sqrt(0.5)
_WORLD_FROM_NED = (_HALF, _HALF, 0.0, 0.0)
_BODY_FROM_FRD = (1.0, 0.0, 0.0, 0.0)
# rad; mountings are usually multiples of 90 deg, and a floor is inclined by a few degrees.
# Mountings at 30 or 45 deg clearly exceed this tolerance.
_QUARTER_TURN_TOLERANCE = math.radians(10.0)


@dataclass(frozen=True)
class ReferenceConventions(TextSettings):
    """Conventions of the orientations and positions in a recording.

    Parameters
    ----------
    frame : str
        ``enu``, or ``ned``: world north-east-down and body forward-right-down.
    yaw_convention : str
        Direction and zero of the yaw, one of :data:`YAW_CONVENTIONS`; empty for the convention of
        the frame, ``ccw_from_east`` or ``cw_from_north``. It also applies to the yaw of a
        quaternion that was computed from a compass heading.
    quaternion_order : str
        Order of the components in the fields x, y, z, w: ``xyzw`` or ``wxyz``.
    quaternion_inverse : bool
        Whether quaternions rotate vectors from the world frame to the body frame.

    Raises
    ------
    ConfigurationError
        A value is not one of the choices.
    """

    frame: str = setting("enu", choices=FRAMES, about="axes of positions and orientations")
    yaw_convention: str = setting(
        "",
        choices=tuple(YAW_CONVENTIONS),
        about="direction and zero of the yaw; empty: convention of the frame, ccw_from_east with "
        "enu and cw_from_north with ned",
    )
    quaternion_order: str = setting(
        "xyzw", choices=QUATERNION_ORDERS, about="order of the components of a quaternion"
    )
    quaternion_inverse: bool = setting(
        False, about="whether quaternions rotate vectors of the world into the body frame"
    )

    @property
    def yaw(self) -> str:
        """Yaw convention; if none is set, that of the frame."""
        return self.yaw_convention or _YAW_OF_FRAME[self.frame]


@dataclass(frozen=True)
class ImuConventions(ReferenceConventions):
    """Conventions of a recorded IMU, its mounting, and the source of its orientation.

    The other parameters are those of :class:`ReferenceConventions`.

    Parameters
    ----------
    sensor_axes : str
        Axes of gyroscope and accelerometer: ``flu``, forward-left-up, or ``frd``,
        forward-right-down; empty for the axes of the frame. Some drivers convert only the
        orientation, and not the other signals.
    gyro_unit, accel_unit : str
        Units of a recording that does not state them: ``rad/s`` or ``deg/s``, ``m/s^2`` or ``g``.
    accel_convention : str
        ``specific_force``, which points up at rest, or ``gravity``, the opposite.
    mounting_roll, mounting_pitch, mounting_yaw : float
        Angles of the IMU's axes relative to the body frame [rad], both forward-left-up: a rotation
        about x by roll, then about y by pitch, then about z by yaw transforms a vector from the
        axes of the IMU to the body frame.
    orientation : str
        ``recorded``, ``fused`` (from gyroscope and accelerometer), or ``auto``: recorded if there
        is a recorded orientation, fused if there is none.
    filter : str
        Fusion filter, as in :class:`.sensors.imu_specification.OutputSpecification`.
    filter_time_constant : float
        Time constant of the tilt correction by the accelerometer [s].
    filter_rate_bias : bool
        Whether the filter estimates the gyroscope's bias.
    """

    sensor_axes: str = setting(
        "",
        choices=SENSOR_AXES,
        about="axes of gyroscope and accelerometer; empty: flu with frame enu, frd with frame ned",
    )
    gyro_unit: str = setting(
        "rad/s",
        choices=tuple(GYRO_UNITS),
        about="unit of the gyroscope, if neither the message type nor the column map states it",
    )
    accel_unit: str = setting(
        "m/s^2",
        choices=tuple(ACCEL_UNITS),
        about="unit of the accelerometer, if neither the message type nor the column map states it",
    )
    accel_convention: str = setting(
        "specific_force",
        choices=dict(zip(ACCEL_CONVENTIONS, ("upward at rest", "downward at rest"))),
        about="quantity that the accelerometer outputs",
    )
    mounting_roll: float = setting(0.0, unit="rad", about=f"roll {_MOUNTING}")
    mounting_pitch: float = setting(0.0, unit="rad", about=f"pitch {_MOUNTING}")
    mounting_yaw: float = setting(0.0, unit="rad", about=f"yaw {_MOUNTING}")
    orientation: str = setting("auto", choices=ORIENTATIONS, about="source of the orientation")
    filter: str = setting(
        OutputSpecification.filter,
        choices={**dict.fromkeys(GYROSCOPE_FILTERS, ""), "mahony": "complementary"},
        about="filter that fuses the orientation",
    )
    filter_time_constant: float = setting(
        OutputSpecification.filter_time_constant,
        unit="s",
        above=0.0,
        about="time constant of the tilt correction by the accelerometer",
    )
    filter_rate_bias: bool = setting(
        OutputSpecification.filter_rate_bias,
        about="whether the filter estimates the gyroscope's bias",
    )

    @property
    def mounting(self) -> tuple[float, float, float]:
        """Roll, pitch and yaw of the IMU's mounting [rad]."""
        return self.mounting_roll, self.mounting_pitch, self.mounting_yaw

    @property
    def stated_units(self) -> dict[str, str]:
        """Units of gyroscope and accelerometer columns, if they differ from the defaults."""
        units: dict[str, str] = {}
        if self.gyro_unit != ImuConventions.gyro_unit:
            units.update(dict.fromkeys(GYRO, self.gyro_unit))
        if self.accel_unit != ImuConventions.accel_unit:
            units.update(dict.fromkeys(ACCEL, self.accel_unit))
        return units

    @property
    def axes(self) -> str:
        """Axis convention of gyroscope and accelerometer; if none is set, that of the frame."""
        return self.sensor_axes or dict(zip(FRAMES, SENSOR_AXES))[self.frame]


def yaw_from_convention(yaw, convention):
    """Convert a yaw to the angle counter-clockwise from east.

    Parameters
    ----------
    yaw : array_like
        Yaw in the given convention [rad].
    convention : str
        One of :data:`YAW_CONVENTIONS`.

    Returns
    -------
    ndarray
        Yaw [rad].
    """
    sign, offset = YAW_CONVENTIONS[convention]
    return sign * np.asarray(yaw, dtype=float) + offset


def quaternions_from_convention(quaternions, conventions):
    """Convert quaternions to the order x, y, z, w and the rotation from FLU body axes to ENU.

    Norms are unchanged, including zero and nan.

    Parameters
    ----------
    quaternions : array_like, shape (n, 4)
        Quaternions as recorded.
    conventions : ReferenceConventions
        Conventions of the recording.

    Returns
    -------
    ndarray, shape (n, 4)
        Quaternions x, y, z, w.
    """
    quaternions = np.asarray(quaternions, dtype=float)
    if conventions.quaternion_order == "wxyz":
        quaternions = np.roll(quaternions, -1, axis=-1)
    if conventions.quaternion_inverse:
        quaternions = quaternions * [-1.0, -1.0, -1.0, 1.0]
    parts = tuple(quaternions.T)
    if conventions.frame == "ned":
        parts = quaternion_product(*quaternion_product(*_WORLD_FROM_NED, *parts), *_BODY_FROM_FRD)
    if conventions.yaw != _YAW_OF_FRAME[conventions.frame]:
        x, y, z, w = parts
        # This is valid for any norm; angles.yaw_from_quaternion rejects a norm of zero.
        yaw = np.arctan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z)
        sign, offset = YAW_CONVENTIONS[_YAW_OF_FRAME[conventions.frame]]
        half_angle = 0.5 * (yaw_from_convention(sign * (yaw - offset), conventions.yaw) - yaw)
        zero = np.zeros(len(quaternions))
        parts = quaternion_product(zero, zero, np.sin(half_angle), np.cos(half_angle), *parts)
    return np.column_stack(parts)


def vectors_from_axes(vectors, axes):
    """Convert vectors to forward-left-up axes.

    Parameters
    ----------
    vectors : array_like, shape (..., 3)
        Vectors in the axes of the sensor.
    axes : str
        One of ``SENSOR_AXES``.

    Returns
    -------
    ndarray, shape (..., 3)
        Vectors in the same unit.
    """
    vectors = np.asarray(vectors, dtype=float)
    return vectors * [1.0, -1.0, -1.0] if axes == "frd" else vectors


def positions_from_frame(positions, frame):
    """Convert positions to east, north, up.

    Parameters
    ----------
    positions : array_like, shape (n, 3)
        Positions in the world axes of the frame [m].
    frame : str
        One of :data:`FRAMES`.

    Returns
    -------
    ndarray, shape (n, 3)
        Positions [m].
    """
    positions = np.asarray(positions, dtype=float)
    return positions[:, [1, 0, 2]] * [1.0, 1.0, -1.0] if frame == "ned" else positions


def levelling_roll_pitch(up) -> tuple[float, float]:
    """Compute roll and pitch of the mounting from the specific force of an IMU at rest.

    Angles near multiples of 90 deg are rounded. Gravity does not determine the rotation about the
    vertical.

    Parameters
    ----------
    up : array_like, shape (3,)
        Specific force at rest, in any unit.

    Returns
    -------
    roll, pitch : float
        Angles of the mounting [rad].
    """
    x, y, z = np.asarray(up, dtype=float) / np.linalg.norm(up)
    pitch = _quarter_turns(math.atan2(-x, math.hypot(y, z)))
    upended = abs(pitch) == math.pi / 2.0
    return 0.0 if upended else _quarter_turns(math.atan2(y, z)), pitch


def _quarter_turns(angle) -> float:
    nearest = round(angle / (math.pi / 2.0)) * (math.pi / 2.0)
    return nearest if abs(angle - nearest) < _QUARTER_TURN_TOLERANCE else angle


_COURSE_CONVENTION = "cw_from_north"  # convention of receivers, independent of that of the yaw


def conventional_imu(samples, conventions: ImuConventions):
    """Convert samples of an IMU to ENU, FLU and SI units; the mounting is not applied.

    Parameters
    ----------
    samples : Samples
        Samples as recorded.
    conventions : ImuConventions
        Conventions of the recording.

    Returns
    -------
    Samples
        Converted samples.
    """
    columns = dict(samples.columns)
    _turn_orientation(columns, samples, conventions)
    signs = vectors_from_axes(np.ones(3), conventions.axes)
    sense = ACCEL_CONVENTIONS[conventions.accel_convention]
    for names, unit, axis_sign in (
        (GYRO, GYRO_UNITS[conventions.gyro_unit], 1.0),
        (ACCEL, ACCEL_UNITS[conventions.accel_unit], sense),
        (MAG, 1.0, 1.0),
    ):
        for name, sign in zip(names, signs):
            if name in columns:
                factor = sign if name in samples.stated_units else sign * unit
                # Columns that are in conventional axes and units are shared, which saves memory.
                if factor != 1.0 or axis_sign != 1.0:
                    columns[name] = axis_sign * (columns[name] * factor)
    return replace(samples, columns=columns)


def conventional_reference(samples, conventions: ReferenceConventions):
    """Convert samples of a reference to ENU, with yaw and course counter-clockwise from east.

    Speed and course become ``velocity_east`` and ``velocity_north`` if both are recorded.

    Parameters
    ----------
    samples : Samples
        Samples as recorded.
    conventions : ReferenceConventions
        Conventions of the recording.

    Returns
    -------
    Samples
        Converted samples.
    """
    columns = dict(samples.columns)
    _turn_orientation(columns, samples, conventions)
    if samples.has(("x", "y")):
        height = columns.get("z", np.zeros(len(samples)))
        positions = np.column_stack([columns["x"], columns["y"], height])
        columns.update(zip("xyz", positions_from_frame(positions, conventions.frame).T))
        if "z" not in samples:
            del columns["z"]
    if "course" in columns:
        convention = samples.yaw_conventions.get("course", _COURSE_CONVENTION)
        columns["course"] = yaw_from_convention(columns["course"], convention)
        if "speed" in columns:
            speed, course = columns.pop("speed"), columns.pop("course")
            # Smartphones write a negative speed if the speed is unknown.
            speed = np.where(speed < 0.0, np.nan, speed)
            columns["velocity_east"] = speed * np.cos(course)
            columns["velocity_north"] = speed * np.sin(course)
    return replace(samples, columns=columns)


def _turn_orientation(columns, samples, conventions):
    if samples.has(QUATERNION):
        quaternions = quaternions_from_convention(samples.matrix(QUATERNION), conventions)
        columns.update(zip(QUATERNION, quaternions.T))
    if "pitch" in columns and conventions.frame == "ned":
        # Nose-up pitch is positive about the right axis, and negative about the left axis.
        columns["pitch"] = -columns["pitch"]
    if "yaw" in columns:
        convention = samples.yaw_conventions.get("yaw", conventions.yaw)
        columns["yaw"] = yaw_from_convention(columns["yaw"], convention)
