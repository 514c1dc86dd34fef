r"""Calibration of gyroscope and accelerometer from one recording: at rest, turned, placed.

Bias, scale factor and misalignment are found from means whose truth is known: for each axis a, by
:func:`.calibration.estimates.solve`,

.. math:: y_a - f_a = b_a + \sum_k c_{ak} \Delta T^k + \sum_j M_{aj} f_j
          + f_a \sum_k s_{ak} \Delta T^k + n_a

with the truth f (the specific force in a position, the mean angular velocity of a turn) and the
temperature's difference :math:`\Delta T` from a reference: the errors of a
:class:`.TriadSpecification` (IEEE Std 1293 and 952 have such models).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Sequence, Tuple

import numpy as np

from ...core.checks import AXES, check_number
from ...core.errors import RecordingError
from ...core.units import STANDARD_GRAVITY
from ...sensors.correction import TriadCorrection
from ...sensors.imu_specification import TriadSpecification
from .estimates import Axis, FoundValue, Means, SlowNoise, block_means, solve
from .rest_times import RestTime, Turn

Row = Tuple[FoundValue, ...]
_MIN_EXCITED = 0.2


@dataclass(frozen=True)
class TemperatureFit:
    """Which polynomials of the temperature of each sample, (n,) [degC], are fitted.

    They are 0 at ``reference`` [degC]; None for the mean of the times used, in whole degrees.
    """

    values: np.ndarray
    reference: float | None = None
    bias_degree: int = 2
    scale_degree: int = 0


@dataclass(frozen=True)
class KnownTruth:
    """What the sensors should have said, and how well that is known.

    ``values`` (n, 3): truth of each mean [rad/s; m/s^2]. ``together`` (n,) of int: means with the
    same number have the same error of placement; ``placement``: standard deviation of each angle by
    which the sensor was placed wrongly [rad]. ``own`` (n,): standard deviation along the truth, of
    each mean itself [rad/s; m/s^2].
    """

    values: np.ndarray
    together: np.ndarray
    placement: float = 0.0
    own: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def covariance(self, row: Any, variance: Any = (0.0, 0.0, 0.0)) -> np.ndarray:
        """Return the covariance that this brings into the readings of one axis, shape (n, n).

        With the ``row`` r of I + M, (3,) or (n, 3), at each mean's temperature, and the
        ``variance`` of what is known of it, a tilt by small angles e adds r . (e x f) = e . (f x
        r), so that what is across the truth shows through the misalignment along it, too; and half
        the squares of the angles along the truth.
        """
        along = np.sum(self.values * row, axis=1)
        tilted = self.placement**4 * np.outer(along, along)
        for likely, weight in ((row, 1.0), *zip(np.eye(3), variance)):
            lever = np.cross(self.values, likely)
            tilted += weight * self.placement**2 * (lever @ lever.T)
        total = np.where(self.together[:, None] == self.together, tilted, 0.0)
        if len(self.own):
            size = np.linalg.norm(self.values, axis=1)
            share = np.divide(along, size, out=np.zeros_like(size), where=size > 0.0)
            total = total + np.diag((self.own * share) ** 2)
        return total

    @property
    def expected(self) -> np.ndarray:
        """The mean of what a sensor that is placed so feels."""
        return self.values * (1.0 - self.placement**2)


@dataclass(frozen=True)
class TriadCalibration:
    """What was found of three sensors.

    ``bias`` (3 FoundValue): at the recording's first sample and, if there is one, at the reference
    temperature [rad/s; m/s^2]. ``matrix`` (3 x 3 FoundValue or None): scale factor errors and
    misalignments M in ``(I + M) truth``; None where nothing showed it. ``temperature_bias``,
    ``temperature_scale`` (tuple of 3 FoundValue): for each power of the temperature's difference;
    ``noise`` (3 SlowNoise): as given, or as found; ``method``: how it was found, for a person.
    ``residual``: root mean square of what is left in the means [rad/s; m/s^2].
    """

    bias: Row
    matrix: tuple[tuple[FoundValue | None, ...], ...]
    temperature_bias: tuple[Row, ...] = ()
    temperature_scale: tuple[Row, ...] = ()
    noise: tuple[SlowNoise, ...] = ()
    method: str = ""
    residual: float = 0.0


def fit_triad(
    begin: np.ndarray,
    end: np.ndarray,
    values: np.ndarray,
    group: np.ndarray,
    truth: KnownTruth,
    noise: Sequence[SlowNoise] | None = None,
    temperatures: TemperatureFit | None = None,
    method: str = "",
    what: str = "the recording",
) -> TriadCalibration:
    """Fit the errors of three sensors to means.

    ``begin``, ``end`` (n,): of the times [s], in their order, not overlapping. ``values`` (n, 3):
    means of the readings [rad/s; m/s^2]. ``group`` (n,) of int: time at rest or turn; ``noise`` (3
    SlowNoise): by default it is found in the recording; ``temperatures``: of each mean, with a
    reference; ``method``, ``what``: for the result, and to begin a sentence with. Raises
    RecordingError: the means do not tell apart what is asked for, or are too few.
    """
    size = np.abs(truth.values).max()
    excited = [j for j in range(3) if np.abs(truth.values[:, j]).max() > _MIN_EXCITED * size]
    bias_degree = temperatures.bias_degree if temperatures else 0
    scale_degree = temperatures.scale_degree if temperatures else 0
    powers: list[np.ndarray] = []
    if temperatures:
        away = temperatures.values - temperatures.reference
        powers = [away**k for k in range(1, 1 + max(bias_degree, scale_degree))]
    first = 1 + bias_degree
    last = first + len(excited)
    designs, warm = [], np.zeros((3, len(values)))
    rows, variances = np.eye(3), np.zeros((3, 3))
    off = values - truth.expected
    for axis, unit in enumerate(np.eye(3)):
        columns = [np.ones(len(values)), *powers[:bias_degree]]
        columns += [truth.expected[:, j] for j in excited]
        scaled = axis in excited
        if scaled:
            columns += [truth.expected[:, axis] * power for power in powers[:scale_degree]]
        designs.append(np.column_stack(columns))
        # Rough ones are enough to know how a tilt shows.
        inverse = np.linalg.pinv(designs[-1])
        rough = inverse @ off[:, axis]
        spread = np.diag(inverse @ truth.covariance(unit) @ inverse.T)
        rows[axis, excited] += rough[first:last]
        variances[axis, excited] = spread[first:last]
        if scaled:
            warm[axis] = sum((slope * power for slope, power in zip(rough[last:], powers)), 0.0)
    rows, variances = _likely_rows(rows, variances)
    axes = []
    for axis, unit in enumerate(np.eye(3)):
        beside = truth.covariance(rows[axis] + warm[axis][:, None] * unit, variances[axis])
        axes.append(Axis(off[:, axis], designs[axis], beside, f"{what}, axis {AXES[axis]}"))
    found = solve(Means(begin, end, group, axes), noise or None)
    estimates = [one.estimates for one in found]
    zero = FoundValue(0.0, 0.0, 0.0)
    matrix = (
        tuple(row[first + excited.index(j)] if j in excited else None for j in range(3))
        for row in estimates
    )
    scales = (
        tuple(row[last + k] if axis in excited else zero for axis, row in enumerate(estimates))
        for k in range(scale_degree if excited else 0)
    )
    bias, *by_temperature = zip(*(row[:first] for row in estimates))
    residual = float(np.sqrt(np.mean([one.residuals**2 for one in found])))
    noises = tuple(one.noise for one in found)
    known = (tuple(matrix), tuple(by_temperature), tuple(scales), noises)
    return TriadCalibration(bias, *known, method, residual)


def _likely_rows(rows: np.ndarray, variances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance of I + M, of estimates whose variances are those of the placement.

    Placement makes misalignments look larger than they are, and what a tilt adds along the truth
    with them. They are therefore taken for draws about zero, of as much variance as theirs exceeds
    that of their estimates (empirical Bayes; Morris, JASA 78, 1983).
    """
    across = (variances > 0.0) & ~np.eye(3, dtype=bool)
    kept = np.ones((3, 3))
    if across.any():
        own = max(float(np.mean(rows[across] ** 2 - variances[across])), 0.0)
        kept[across] = own / (own + variances[across])
    return kept * rows, np.where(across, kept * variances, 0.0)


def correction_of(
    calibration: TriadCalibration,
    reference: float = 25.0,
    temperature_range: tuple[float, float] = (-273.15, 1000.0),
) -> TriadCorrection:
    """Return the correction that a calibration gives; what it did not see is not corrected.

    ``reference`` is that of its temperature polynomials, and the range the lowest and the highest
    temperature [degC].
    """

    def values(row: Sequence[Any], of: str = "value") -> Any:
        return tuple(0.0 if one is None else getattr(one, of) for one in row)

    temperature: dict[str, Any] = {}
    if calibration.temperature_bias or calibration.temperature_scale:
        temperature = {
            "temperature_bias": tuple(map(values, calibration.temperature_bias)),
            "temperature_scale_factor": tuple(map(values, calibration.temperature_scale)),
            "temperature_reference": reference,
            "temperature_range": temperature_range,
        }
    bias, matrix = calibration.bias, calibration.matrix
    matrices: Any = [tuple(values(row, of) for row in matrix) for of in ("value", "sigma")]
    return TriadCorrection(values(bias), values(bias, "sigma"), *matrices, **temperature)


PLACEMENT = np.radians(0.5)
"""Standard deviation of each angle by which a person places a sensor on a table wrongly [rad]."""

_NEAR_AN_AXIS = np.cos(np.radians(20.0))
_NEVER_AN_ACCELEROMETER = 0.3


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
) -> TriadCalibration:
    """Find the bias at rest and, from turns, scale factor and misalignment.

    ``times`` (n,) [s]; ``gyro`` (n, 3): angular velocity [rad/s]; ``rests`` (sequence of RestTime):
    of :func:`.find_rest`; ``turns`` (sequence of Turn): of :func:`.whole_turns` or
    :func:`.turns_of_reference`; ``noise`` (3 SlowNoise): by default it is found in the recording;
    ``placement``: standard deviation of each angle by which the axes of turns are off, and of how
    far a turn ends from its mark [rad]; ``source``: to begin a sentence with. Raises
    RecordingError: what was recorded is too short, or does not tell apart what is asked for.
    """
    placement = check_number("placement", placement, minimum=0.0)
    begin, end, means, group = block_means(times, gyro, rests)
    origin = times[0] - float(np.median(np.diff(times)))
    # Of each mean: begin, end, mean, group, truth, what it is together with, own deviation.
    columns = (begin, end, means, group, np.zeros_like(means), -1 - group, np.zeros(len(means)))
    rows = []
    for place, turn in enumerate(turns):
        since, until = times[turn.start - 1] - origin, times[turn.stop - 1] - origin
        steps = np.diff(times[turn.start - 1 : turn.stop])
        rate = gyro[turn.start : turn.stop].T @ steps / (until - since)
        angle = np.asarray(turn.angle)
        error = np.hypot(placement if turn.marked else 0.0, turn.sigma) / (until - since)
        axis = int(np.abs(angle).argmax())
        rows.append((since, until, rate, len(rests) + place, angle / (until - since), axis, error))
    if rows:
        columns = tuple(np.concatenate(pair) for pair in zip(columns, map(list, zip(*rows))))
    order = np.argsort(columns[0], kind="stable")
    begin, end, means, group, truth, together, own = (column[order] for column in columns)
    tilt = placement if any(turn.marked for turn in turns) else 0.0
    names = sorted({AXES[row[5]] for row in rows})
    method = f"means of all times at rest{', turns about ' * bool(names)}{', '.join(names)}"
    known, what = KnownTruth(truth, together, tilt, own), f"{source}, gyroscope"
    warmth = _of_means(temperature, times, begin, end, [*rests, *turns], source)
    return fit_triad(begin, end, means, group, known, noise, warmth, method, what)


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
) -> TriadCalibration:
    """Find bias, scale factor and misalignment from rest with each axis up and down.

    ``times``, ``rests``, ``noise``, ``temperature``, ``source``: as for
    :func:`calibrate_gyroscope`; ``accel`` (n, 3): specific force [m/s^2]; ``gravity``: at the place
    [m/s^2]; ``placement``: standard deviation of each of the angles by which a position is off
    [rad]. Unless it is 0, only the longest time at rest counts of those with the same axis up: who
    puts a sensor on the same face again makes the same error again. For a scale factor over
    temperature all count, with the same error wherever the same axis is up, as in a fixture. Raises
    RecordingError: fewer than six positions with an axis up or down, or what was recorded is too
    short.
    """
    gravity = check_number("gravity", gravity, above=0.0)
    placement = check_number("placement", placement, minimum=0.0)
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
        longest: dict[tuple, int] = {}  # of those with the same axis up
        for k in sorted(kept.tolist(), key=lambda k: rests[k].start - rests[k].stop):
            longest.setdefault(tuple(directions[k]), k)
        kept = np.array(sorted(longest.values()))
    used = np.isin(group, kept)
    begin, end, means, group = begin[used], end[used], means[used], group[used]
    faces = np.unique(directions, axis=0, return_inverse=True)[1].ravel()
    known = KnownTruth(gravity * directions[group], faces[group], placement)
    used_rests = [rests[k] for k in kept.tolist()]
    warmth = _of_means(temperature, times, begin, end, used_rests, source)
    method = f"{len(kept)} positions with an axis up or down"
    what = f"{source}, accelerometer"
    return fit_triad(begin, end, means, group, known, noise, warmth, method, what)


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


def _of_means(
    fit: TemperatureFit | None,
    times: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
    parts: Sequence[Any],
    source: str,
) -> TemperatureFit | None:
    """Return the temperatures of means, and a reference: the mean of the parts, unless it is so."""
    if fit is None:
        return None
    samples = np.concatenate([fit.values[part.start : part.stop] for part in parts])
    if not np.isfinite(samples).all():
        raise RecordingError(f"{source}: a temperature is not a finite number, leave it out")
    reference = float(np.round(samples.mean())) if fit.reference is None else fit.reference
    since = times - (times[0] - float(np.median(np.diff(times))))
    inside = ((since > low + 1e-9) & (since <= high + 1e-9) for low, high in zip(begin, end))
    values = np.array([fit.values[samples].mean() for samples in inside])
    return replace(fit, values=values, reference=reference)
