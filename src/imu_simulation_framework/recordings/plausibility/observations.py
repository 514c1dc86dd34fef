"""Measurements of a recording from which its findings are derived."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ...core.tables import ACCEL
from ...core.units import STANDARD_GRAVITY
from .handedness import Handedness, handedness
from .relation import (
    PathDirection,
    Relation,
    attitude_headings,
    gyro_heading,
    imu_heading,
    mean_specific_force,
    path_direction,
    reference_heading,
    relate,
    shown_gravity,
    vertical_gyro_heading,
)

GOOD = 0.8
"""Agreement score (see :meth:`Observations.marks`) above which no fault is searched for."""


@dataclass(frozen=True)
class Observations:
    """Measurements of a reference and an IMU with the same clock.

    A relation is None if one of the two headings is missing, or if they do not overlap in time.

    Parameters
    ----------
    reference : pandas.DataFrame
        Poses of the reference.
    imu : pandas.DataFrame or None
        ImuRecord; None if there is only a reference.
    path : PathDirection or None
        Comparison of the course of the path with the yaw; None if the yaw is this course.
    reference_imu, reference_gyro, imu_gyro : Relation or None
        Pairwise comparison of the turns of reference yaw, IMU yaw and gyroscope.
    reference_vertical : Relation or None
        Comparison of the reference with the rate of the gyroscope about gravity.
    specific_force : numpy.ndarray, shape (3,), or None
        Mean of the accelerometer in the body frame [m/s^2]; None if gravity is not visible.
    tilt : float or None
        Angle between the verticals of orientation and accelerometer [rad].
    known : float
        Share of the IMU's duration in which the reference heading is known. Turns of a heading that
        is held or interpolated are excluded from the ``net`` of each relation.
    attitude : scipy.spatial.transform.Slerp or None
        Attitude of a tilted reference, from the body frame to the world frame.
    lateral : Handedness or None
        Comparison of the sign of the gyroscope with the lateral acceleration in curves; None if the
        recording is not conclusive.
    """

    reference: pd.DataFrame
    imu: pd.DataFrame | None
    path: PathDirection | None
    reference_imu: Relation | None
    reference_gyro: Relation | None
    imu_gyro: Relation | None
    reference_vertical: Relation | None
    specific_force: np.ndarray | None
    tilt: float | None
    known: float = 1.0
    attitude: Any = None
    lateral: Handedness | None = None

    def marks(self) -> dict[str, float]:
        """Return an agreement score for each pair of quantities.

        Inconclusive pairs have no score: if a robot never turns, only gravity has a score.

        Returns
        -------
        dict of str to float
            Score by pair: 1 is complete agreement, 0 no agreement, and a negative score opposition.
        """
        marks = {}
        for name in ("reference_imu", "reference_gyro", "imu_gyro", "reference_vertical"):
            relation = getattr(self, name)
            if relation is not None and relation.conclusive:
                # A positive scale factor other than 1 reduces the score.
                size = relation.scale
                marks[name] = relation.correlation * (min(size, 1.0 / size) if size > 0.0 else 1.0)
        if self.path is not None and (self.path.conclusive or self.path.concentrated):
            marks["path"] = self.path.concentration * np.cos(2.0 * self.path.offset)
            if self.path.mirrored:
                marks["path"] = -self.path.mirrored_concentration
        if self.up is not None:
            marks["upright"] = self.up[2]
        if self.specific_force is not None:
            size = float(np.linalg.norm(self.specific_force))
            marks["gravity"] = min(size / STANDARD_GRAVITY, STANDARD_GRAVITY / size)
        if self.tilt is not None:
            marks["tilt"] = np.cos(self.tilt)
        if self.lateral is not None:
            marks["lateral"] = self.lateral.sine
            if self.up is not None and abs(self.up[2]) > GOOD:
                marks["ahead"] = self.lateral.ahead[0]
        return {name: float(mark) for name, mark in marks.items()}

    @cached_property
    def up(self):
        """Upward direction in the body frame, or in the world frame if ``attitude`` is known."""
        if self.imu is None or self.attitude is None or not set(ACCEL) <= set(self.imu):
            return mean_up(self.imu)
        times = self.imu.index.to_numpy(dtype=float)
        within = (times >= self.attitude.times[0]) & (times <= self.attitude.times[-1])
        if not within.any():
            return None
        forces = self.imu[list(ACCEL)].to_numpy()[within]
        mean = shown_gravity(self.attitude(times[within]).apply(forces))
        return None if mean is None else mean / np.linalg.norm(mean)


def observe(
    reference, imu, course_is_yaw=False, shortest_window=1.0, attitude=None
) -> Observations:
    """Measure how well the quantities of a recording agree.

    Parameters
    ----------
    reference : pandas.DataFrame
        Poses of the reference.
    imu : DataFrame or None
        ImuRecord with the same clock.
    course_is_yaw : bool
        Whether the yaw of the reference was computed from its path.
    shortest_window : float
        Shortest window over which turns are compared [s].
    attitude : scipy.spatial.transform.Slerp, optional
        See :class:`Observations`.

    Returns
    -------
    Observations
        Relations between the quantities.
    """
    turns = {"reference": reference_heading(reference)}
    if imu is not None:
        turns["imu"] = imu_heading(imu)
        turns["gyro"] = gyro_heading(imu)
        turns["vertical"] = vertical_gyro_heading(imu)

    times, known = _known_steps(reference, imu)

    def relation(first, second):
        pair = turns.get(first), turns.get(second)
        related = None if None in pair else relate(*pair, shortest_window)
        if related is None or first != "reference" or known.all():
            return related
        heading_changes = (np.diff(heading.at(times))[known] for heading in pair)
        return replace(related, net=tuple(float(turn.sum()) for turn in heading_changes))

    leaning = None if attitude is None or imu is None else attitude_headings(attitude, imu)
    if leaning is None:
        reference_gyro, vertical = relation("reference", "gyro"), relation("reference", "vertical")
    else:
        reference_gyro, vertical = relate(leaning[0], leaning[1], shortest_window), None
    force = None if imu is None else mean_specific_force(imu)
    delays = [pair.delay for pair in (reference_gyro, vertical) if pair is not None and pair.delay]
    return Observations(
        reference=reference,
        imu=imu,
        path=None if course_is_yaw else path_direction(reference),
        reference_imu=relation("reference", "imu"),
        reference_gyro=reference_gyro,
        imu_gyro=relation("imu", "gyro"),
        reference_vertical=vertical,
        specific_force=force,
        tilt=_tilt(imu, force),
        known=float(np.mean(known)) if len(known) else 1.0,
        attitude=None if leaning is None else attitude,
        lateral=handedness(reference, imu, *delays[:1]),
    )


def _known_steps(reference, imu):
    """Return reference times [s] during the IMU recording, and a mask of known yaw increments."""
    times = reference.index.to_numpy(dtype=float)
    known = np.ones(len(times), dtype=bool)
    if "yaw_known" in reference:
        known = reference["yaw_known"].to_numpy() == 1.0
    if imu is not None:
        shared = (times >= imu.index[0]) & (times <= imu.index[-1])
        times, known = times[shared], known[shared]
    return times, known[1:] & known[:-1]


def mean_up(imu):
    """Return the mean upward direction during a drive, as a unit vector in the body frame.

    It is determined from the accelerometer, or from the orientation if gravity is not visible.

    Parameters
    ----------
    imu : pandas.DataFrame or None
        ImuRecord.

    Returns
    -------
    numpy.ndarray, shape (3,), or None
        Unit vector; None if neither accelerometer nor orientation is available.
    """
    if imu is None:
        return None
    force = mean_specific_force(imu)
    up = force if force is not None else _up_of_orientation(imu)
    return up / np.linalg.norm(up) if up is not None and up.any() else None


def _up_of_orientation(imu):
    if "roll" not in imu:
        return None
    roll, pitch = imu["roll"].to_numpy(), imu["pitch"].to_numpy()
    level = np.cos(pitch)
    return np.mean([-np.sin(pitch), level * np.sin(roll), level * np.cos(roll)], axis=1)


def _tilt(imu, force):
    up = None if force is None else _up_of_orientation(imu)
    if up is None:
        return None
    size = np.linalg.norm(up) * np.linalg.norm(force)
    return float(np.arccos(np.clip(up @ force / size, -1.0, 1.0))) if size > 0.0 else 0.0
