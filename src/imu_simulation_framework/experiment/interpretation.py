"""The same recording read in several ways: what the check of a recording chooses among."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import pandas as pd

from imu_simulation_framework.core.frames import (
    ACCEL_CONVENTIONS,
    FRAMES,
    QUATERNION_ORDERS,
    YAW_CONVENTIONS,
)
from imu_simulation_framework.core.plausibility import findings as faults
from imu_simulation_framework.core.plausibility.alternatives import Alternative
from imu_simulation_framework.core.plausibility.headings import mean_specific_force
from imu_simulation_framework.core.plausibility.observations import Observations, observe
from imu_simulation_framework.core.stamps import StampLimits
from imu_simulation_framework.files.recordings import (
    ImuConventions,
    ReferenceConventions,
    imu_table,
    reference_table,
)
from imu_simulation_framework.files.recordings.samples import (
    ACCEL,
    EULER,
    GLOBAL_POSITION,
    GYRO,
    POSITION,
    QUATERNION,
    Samples,
)

CHECKED_RATE = 40.0
"""Samples of an IMU per second [Hz] that are enough to see how it turns."""

_ANY_STAMPS = StampLimits(longest_gap=math.inf, backward_step=math.inf, unordered_fraction=1.0)
_DEGREE = math.pi / 180.0


@dataclass(frozen=True)
class Interpretation:
    """A recording and how it is to be read.

    Attributes
    ----------
    reference : Samples
    imu : Samples or None
    reference_conventions : ReferenceConventions
    imu_conventions : ImuConventions
    offsets : tuple of float
        Added to the times of reference and IMU [s].
    fixes : pandas.DataFrame or None
        Poses that were made of satellite fixes, at their full cost; they are not made again.
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
        table, _ = reference_table(
            self.reference,
            self.reference_conventions,
            stamp_limits=_ANY_STAMPS,
            time_offset=self.offsets[0],
        )
        return table

    @cached_property
    def imu_record(self):
        """ImuRecord of what was recorded, None without an IMU; may raise RecordingError."""
        if self.imu is None:
            return None
        table, _ = imu_table(
            self.imu,
            replace(self.imu_conventions, orientation="recorded"),
            require=(),
            stamp_limits=_ANY_STAMPS,
            time_offset=self.offsets[1],
        )
        return table

    def observe(self) -> Observations:
        """Measure the recording read so; may raise RecordingError."""
        return observe(self.reference_poses, self.imu_record, self.course_is_yaw)

    @property
    def course_is_yaw(self) -> bool:
        """Whether the reference's yaw is made of its path."""
        return self.fixes is not None and not self.reference.has(QUATERNION + ("yaw",))

    def alternatives(self) -> list[Alternative]:
        """Other ways to read it, the likeliest mistake first."""
        ways = [] if self.imu is None else [*self._imu_ways()]
        ways += self._reference_ways()
        return [
            Alternative(fault, remedy, way.observe, grave, way.alternatives)
            for fault, remedy, grave, way in ways
        ]

    def _imu_ways(self):
        conventions, samples = self.imu_conventions, self.imu
        changed = partial(self._with_imu_conventions, "[imu_recording]")
        if samples.has(QUATERNION) or "yaw" in samples:
            for convention in _others(YAW_CONVENTIONS, conventions.yaw)[:1]:
                yield (faults.MIRRORED_YAW, *changed(yaw_convention=convention))
        for frame in _others(FRAMES, conventions.frame):
            yield (faults.FRAME, *changed(frame=frame))
        if samples.has(QUATERNION):
            (order,) = _others(QUATERNION_ORDERS, conventions.quaternion_order)
            inverse = not conventions.quaternion_inverse
            yield (faults.QUATERNION_ORDER, *changed(quaternion_order=order))
            yield (faults.QUATERNION_DIRECTION, *changed(quaternion_inverse=inverse))
            yield (
                faults.QUATERNION_ORDER,
                *changed(quaternion_order=order, quaternion_inverse=inverse),
            )
        yield from self._imu_units()
        yield from self._mountings()

    def _imu_units(self):
        samples = self.imu
        changed = partial(self._with_imu_conventions, "[imu_recording]")
        if samples.has(GYRO):
            if self.imu_conventions.gyro_unit == "rad/s" and not _stated(samples, GYRO):
                remedy, _, way = changed(gyro_unit="deg/s")
                yield (faults.DEGREES, remedy, not self._has_orientation, way)
            remedy, _, way = self._with_scaled_imu(GYRO, 1.0 / _DEGREE, "rad/s")
            yield (faults.RADIANS, remedy, not self._has_orientation, way)
        if samples.has(ACCEL):
            sign = self.imu_conventions.accel_convention
            for convention in _others(ACCEL_CONVENTIONS, sign):
                remedy, _, way = changed(accel_convention=convention)
                yield (faults.ACCELERATION_SIGN, remedy, not self._has_orientation, way)
            if self.imu_conventions.accel_unit == "m/s^2" and not _stated(samples, ACCEL):
                remedy, _, way = changed(accel_unit="g")
                yield (faults.ACCELERATION_UNIT, remedy, False, way)
        angles = [name for name in EULER if name in samples]
        if angles and not samples.has(QUATERNION):
            factor, unit = (1.0 / _DEGREE, "rad") if _stated(samples, angles) else (_DEGREE, "deg")
            fault = faults.DEGREES if unit == "deg" else faults.RADIANS
            yield (fault, *self._with_scaled_imu(angles, factor, unit))

    @property
    def _has_orientation(self) -> bool:
        return "yaw" in self.imu or self.imu.has(QUATERNION)

    def _mountings(self):
        """Ways to turn the IMU so that gravity lies on +z."""
        try:
            force = mean_specific_force(self.imu_record)
        except ValueError:
            return
        if force is None or np.any(self.imu_conventions.mounting):
            return
        axis, sign = int(np.argmax(np.abs(force))), np.sign(force[np.argmax(np.abs(force))])
        quarter = round(math.pi / 2.0, 6)
        turns = {
            (0, 1.0): (0.0, -quarter, 0.0),
            (0, -1.0): (0.0, quarter, 0.0),
            (1, 1.0): (quarter, 0.0, 0.0),
            (1, -1.0): (-quarter, 0.0, 0.0),
            (2, -1.0): (round(math.pi, 6), 0.0, 0.0),
        }
        if (axis, sign) in turns:
            mounting = turns[axis, sign]
            names = ("mounting_roll", "mounting_pitch", "mounting_yaw")
            remedy = ", ".join(f"{n} = {v:g}" for n, v in zip(names, mounting) if v)
            conventions = replace(self.imu_conventions, mounting=mounting)
            yield (
                faults.MOUNTING,
                f"[imu_recording] {remedy}",
                True,
                replace(self, imu_conventions=conventions),
            )

    def _reference_ways(self):
        samples, conventions = self.reference, self.reference_conventions
        if self.fixes is not None:
            yield (
                faults.MIRRORED_POSITIONS,
                "latitude and longitude are exchanged: exchange their columns",
                True,
                replace(self, fixes=_exchanged(self.fixes)),
            )
            return
        for convention in _others(YAW_CONVENTIONS, conventions.yaw):
            mirrored = convention.startswith("cw") != conventions.yaw.startswith("cw")
            fault = faults.MIRRORED_YAW if mirrored else faults.YAW_OFFSET
            yield (fault, *self._with_reference_conventions(yaw_convention=convention))
        for frame in _others(FRAMES, conventions.frame):
            yield (faults.FRAME, *self._with_reference_conventions(frame=frame))
        if samples.has(QUATERNION):
            (order,) = _others(QUATERNION_ORDERS, conventions.quaternion_order)
            inverse = not conventions.quaternion_inverse
            change = self._with_reference_conventions
            yield (faults.QUATERNION_ORDER, *change(quaternion_order=order))
            yield (faults.QUATERNION_DIRECTION, *change(quaternion_inverse=inverse))
            yield (
                faults.QUATERNION_ORDER,
                *change(quaternion_order=order, quaternion_inverse=inverse),
            )
        elif "yaw" in samples:
            stated = _stated(samples, ("yaw",))
            factor, unit = (1.0 / _DEGREE, "rad") if stated else (_DEGREE, "deg")
            yield (
                faults.RADIANS if stated else faults.DEGREES,
                f"[reference_columns] yaw = ... [{unit}]",
                True,
                replace(self, reference=_scaled(samples, ("yaw",), factor)),
            )
        yield (
            faults.MIRRORED_POSITIONS,
            "exchange x and y, as a north-east-down world has them",
            True,
            replace(self, reference=_swapped(samples)),
        )

    def _with_imu_conventions(self, section, **changes):
        conventions = replace(self.imu_conventions, **changes)
        return _setting(section, changes), True, replace(self, imu_conventions=conventions)

    def _with_reference_conventions(self, **changes):
        conventions = replace(self.reference_conventions, **changes)
        way = replace(self, reference_conventions=conventions)
        return _setting("[reference]", changes), True, way

    def _with_scaled_imu(self, names, factor, unit):
        key = f"{names[-1]} = ... [{unit}]"
        remedy = f"[imu_columns] {key}" if self.imu.format == "csv" else "no setting mends it"
        return remedy, True, replace(self, imu=_scaled(self.imu, names, factor))


def thinned(samples, rate=CHECKED_RATE):
    """Every so many samples only, of an IMU that gives more than a check needs."""
    times = samples.columns["stamp"]
    times = times[np.isfinite(times)]
    if len(times) < 2:
        return samples
    period = np.median(np.abs(np.diff(times)))
    every = int(1.0 / (rate * period)) if period > 0.0 else 1
    if every < 2:
        return samples
    columns = {name: values[::every] for name, values in samples.columns.items()}
    return replace(samples, columns=columns, places=samples.places[::every])


def _others(choices, present):
    return [choice for choice in _likeliest(choices) if choice != present]


def _likeliest(choices):
    """A compass's yaw is what is met most often beside this package's own."""
    first = [choice for choice in ("cw_from_north", "ccw_from_east") if choice in choices]
    return first + [choice for choice in choices if choice not in first]


def _setting(section, changes) -> str:
    text = {True: "true", False: "false"}
    return f"{section} " + ", ".join(f"{k} = {text.get(v, v)}" for k, v in changes.items())


def _stated(samples, names) -> bool:
    return any(name in samples.stated_units for name in names)


def _scaled(samples, names, factor):
    columns = {**samples.columns, **{name: factor * samples.columns[name] for name in names}}
    return replace(samples, columns=columns)


def _swapped(samples):
    x, y = (samples.columns[name] for name in POSITION)
    return replace(samples, columns={**samples.columns, "x": y, "y": x})


def _exchanged(poses):
    """Poses as they are when east and north are exchanged."""
    return poses.assign(x=poses["y"], y=poses["x"], yaw=0.5 * math.pi - poses["yaw"])


def is_fix(samples) -> bool:
    """Whether a reference is made of satellite fixes."""
    return samples.has(GLOBAL_POSITION) and not samples.has(POSITION)
