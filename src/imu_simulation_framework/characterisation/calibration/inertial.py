"""Calibration of gyroscope and accelerometer from one recording: at rest, turned, placed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Sequence

import numpy as np

from imu_simulation_framework.characterisation.calibration import triad_fit
from imu_simulation_framework.characterisation.calibration.estimates import SlowNoise, block_means
from imu_simulation_framework.characterisation.calibration.rest_times import RestTime, Turn
from imu_simulation_framework.core.checked_values import AXES, checked_number
from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.core.units import STANDARD_GRAVITY
from imu_simulation_framework.sensors.imu_specification import TriadSpecification

PLACEMENT = np.radians(0.5)
"""Standard deviation of each angle by which a person places a sensor on a table wrongly [rad]."""

_NEAR_AN_AXIS = np.cos(np.radians(20.0))
_NEVER_AN_ACCELEROMETER = 0.3


@dataclass(frozen=True)
class TemperatureFit:
    """Which polynomials of the temperature of each sample, (n,) [degC], are fitted.

    They are 0 at ``reference`` [degC]; None for the mean of the times used, in whole degrees.
    """

    values: np.ndarray
    reference: float | None = None
    bias_degree: int = 2
    scale_degree: int = 0


def noise_of(triad: TriadSpecification) -> tuple[SlowNoise, ...]:
    """Return the noise that a specification says; its Gauss-Markov and ramp terms do not count."""
    return tuple(
        SlowNoise(white, flicker, walk, triad.bias_instability_band)
        for white, flicker, walk in zip(
            triad.white_noise, triad.bias_instability, triad.random_walk
        )
    )


def calibrate_gyroscope(
    times: np.ndarray,
    gyro: np.ndarray,
    rests: Sequence[RestTime],
    turns: Sequence[Turn] = (),
    *,
    noise: Sequence[SlowNoise] | None = None,
    placement: float = PLACEMENT,
    temperature: TemperatureFit | None = None,
    source: str = "the recording",
) -> triad_fit.TriadCalibration:
    """Find the bias at rest and, from turns, scale factor and misalignment.

    Raises RecordingError: what was recorded is too short, or does not tell apart what is asked for.

    Parameters
    ----------
    times : ndarray, shape (n,)
        [s]
    gyro : ndarray, shape (n, 3)
        Angular velocity [rad/s].
    rests : sequence of RestTime
        Of :func:`.find_rest`.
    turns : sequence of Turn
        Of :func:`.whole_turns` or :func:`.turns_of_reference`.
    noise : 3 SlowNoise, optional
        By default it is found in the recording.
    placement : float
        Standard deviation of each angle by which the axes of turns are off, and of how far a turn
        ends from its mark [rad].
    temperature : TemperatureFit, optional
    source : str
        To begin a sentence with.
    """
    placement = checked_number("placement", placement, minimum=0.0)
    begin, end, means, group = block_means(times, gyro, rests)
    truth = np.zeros_like(means)
    together = -1 - group
    own: np.ndarray = np.zeros(len(means))
    rows = []
    origin = times[0] - float(np.median(np.diff(times)))
    for place, turn in enumerate(turns):
        since, until = times[turn.start - 1] - origin, times[turn.stop - 1] - origin
        steps = np.diff(times[turn.start - 1 : turn.stop])
        rate = gyro[turn.start : turn.stop].T @ steps / (until - since)
        angle = np.asarray(turn.angle)
        error = np.hypot(placement if turn.marked else 0.0, turn.sigma) / (until - since)
        axis = int(np.abs(angle).argmax())
        rows.append((since, until, rate, len(rests) + place, angle / (until - since), axis, error))
    if rows:
        static = (begin, end, means, group, truth, together, own)
        begin, end, means, group, truth, together, own = (
            np.concatenate([one, [row[k] for row in rows]]) for k, one in enumerate(static)
        )
    order = np.argsort(begin, kind="stable")
    tilt = placement if any(turn.marked for turn in turns) else 0.0
    known = triad_fit.KnownTruth(truth[order], together[order], tilt, own[order])
    ranges = [*((rest.start, rest.stop) for rest in rests), *((t.start, t.stop) for t in turns)]
    names = sorted({AXES[int(np.abs(turn.angle).argmax())] for turn in turns})
    method = "means of all times at rest"
    if names:
        method += f", turns about {', '.join(names)}"
    return triad_fit.fit_triad(
        begin[order],
        end[order],
        means[order],
        group[order],
        known,
        noise,
        _temperatures(temperature, times, begin[order], end[order], origin, source, ranges),
        method,
        f"{source}, gyroscope",
    )


def calibrate_accelerometer(
    times: np.ndarray,
    accel: np.ndarray,
    rests: Sequence[RestTime],
    *,
    gravity: float = STANDARD_GRAVITY,
    noise: Sequence[SlowNoise] | None = None,
    placement: float = PLACEMENT,
    temperature: TemperatureFit | None = None,
    source: str = "the recording",
) -> triad_fit.TriadCalibration:
    """Find bias, scale factor and misalignment from rest with each axis up and down.

    Raises RecordingError: fewer than six positions with an axis up or down, or what was recorded is
    too short.

    Parameters
    ----------
    times, rests, noise, temperature, source
        As for :func:`calibrate_gyroscope`.
    accel : ndarray, shape (n, 3)
        Specific force [m/s^2].
    gravity : float
        At the place [m/s^2].
    placement : float
        Standard deviation of each of the angles by which a position is off [rad]. Unless it is 0,
        only the longest time at rest counts of those with the same axis up: who puts a sensor on
        the same face again makes the same error again. For a scale factor over temperature all
        count, with the same error wherever the same axis is up, as in a fixture.
    """
    gravity = checked_number("gravity", gravity, above=0.0)
    placement = checked_number("placement", placement, minimum=0.0)
    begin, end, means, group = block_means(times, accel, rests)
    directions = np.array([_direction(means[group == k], gravity) for k in range(len(rests))])
    kept = np.flatnonzero(directions.any(axis=1))
    seen = {tuple(row) for row in directions[kept].astype(int).tolist()}
    missing = [
        f"{'-' if sign < 0 else '+'}{AXES[axis]}"
        for axis in range(3)
        for sign in (1, -1)
        if tuple(sign * (j == axis) for j in range(3)) not in seen
    ]
    if missing:
        raise RecordingError(
            f"{source}: the accelerometer takes six positions at rest, each axis up and down once, "
            f"but of {len(rests)} none has up along {', '.join(missing)}"
        )
    if placement and not (temperature and temperature.scale_degree):
        kept = _longest(rests, directions, kept)
    used = np.isin(group, kept)
    origin = times[0] - float(np.median(np.diff(times)))
    ranges = [(rests[k].start, rests[k].stop) for k in kept.tolist()]
    faces = np.unique(directions, axis=0, return_inverse=True)[1].ravel()
    return triad_fit.fit_triad(
        begin[used],
        end[used],
        means[used],
        group[used],
        triad_fit.KnownTruth(gravity * directions[group[used]], faces[group[used]], placement),
        noise,
        _temperatures(temperature, times, begin[used], end[used], origin, source, ranges),
        f"{len(kept)} positions with an axis up or down",
        f"{source}, accelerometer",
    )


def _direction(means: np.ndarray, gravity: float) -> np.ndarray:
    """Return the axis that is up, or 0 where none is nearly so."""
    force = means.mean(axis=0)
    size = float(np.linalg.norm(force))
    axis = int(np.abs(force).argmax())
    wanted = np.zeros(3)
    plausible = abs(size / gravity - 1.0) < _NEVER_AN_ACCELEROMETER
    if plausible and abs(force[axis]) > _NEAR_AN_AXIS * size:
        wanted[axis] = np.sign(force[axis])
    return wanted


def _longest(rests: Sequence[RestTime], directions: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Return, of those with the same axis up, the longest time at rest."""
    found: dict[tuple, int] = {}
    for k in kept.tolist():
        other = found.setdefault(tuple(directions[k]), k)
        if rests[k].stop - rests[k].start > rests[other].stop - rests[other].start:
            found[tuple(directions[k])] = k
    return np.array(sorted(found.values()))


def _temperatures(
    fit: Any,
    times: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
    origin: float,
    source: str,
    ranges: Any,
) -> triad_fit.Temperatures | None:
    if fit is None:
        return None
    samples = np.concatenate([fit.values[start:stop] for start, stop in ranges])
    if not np.isfinite(samples).all():
        raise RecordingError(f"{source}: a temperature is not a finite number, leave it out")
    reference = float(np.round(samples.mean())) if fit.reference is None else fit.reference
    since = times - origin
    values = np.array(
        [fit.values[(since > low + 1e-9) & (since <= high + 1e-9)].mean()
         for low, high in zip(begin, end)]
    )  # fmt: skip
    return replace(
        triad_fit.Temperatures(values, reference),
        bias_degree=fit.bias_degree,
        scale_degree=fit.scale_degree,
    )
