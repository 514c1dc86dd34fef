"""Interpretations of a recording: the conventions and units that a plausibility check compares."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.spatial.transform import Rotation, Slerp

from ...core.errors import RecordingError
from ...core.stamps import StampLimits
from ...core.tables import ACCEL, EULER, GYRO, QUATERNION
from ...core.units import factor
from .. import frames
from ..cleaning import POSITION, Samples
from ..file_access import COLUMN_FORMATS
from ..frames import ImuConventions, ReferenceConventions
from ..imu import imu_table
from ..reference import reference_table
from . import findings as faults
from . import observations
from .findings import Alternative
from .observations import Observations
from .relation import mounting_by_rates

CHECKED_RATE = 40.0
"""Sample rate that is sufficient to compare the rotation of an IMU with a reference [Hz]."""

_MIN_MOUNTING_TURN = math.radians(15.0)  # rad, smallest rotation that is suggested as a mounting
_MIN_TILT = math.radians(15.0)  # rad, smallest rms tilt of a body that is not level
_MAX_NORM_ERROR = 0.1  # largest deviation of the norm of a usable quaternion from 1

_ANY_STAMPS = StampLimits(longest_gap=math.inf, backward_step=math.inf, unordered_fraction=1.0)
_DEGREE = factor("deg")


@dataclass(frozen=True)
class Interpretation:
    """Recording together with the conventions with which it is read.

    Parameters
    ----------
    reference, imu : Samples
        Samples as recorded; ``imu`` is None if there is no IMU.
    reference_conventions, imu_conventions : ReferenceConventions, ImuConventions
        Conventions of reference and IMU.
    offsets : tuple of float
        Offsets that are added to the times of reference and IMU [s].
    fixes : pandas.DataFrame or None
        Poses that were computed from satellite fixes. The computation is expensive, and is not
        repeated for other interpretations.
    """

    reference: Samples
    imu: Samples | None
    reference_conventions: ReferenceConventions
    imu_conventions: ImuConventions
    offsets: tuple[float, float] = (0.0, 0.0)
    fixes: pd.DataFrame | None = None

    @cached_property
    def reference_poses(self) -> pd.DataFrame:
        """Poses of the reference; raises RecordingError if they cannot be read."""
        if self.fixes is not None:
            return self.fixes
        options = {"stamp_limits": _ANY_STAMPS, "time_offset": self.offsets[0]}
        return reference_table(self.reference, self.reference_conventions, **options)[0]

    @cached_property
    def imu_record(self):
        """ImuRecord, or None if there is no IMU; raises RecordingError if it cannot be read."""
        if self.imu is None:
            return None
        conventions = replace(self.imu_conventions, orientation="recorded")
        options = {"stamp_limits": _ANY_STAMPS, "time_offset": self.offsets[1]}
        return imu_table(self.imu, conventions, require=(), **options)[0]

    def observe(self) -> Observations:
        """Compute the measurements of the recording with these conventions.

        Returns
        -------
        Observations

        Raises
        ------
        RecordingError
            The recording cannot be read with these conventions.
        """
        return observations.observe(
            self.reference_poses, self.imu_record, self.course_is_yaw, attitude=self.attitude
        )

    @cached_property
    def attitude(self) -> Slerp | None:
        """Orientation of the reference; None unless it is recorded and tilted."""
        if self.fixes is not None or not self.reference.has(QUATERNION):
            return None
        samples = frames.conventional_reference(self.reference, self.reference_conventions)
        quaternions, times = samples.matrix(QUATERNION), samples.columns["stamp"]
        with np.errstate(over="ignore"):
            norm = np.linalg.norm(quaternions, axis=1)
        usable = np.isfinite(times) & (np.abs(norm - 1.0) < _MAX_NORM_ERROR)
        times, first = np.unique(times[usable], return_index=True)
        if len(times) < 2:
            return None
        body = Rotation.from_quat(quaternions[usable][first])
        vertical = body.inv().apply([0.0, 0.0, 1.0])[:, 2]
        is_tilted = np.sqrt(np.mean(1.0 - np.minimum(vertical**2, 1.0))) > np.sin(_MIN_TILT)
        return Slerp(times + self.offsets[0], body) if is_tilted else None

    @property
    def course_is_yaw(self) -> bool:
        """Whether the yaw of the reference is the course of its path."""
        antennas = self.reference.has(QUATERNION) or "yaw" in self.reference
        return self.fixes is not None and not antennas

    def alternatives(self) -> list[Alternative]:
        """Return alternative interpretations of the recording.

        Returns
        -------
        list of Alternative
            Interpretations, beginning with the most likely fault.
        """
        alternatives: list[Alternative] = []
        if self.imu is not None:
            alternatives += [*self._imu_alternatives(), *self._mountings()]
        return [*alternatives, *self._reference_alternatives()]

    def _imu_alternatives(self):
        conventions, samples = self.imu_conventions, self.imu
        change = self._other_imu
        if self._has_orientation:
            for convention in _others(frames.YAW_CONVENTIONS, conventions.yaw)[:1]:
                yield change(faults.MIRRORED_YAW, yaw_convention=convention)
        for fault, changes in _axes_changes(samples, conventions, conventions.axes):
            yield change(fault, **changes)
        # A missing orientation is computed from gyroscope and accelerometer.
        is_critical = not self._has_orientation
        if samples.has(GYRO + ACCEL):
            # Here the z axis points down, but the accelerometer outputs +g on this axis.
            (sign,) = _others(frames.ACCEL_CONVENTIONS, conventions.accel_convention)
            for frame in _others(frames.FRAMES, conventions.frame):
                fault = f"{faults.FRAME} and {faults.ACCELERATION_SIGN}"
                yield change(fault, frame=frame, accel_convention=sign)
        if samples.has(GYRO) and self._has_orientation:
            for convention in _others(frames.YAW_CONVENTIONS, conventions.yaw)[:1]:
                yield self._mirrored_imu(convention)
        if samples.has(GYRO):
            yield self._scaled_imu(faults.MIRRORED_GYRO, GYRO, -1.0, "", is_critical)
            if conventions.gyro_unit == "rad/s" and not _stated(samples, GYRO):
                yield change(faults.DEGREES, is_critical, gyro_unit="deg/s")
            yield self._scaled_imu(faults.RADIANS, GYRO, 1.0 / _DEGREE, "rad/s", is_critical)
        if samples.has(ACCEL):
            for convention in _others(frames.ACCEL_CONVENTIONS, conventions.accel_convention):
                yield change(faults.ACCELERATION_SIGN, is_critical, accel_convention=convention)
            if conventions.accel_unit == "m/s^2" and not _stated(samples, ACCEL):
                yield change(faults.ACCELERATION_UNIT, False, accel_unit="g")
        angles = [name for name in EULER if name in samples]
        if angles and not samples.has(QUATERNION):
            if _stated(samples, angles):
                yield self._scaled_imu(faults.RADIANS, angles, 1.0 / _DEGREE, "rad", True)
            else:
                yield self._scaled_imu(faults.DEGREES, angles, _DEGREE, "deg", True)

    def _mirrored_imu(self, yaw_convention):
        """Return the alternative in which the yaw and the gyroscope have opposite signs."""
        gyroscope = self._scaled_imu(faults.MIRRORED_GYRO, GYRO, -1.0, "", True)
        changes = {"yaw_convention": yaw_convention}
        return self._other(
            f"{faults.MIRRORED_YAW} and {faults.MIRRORED_GYRO}",
            gyroscope.remedy,
            settings=_settings("imu_recording", changes),
            imu=_scaled(self.imu, GYRO, -1.0),
            imu_conventions=replace(self.imu_conventions, **changes),
        )

    @property
    def _has_orientation(self) -> bool:
        imu = self.imu
        return imu is not None and ("yaw" in imu or imu.has(QUATERNION))

    def _mountings(self):
        """Yield mountings that align gravity with +z, or the gyroscope with a tilted reference."""
        try:
            up = observations.mean_up(self.imu_record)
        except RecordingError:
            return
        if np.any(self.imu_conventions.mounting):
            return
        if self.attitude is not None:
            yield from self._free_mounting()
            return
        if up is None:
            return
        changes = _mounting(up)
        if changes:
            yield self._other_imu(faults.MOUNTING, **changes)
        if changes and self._has_orientation and self.imu.has(GYRO + ACCEL):
            yield self._turned_sensors(changes)
        # Without an orientation, it is not observable which sign is wrong.
        if self._has_orientation and abs(up[2]) < observations.GOOD:
            # This is the case of an upright smartphone that outputs gravity.
            yield from self._other_sign(_mounting(-up))

    def _free_mounting(self):
        turn = mounting_by_rates(self.attitude, self.imu_record)
        if turn is not None and turn.magnitude() > _MIN_MOUNTING_TURN:
            names = ("mounting_yaw", "mounting_pitch", "mounting_roll")
            mounting = dict(zip(names, np.round(turn.as_euler("ZYX"), 6).tolist()))
            yield self._other_imu(faults.MOUNTING, **mounting)
            yield from self._other_sign(mounting)

    def _other_sign(self, mounting):
        """Yield the mounting combined with the opposite sign of the accelerometer."""
        if self.imu.has(ACCEL):
            (sign,) = _others(frames.ACCEL_CONVENTIONS, self.imu_conventions.accel_convention)
            fault = f"{faults.ACCELERATION_SIGN} and {faults.MOUNTING}"
            yield self._other_imu(fault, accel_convention=sign, **mounting)

    def _turned_sensors(self, mounting):
        """Return the alternative in which only the sensors are rotated, not the orientation."""
        samples, axes = self.imu, self.imu_conventions.axes
        angles = [mounting.get(f"mounting_{name}", 0.0) for name in ("roll", "pitch")]
        turn = Rotation.from_euler("xy", angles)
        columns = dict(samples.columns)
        for names in (GYRO, ACCEL):
            rotated = turn.apply(frames.vectors_from_axes(samples.matrix(names), axes))
            columns.update(zip(names, frames.vectors_from_axes(rotated, axes).T))
        settings = _settings("imu_recording", {"orientation": "fused", **mounting})
        setting_text = ", ".join(f"{key} = {value}" for _, key, value in settings)
        remedy = f"none for the recorded orientation; for a fused orientation, {setting_text}"
        imu = replace(samples, columns=columns)
        return self._other(faults.SENSOR_AXES, remedy, is_critical=False, imu=imu)

    def _reference_alternatives(self):
        samples, conventions = self.reference, self.reference_conventions
        if self.fixes is not None:
            names = "latitude and longitude" if "latitude" in samples else "x and y"
            poses = self.fixes
            yield self._other(
                faults.MIRRORED_POSITIONS,
                f"exchange the columns of {names}",
                fixes=poses.assign(x=poses["y"], y=poses["x"], yaw=0.5 * math.pi - poses["yaw"]),
            )
            return
        for convention in _others(frames.YAW_CONVENTIONS, conventions.yaw):
            changes_sense = convention.split("_")[0] == conventions.yaw.split("_")[0]
            fault = faults.YAW_OFFSET if changes_sense else faults.MIRRORED_YAW
            yield self._other_reference(fault, yaw_convention=convention)
        for fault, changes in _axes_changes(samples, conventions, None):
            yield self._other_reference(fault, **changes)
        if "yaw" in samples and not samples.has(QUATERNION):
            has_stated_unit = _stated(samples, ("yaw",))
            yield self._other(
                faults.RADIANS if has_stated_unit else faults.DEGREES,
                f"[reference_columns] yaw = ... [{'rad' if has_stated_unit else 'deg'}]",
                reference=_scaled(samples, ("yaw",), 1.0 / _DEGREE if has_stated_unit else _DEGREE),
            )
        x, y = (samples.columns[name] for name in POSITION)
        yield self._other(
            faults.MIRRORED_POSITIONS,
            "exchange x and y, which are north and east in a north-east-down frame",
            reference=replace(samples, columns={**samples.columns, "x": y, "y": x}),
        )

    def _other_imu(self, fault, is_critical=True, **changes):
        conventions = replace(self.imu_conventions, **changes)
        settings = _settings("imu_recording", changes)
        return self._other(fault, "", is_critical, settings, imu_conventions=conventions)

    def _other_reference(self, fault, **changes):
        conventions = replace(self.reference_conventions, **changes)
        settings = _settings("reference", changes)
        return self._other(fault, settings=settings, reference_conventions=conventions)

    def _scaled_imu(self, fault, names, factor, unit, is_critical):
        remedy = "correct the recording, since there is no setting for this fault"
        if self.imu.format in COLUMN_FORMATS:
            remedy = f"[imu_columns] {names[-1]} = ... " + (f"[{unit}]" if unit else "* -1")
        return self._other(fault, remedy, is_critical, imu=_scaled(self.imu, names, factor))

    def _other(self, fault, remedy="", is_critical=True, settings=(), **changes):
        other = replace(self, **changes)
        for table, fields in _TABLE_FIELDS.items():
            if not fields & set(changes):
                # Tables that do not change are not computed again, since they may be long.
                other.__dict__[table] = getattr(self, table)
        return Alternative(fault, remedy, other.observe, is_critical, other.alternatives, settings)


_TABLE_FIELDS = {
    "reference_poses": {"reference", "reference_conventions", "fixes"},
    "attitude": {"reference", "reference_conventions", "fixes"},
    "imu_record": {"imu", "imu_conventions"},
}
"""Fields from which each cached table is computed."""

_AXES = {"enu": "flu", "ned": "frd"}
"""Default axes of the sensors by frame."""


def _mounting(up):
    """Return the mounting that rotates a direction (3,) in the axes of the IMU to +z."""
    angles = zip(("mounting_roll", "mounting_pitch"), frames.levelling_roll_pitch(up))
    return {name: round(angle, 6) for name, angle in angles if angle}


def _axes_changes(samples, conventions, axes):
    """Yield the fault and the settings of each alternative combination of conventions.

    A combination consists of frame, order and direction of quaternions, and ``axes`` of the sensors
    (None for a reference).
    """
    both_frames = (conventions.frame, *_others(frames.FRAMES, conventions.frame))
    orders, directions = (conventions.quaternion_order,), (conventions.quaternion_inverse,)
    if samples.has(QUATERNION):
        orders += tuple(_others(frames.QUATERNION_ORDERS, conventions.quaternion_order))
        directions += (not conventions.quaternion_inverse,)
    oriented = axes is not None and ("yaw" in samples or samples.has(QUATERNION))
    all_axes = (axes, *_others(frames.SENSOR_AXES, axes)) if oriented else (axes,)
    combinations = itertools.product(both_frames, orders, directions, all_axes)
    for frame, order, inverse, sensors in combinations:
        expected_axes = sensors
        if oriented:
            expected_axes = axes if frame == conventions.frame else _AXES[frame]
        changes = [
            (fault, key, value)
            for fault, key, value, present in (
                (faults.QUATERNION_ORDER, "quaternion_order", order, conventions.quaternion_order),
                (faults.QUATERNION_DIRECTION, "quaternion_inverse", inverse, directions[0]),
                (faults.FRAME, "frame", frame, conventions.frame),
                (faults.SENSOR_AXES, "sensor_axes", sensors, expected_axes),
            )
            if value != present
        ]
        if changes:
            fault = " and ".join(fault for fault, _, _ in changes)
            yield fault, {key: value for _, key, value in changes}


def thin_samples(samples: Samples) -> Samples:
    """Reduce samples to a rate that is not below :data:`CHECKED_RATE`.

    Parameters
    ----------
    samples : Samples
        Samples as recorded.

    Returns
    -------
    Samples
        Every k-th sample.
    """
    times = samples.columns["stamp"]
    times = times[np.isfinite(times)]
    if len(times) < 2:
        return samples
    period = np.median(np.abs(np.diff(times)))
    stride = int(1.0 / (CHECKED_RATE * period)) if period > 0.0 else 1
    if stride < 2:
        return samples
    columns = {name: values[::stride] for name, values in samples.columns.items()}
    return replace(samples, columns=columns, places=samples.places[::stride])


def _others(choices, present):
    """Return all choices except the present one; the most common, a compass yaw, comes first."""
    likely_conventions = ("cw_from_north", "ccw_from_east")
    ordered = sorted(choices, key=lambda choice: (*likely_conventions, choice).index(choice))
    return [choice for choice in ordered if choice != present]


def _settings(section, changes):
    def text(value):
        if isinstance(value, float):
            return f"{value:.6f}"
        return {True: "true", False: "false"}.get(value, value)

    return tuple((section, key, text(value)) for key, value in changes.items())


def _stated(samples, names) -> bool:
    return any(name in samples.stated_units for name in names)


def _scaled(samples, names, factor):
    # A value that overflows was already implausible in the original unit.
    with np.errstate(over="ignore"):
        columns = {**samples.columns, **{name: factor * samples.columns[name] for name in names}}
    return replace(samples, columns=columns)
