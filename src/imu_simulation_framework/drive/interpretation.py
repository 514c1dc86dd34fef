"""The same recording read in several ways: what the check of a recording chooses among."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.spatial.transform import Rotation, Slerp

from ..core.errors import RecordingError
from ..core.stamps import StampLimits
from ..core.tables import ACCEL, EULER, GYRO, QUATERNION
from ..core.units import factor
from ..recordings import frames
from ..recordings.cleaning import POSITION, Samples
from ..recordings.file_access import COLUMN_FORMATS
from ..recordings.frames import ImuConventions, ReferenceConventions
from ..recordings.imu import imu_table
from ..recordings.plausibility import findings as faults
from ..recordings.plausibility import observations
from ..recordings.plausibility.findings import Alternative
from ..recordings.plausibility.observations import Observations
from ..recordings.plausibility.relation import mounting_by_rates
from ..recordings.reference import reference_table

CHECKED_RATE = 40.0  # samples of an IMU per second [Hz] that are enough to see how it turns

_NOTICED_TURN = math.radians(15.0)  # Of a mounting that a person forgot

_LEANING = math.radians(15.0)  # Root mean square of what the body is tilted by
_UNIT = 0.1  # What the length of a quaternion may differ from one

_ANY_STAMPS = StampLimits(longest_gap=math.inf, backward_step=math.inf, unordered_fraction=1.0)
_DEGREE = factor("deg")


@dataclass(frozen=True)
class Interpretation:
    """A recording and how it is to be read.

    ``imu``; ``offsets`` (tuple of float): added to the times of reference and IMU [s]; ``fixes``
    (pandas.DataFrame or None): Poses that were made of satellite fixes, at their full cost; they
    are not made again.
    """

    reference: Samples
    imu: Samples | None
    reference_conventions: ReferenceConventions
    imu_conventions: ImuConventions
    offsets: tuple[float, float] = (0.0, 0.0)
    fixes: pd.DataFrame | None = None

    @cached_property
    def reference_poses(self) -> pd.DataFrame:
        """Poses; may raise RecordingError."""
        if self.fixes is not None:
            return self.fixes
        options = {"stamp_limits": _ANY_STAMPS, "time_offset": self.offsets[0]}
        return reference_table(self.reference, self.reference_conventions, **options)[0]

    @cached_property
    def imu_record(self):
        """ImuRecord of what was recorded, None without an IMU; may raise RecordingError."""
        if self.imu is None:
            return None
        conventions = replace(self.imu_conventions, orientation="recorded")
        options = {"stamp_limits": _ANY_STAMPS, "time_offset": self.offsets[1]}
        return imu_table(self.imu, conventions, require=(), **options)[0]

    def observe(self) -> Observations:
        """Measure the recording read so; may raise RecordingError."""
        return observations.observe(
            self.reference_poses, self.imu_record, self.course_is_yaw, attitude=self.attitude
        )

    @cached_property
    def attitude(self) -> Slerp | None:
        """Of the reference's body in the world, None unless it is recorded and leans."""
        if self.fixes is not None or not self.reference.has(QUATERNION):
            return None
        samples = frames.conventional_reference(self.reference, self.reference_conventions)
        quaternions, times = samples.matrix(QUATERNION), samples.columns["stamp"]
        with np.errstate(over="ignore"):
            length = np.linalg.norm(quaternions, axis=1)
        usable = np.isfinite(times) & (np.abs(length - 1.0) < _UNIT)
        times, first = np.unique(times[usable], return_index=True)
        if len(times) < 2:
            return None
        body = Rotation.from_quat(quaternions[usable][first])
        vertical = body.inv().apply([0.0, 0.0, 1.0])[:, 2]
        leans = np.sqrt(np.mean(1.0 - np.minimum(vertical**2, 1.0))) > np.sin(_LEANING)
        return Slerp(times + self.offsets[0], body) if leans else None

    @property
    def course_is_yaw(self) -> bool:
        """Whether the reference's yaw is made of its path."""
        antennas = self.reference.has(QUATERNION) or "yaw" in self.reference
        return self.fixes is not None and not antennas

    def alternatives(self) -> list[Alternative]:
        """Other ways to read it, the likeliest mistake first."""
        ways = [] if self.imu is None else [*self._imu_ways(), *self._mountings()]
        return ways + [*self._reference_ways()]

    def _imu_ways(self):
        conventions, samples = self.imu_conventions, self.imu
        way = self._other_imu
        if self._has_orientation:
            for convention in _others(frames.YAW_CONVENTIONS, conventions.yaw)[:1]:
                yield way(faults.MIRRORED_YAW, yaw_convention=convention)
        for fault, changes in _axes_changes(samples, conventions, conventions.axes):
            yield way(fault, **changes)
        # Without an orientation of its own one is made of these.
        grave = not self._has_orientation
        if samples.has(GYRO + ACCEL):
            # Its z axis points down, and the accelerometer nevertheless shows +g on it.
            (sign,) = _others(frames.ACCEL_CONVENTIONS, conventions.accel_convention)
            for frame in _others(frames.FRAMES, conventions.frame):
                fault = f"{faults.FRAME} and {faults.ACCELERATION_SIGN}"
                yield way(fault, frame=frame, accel_convention=sign)
        if samples.has(GYRO) and self._has_orientation:
            for convention in _others(frames.YAW_CONVENTIONS, conventions.yaw)[:1]:
                yield self._mirrored_imu(convention)
        if samples.has(GYRO):
            yield self._scaled_imu(faults.MIRRORED_GYRO, GYRO, -1.0, "", grave)
            if conventions.gyro_unit == "rad/s" and not _stated(samples, GYRO):
                yield way(faults.DEGREES, grave, gyro_unit="deg/s")
            yield self._scaled_imu(faults.RADIANS, GYRO, 1.0 / _DEGREE, "rad/s", grave)
        if samples.has(ACCEL):
            for convention in _others(frames.ACCEL_CONVENTIONS, conventions.accel_convention):
                yield way(faults.ACCELERATION_SIGN, grave, accel_convention=convention)
            if conventions.accel_unit == "m/s^2" and not _stated(samples, ACCEL):
                yield way(faults.ACCELERATION_UNIT, False, accel_unit="g")
        angles = [name for name in EULER if name in samples]
        if angles and not samples.has(QUATERNION):
            if _stated(samples, angles):
                yield self._scaled_imu(faults.RADIANS, angles, 1.0 / _DEGREE, "rad", True)
            else:
                yield self._scaled_imu(faults.DEGREES, angles, _DEGREE, "deg", True)

    def _mirrored_imu(self, yaw_convention):
        """Return a way in which the IMU's yaw and its gyroscope are both mirrored."""
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
        """Yield ways to turn the IMU: gravity to +z, or its rates to those of a leaning body."""
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
        # Without an orientation nothing decides whose sign is wrong.
        if self._has_orientation and abs(up[2]) < observations.GOOD:
            # As a telephone that is held upright and gives gravity.
            yield from self._other_sign(_mounting(-up))

    def _free_mounting(self):
        turn = mounting_by_rates(self.attitude, self.imu_record)
        if turn is not None and turn.magnitude() > _NOTICED_TURN:
            names = ("mounting_yaw", "mounting_pitch", "mounting_roll")
            mounting = dict(zip(names, np.round(turn.as_euler("ZYX"), 6).tolist()))
            yield self._other_imu(faults.MOUNTING, **mounting)
            yield from self._other_sign(mounting)

    def _other_sign(self, mounting):
        """Yield a mounting of a sensor that gives gravity, or its reaction, instead."""
        if self.imu.has(ACCEL):
            (sign,) = _others(frames.ACCEL_CONVENTIONS, self.imu_conventions.accel_convention)
            fault = f"{faults.ACCELERATION_SIGN} and {faults.MOUNTING}"
            yield self._other_imu(fault, accel_convention=sign, **mounting)

    def _turned_sensors(self, mounting):
        """Return a way in which the orientation has the robot's axes, and the sensors not."""
        samples, axes = self.imu, self.imu_conventions.axes
        angles = [mounting.get(f"mounting_{name}", 0.0) for name in ("roll", "pitch")]
        turn = Rotation.from_euler("xy", angles)
        columns = dict(samples.columns)
        for names in (GYRO, ACCEL):
            turned = turn.apply(frames.vectors_from_axes(samples.matrix(names), axes))
            columns.update(zip(names, frames.vectors_from_axes(turned, axes).T))
        settings = _settings("imu_recording", {"orientation": "fused", **mounting})
        written = ", ".join(f"{key} = {value}" for _, key, value in settings)
        remedy = f"the recorded orientation needs nothing; one made of the sensors, {written}"
        imu = replace(samples, columns=columns)
        return self._other(faults.SENSOR_AXES, remedy, grave=False, imu=imu)

    def _reference_ways(self):
        samples, conventions = self.reference, self.reference_conventions
        if self.fixes is not None:
            names = "latitude and longitude" if "latitude" in samples else "x and y"
            poses = self.fixes
            yield self._other(
                faults.MIRRORED_POSITIONS,
                f"{names} are exchanged, exchange their columns",
                fixes=poses.assign(x=poses["y"], y=poses["x"], yaw=0.5 * math.pi - poses["yaw"]),
            )
            return
        for convention in _others(frames.YAW_CONVENTIONS, conventions.yaw):
            turned = convention.split("_")[0] == conventions.yaw.split("_")[0]
            fault = faults.YAW_OFFSET if turned else faults.MIRRORED_YAW
            yield self._other_reference(fault, yaw_convention=convention)
        for fault, changes in _axes_changes(samples, conventions, None):
            yield self._other_reference(fault, **changes)
        if "yaw" in samples and not samples.has(QUATERNION):
            stated = _stated(samples, ("yaw",))
            yield self._other(
                faults.RADIANS if stated else faults.DEGREES,
                f"[reference_columns] yaw = ... [{'rad' if stated else 'deg'}]",
                reference=_scaled(samples, ("yaw",), 1.0 / _DEGREE if stated else _DEGREE),
            )
        x, y = (samples.columns[name] for name in POSITION)
        yield self._other(
            faults.MIRRORED_POSITIONS,
            "exchange x and y, which are north and east in a north-east-down world",
            reference=replace(samples, columns={**samples.columns, "x": y, "y": x}),
        )

    def _other_imu(self, fault, grave=True, **changes):
        conventions = replace(self.imu_conventions, **changes)
        settings = _settings("imu_recording", changes)
        return self._other(fault, "", grave, settings, imu_conventions=conventions)

    def _other_reference(self, fault, **changes):
        conventions = replace(self.reference_conventions, **changes)
        settings = _settings("reference", changes)
        return self._other(fault, settings=settings, reference_conventions=conventions)

    def _scaled_imu(self, fault, names, factor, unit, grave):
        remedy = "no setting does"
        if self.imu.format in COLUMN_FORMATS:
            remedy = f"[imu_columns] {names[-1]} = ... " + (f"[{unit}]" if unit else "* -1")
        return self._other(fault, remedy, grave, imu=_scaled(self.imu, names, factor))

    def _other(self, fault, remedy="", grave=True, settings=(), **changes):
        way = replace(self, **changes)
        for table, sources in _SOURCES.items():
            if not sources & set(changes):
                # What reads the same is not read again: it may be long.
                way.__dict__[table] = getattr(self, table)
        return Alternative(fault, remedy, way.observe, grave, way.alternatives, settings)


_SOURCES = {
    "reference_poses": {"reference", "reference_conventions", "fixes"},
    "attitude": {"reference", "reference_conventions", "fixes"},
    "imu_record": {"imu", "imu_conventions"},
}
"""Tables and what they are made of."""

_AXES = {"enu": "flu", "ned": "frd"}
"""Axes of the sensors that go with a frame, unless it is said otherwise."""


def _mounting(up):
    """Return the settings that bring a direction (3,) in the IMU's axes to +z."""
    angles = zip(("mounting_roll", "mounting_pitch"), frames.levelling_roll_pitch(up))
    return {name: round(angle, 6) for name, angle in angles if angle}


def _axes_changes(samples, conventions, axes):
    """Name each combination of frame, sensors' axes, order and direction of quaternions.

    ``axes``: of the sensors, None for a reference.
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
        of_frame = sensors if not oriented else axes if frame == conventions.frame else _AXES[frame]
        ways = (
            (faults.QUATERNION_ORDER, "quaternion_order", order, conventions.quaternion_order),
            (faults.QUATERNION_DIRECTION, "quaternion_inverse", inverse, directions[0]),
            (faults.FRAME, "frame", frame, conventions.frame),
            (faults.SENSOR_AXES, "sensor_axes", sensors, of_frame),
        )
        others = [way for way in ways if way[2] != way[3]]
        if others:
            yield " and ".join(way[0] for way in others), {key: new for _, key, new, _ in others}


def thinned(samples):
    """Return every so many samples only, of an IMU that gives more than a check needs."""
    times = samples.columns["stamp"]
    times = times[np.isfinite(times)]
    if len(times) < 2:
        return samples
    period = np.median(np.abs(np.diff(times)))
    every = int(1.0 / (CHECKED_RATE * period)) if period > 0.0 else 1
    if every < 2:
        return samples
    columns = {name: values[::every] for name, values in samples.columns.items()}
    return replace(samples, columns=columns, places=samples.places[::every])


def _others(choices, present):
    """Return other choices, a compass's yaw first: the one met most often beside our own."""
    likeliest = ("cw_from_north", "ccw_from_east")
    ordered = sorted(choices, key=lambda one: (*likeliest, one).index(one))
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
    # What is too large for a float then was no reading before.
    with np.errstate(over="ignore"):
        columns = {**samples.columns, **{name: factor * samples.columns[name] for name in names}}
    return replace(samples, columns=columns)
