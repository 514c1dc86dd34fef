"""Scalar calibration: readings that should all have the same size, of a field or of gravity.

The readings y of a sensor that is turned every way lie on an ellipsoid, :math:`y = A h + b + n`
with :math:`|h| = F`. A turned sensor has the same sizes, so that of all A which differ by a turn
one is looked for, the symmetric one (Merayo et al., Measurement Science and Technology 11, 2000;
Gebre-Egziabher et al., Journal of Aerospace Engineering 19, 2006). Nonlinear least squares of
:math:`|A^{-1} (y - b)|` from the ellipsoid that fits best algebraically, by
scipy.optimize.least_squares. Then steps that take away what noise does to lengths on average, and
the intervals, with the noise that is given, or white and flicker noise as they are found in the
residuals (:mod:`.calibration.estimates`): a bias of one axis that wanders is seen from changing
sides. Libraries that fit ellipsoids, as there are, give no intervals.

An accelerometer at rest measures gravity, however it lies (Tedaldi, Pretto, Menegatti: A robust and
easy to implement method for IMU calibration without external equipments, ICRA 2014). Which way
gravity points is not asked, so that placement does not count; a turn of all three axes together
does not show, so that the misalignment that is found is symmetric.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Sequence

import numpy as np
from scipy.optimize import least_squares

from ...core.checks import check_number
from ...core.errors import RecordingError
from ...core.units import STANDARD_GRAVITY
from . import estimates
from .inertial import TriadCalibration
from .rest_times import RestTime

# Of A, which is symmetric, those that are looked for.
_ELEMENTS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
_MIN_SPREAD = 0.1  # Smallest variance of the directions along any axis; 1/3 is the same in all
_MIN_POINTS = 30
_BLOCKS = 250
_MAX_AXES_RATIO = 3.0
_STEPS = 6


@dataclass(frozen=True)
class SphereFit:
    """What a scalar calibration found: bias (of a magnetometer: hard iron) and matrix (soft iron).

    ``size``: F, to which the readings are corrected; ``scatter``: standard deviation of the
    corrected readings' sizes; ``spread``: smallest variance of the directions along any axis;
    ``directions`` (n, 3): corrected readings over F.
    """

    calibration: TriadCalibration
    size: float
    scatter: float
    spread: float
    directions: np.ndarray


def fit_to_sphere(
    times: np.ndarray,
    readings: np.ndarray,
    size: float | None = None,
    noise: Sequence[estimates.SlowNoise] | None = None,
    source: str = "the recording",
    what: str = "magnetometer",
    parts: Sequence[RestTime] | None = None,
) -> SphereFit:
    """Find bias and matrix of readings that should lie on a sphere.

    ``times`` (n,) [s]; ``readings`` (n, 3). ``size``: F, in the readings' unit. Where it is not
    known the mean of the three scale factors is taken as right: a heading does not depend on it.
    ``noise`` (3 SlowNoise): by default it is found in the readings, alike for all axes; ``source``,
    ``what``: to begin a sentence with. ``parts`` (sequence of RestTime): times that count, of each
    of which means are taken; by default the sensor turns all the time. Raises RecordingError: a
    reading is not finite, there are too few, they do not span the directions, or they lie on no
    ellipsoid.
    """
    readings = np.asarray(readings, dtype=float)
    said = f"{source}, {what}"
    if parts:
        used = np.concatenate([np.arange(part.start, part.stop) for part in parts])
        times, readings = times[used], readings[used]
        ends = np.cumsum([part.stop - part.start for part in parts]).tolist()
        parts = [RestTime(start, stop) for start, stop in zip([0, *ends], ends)]
    if readings.ndim != 2 or readings.shape[1] != 3 or not np.isfinite(readings).all():
        raise RecordingError(f"{said}: expected three finite numbers in each sample")
    if len(readings) < _MIN_POINTS:
        raise RecordingError(
            f"{said}: has {len(readings)} samples, expected at least {_MIN_POINTS}"
        )
    size = None if size is None else check_number("size", size, above=0.0)
    unit = float(np.median(np.linalg.norm(readings - readings.mean(axis=0), axis=1)))
    if unit <= 0.0 or np.linalg.matrix_rank(readings - readings.mean(axis=0), tol=1e-3 * unit) < 3:
        raise RecordingError(_flat(said))
    scaled = readings / unit
    matrix, bias = _algebraic(scaled, said)
    radius = np.trace(matrix) / 3.0 if size is None else size / unit
    fitted = least_squares(
        lambda p: np.linalg.norm(_true(p, scaled), axis=1) - radius,
        np.concatenate([bias, [matrix[place] / radius for place in _ELEMENTS]]),
        method="lm",
    )
    free = fitted.x
    if not fitted.success or not np.isfinite(free).all():
        raise RecordingError(f"{said}: the readings lie on no ellipsoid")
    for _ in range(_STEPS):
        seen = _seen(free, scaled, radius)
        free = free + np.linalg.lstsq(seen.design, seen.residuals, rcond=None)[0]
    seen = _seen(free, scaled, radius)
    spread = float(np.linalg.eigvalsh(np.cov(seen.directions.T, bias=True))[0])
    if not np.isfinite(free).all() or spread < _MIN_SPREAD:
        raise RecordingError(_flat(said))
    # Of an unknown size, the mean scale factor is 1.
    mean = free[3:6].mean() if size is None else 1.0
    found = np.concatenate([free[:3], free[3:] / mean])
    back = np.diag(np.repeat([1.0, 1.0 / mean], [3, 6]))
    if size is None:
        back[3:, 3:6] -= found[3:, None] / (3.0 * mean)
    scaled_noise = noise and [_over(one, unit) for one in noise]
    solution = _with_noise(times, seen, back, scaled_noise, said, parts)
    numbers = np.array([(one.value, one.low, one.high) for one in solution.estimates])
    numbers += found[:, None]
    rows: list = [[estimates.FoundValue(0.0, 0.0, 0.0)] * 3 for _ in range(3)]
    for (i, j), one in zip(_ELEMENTS, numbers[3:]):
        rows[i][j] = rows[j][i] = estimates.FoundValue(*(one - (i == j)).tolist())
    scatter = float(np.sqrt(seen.variance)) * unit
    calibration = TriadCalibration(
        tuple(estimates.FoundValue(*row) for row in (numbers[:3] * unit).tolist()),
        tuple(map(tuple, rows)),
        noise=tuple(noise) if noise else (_over(solution.noise, 1.0 / unit),) * 3,
        method=f"ellipsoid through {len(readings)} samples",
        residual=scatter,
    )
    return SphereFit(calibration, float(radius * mean) * unit, scatter, spread, seen.directions)


def _flat(said):
    return (
        f"{said}: the motion does not span all directions, expected the sensor turned about two "
        "axes at least, each way up"
    )


def _algebraic(points, said):
    """Return A times F and b of the quadric that fits best; it must be an ellipsoid."""
    # From within: a quadric in this form cannot go through the origin.
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    x, y, z = (points - middle).T
    columns = np.column_stack(
        [x * x, y * y, z * z, 2 * x * y, 2 * x * z, 2 * y * z, 2 * x, 2 * y, 2 * z]
    )
    found, _, rank, _ = np.linalg.lstsq(columns, np.ones(len(points)), rcond=1e-9)
    a, b, c, d, e, f, *half = found
    quadric = np.array([[a, d, e], [d, b, f], [e, f, c]])
    if rank < 9 or not np.isfinite(found).all():
        raise RecordingError(_flat(said))
    try:
        centre = -np.linalg.solve(quadric, half)
    except np.linalg.LinAlgError:
        raise RecordingError(_flat(said)) from None
    values, vectors = np.linalg.eigh(quadric / (1.0 + centre @ quadric @ centre))
    if values[0] <= 0.0 or values[-1] > _MAX_AXES_RATIO**2 * values[0]:
        raise RecordingError(_flat(said))
    # |root (y - b)| = 1, hence y - b = inverse root times a unit vector.
    return vectors @ np.diag(1.0 / np.sqrt(values)) @ vectors.T, centre + middle


def _matrix(values):
    matrix = np.zeros((3, 3))
    for (i, j), value in zip(_ELEMENTS, values):
        matrix[i, j] = matrix[j, i] = value
    return matrix


def _true(parameters, points):
    """Return what the field was, in the sensor's axes, shape (n, 3)."""
    return np.linalg.solve(_matrix(parameters[3:]), (points - parameters[:3]).T).T


class _Seen(NamedTuple):
    """What the readings say of parameters, in the readings' own unit.

    Residuals (n,), design (n, 9), the direction of noise that each reading shows (n, 3), that of
    the field (n, 3), and the variance of noise.
    """

    residuals: np.ndarray
    design: np.ndarray
    sides: np.ndarray
    directions: np.ndarray
    variance: float


def _seen(parameters, points, radius) -> _Seen:
    r"""Return what is left of each reading's distance from the ellipsoid, and its derivatives.

    Noise n of the readings changes the length of :math:`h = A^{-1} (y - b)` by u . n with
    :math:`u = A^{-T} h / |h|`, so that residuals over :math:`|u|` scatter alike everywhere. On
    average it makes h longer, by half of its variance times the length's second derivatives,
    :math:`(\mathrm{tr} A^{-1} A^{-T} - |u|^2) / F`. The derivatives are those on the sphere: with
    the noise of h in them they would hang together with the residuals, which shrinks scale factors.
    """
    true = _true(parameters, points)
    lengths = np.linalg.norm(true, axis=1)
    directions = true / lengths[:, None]
    inverse = np.linalg.inv(_matrix(parameters[3:]))
    sides = directions @ inverse
    squares = np.sum(sides**2, axis=1)
    derivatives = radius * sides[:, :, None] * directions[:, None, :]
    columns = [
        derivatives[:, i, j] + (derivatives[:, j, i] if i < j else 0.0) for i, j in _ELEMENTS
    ]
    sizes = np.sqrt(squares)
    variance = float(np.sum((lengths - radius) ** 2 / squares)) / (len(points) - 9)
    longer = 0.5 * variance / radius * (np.sum(inverse**2) - squares)
    design = np.column_stack([sides, *columns]) / sizes[:, None]
    residuals = (lengths - radius - longer) / sizes
    return _Seen(residuals, design, sides / sizes[:, None], directions, variance)


def _over(noise, unit):
    levels = ("white_noise", "bias_instability", "random_walk")
    return replace(noise, **{name: getattr(noise, name) / unit for name in levels})


def _with_noise(times, seen, back, noise, said, parts):
    """Return how far the parameters still are off, with intervals, from means over blocks."""
    samples = np.column_stack([seen.residuals, seen.design, seen.sides])
    parts = parts or [RestTime(0, len(times))]
    begin, end, means, group = estimates.block_means(times, samples, parts, _BLOCKS, 0.0)
    sides = means[:, 10:]
    beside = None
    if noise:
        along_time = {one: one.covariance(begin, end) for one in set(noise)}
        beside = sum(np.outer(side, side) * along_time[one] for side, one in zip(sides.T, noise))
    axis = estimates.Axis(means[:, 0], means[:, 1:10], beside, said)
    (solution,) = estimates.solve(
        estimates.Means(begin, end, group, [axis]),
        [estimates.SlowNoise(0.0)] if noise else None,
        seen=sides @ sides.T,
        combinations=back,
        prior=estimates.MAGNETIC,
    )
    return solution


_MIN_POSITIONS = 9  # As many as there are numbers to be found
_ANOTHER_POSITION = np.cos(np.radians(15.0))


def calibrate_accelerometer_freely(
    times: np.ndarray,
    accel: np.ndarray,
    rests: Sequence[RestTime],
    *,
    noise: Sequence[estimates.SlowNoise],
    gravity: float = STANDARD_GRAVITY,
    source: str = "the recording",
) -> TriadCalibration:
    """Find bias, scale factors and misalignments from rest in nine or more positions.

    ``times``, ``accel``, ``rests``, ``gravity``, ``source``: as for
    :func:`.calibrate_accelerometer`. ``noise`` (3 SlowNoise): of each axis. It has to be known:
    sizes of gravity do not tell one axis from another, and where axes are as unlike as those of
    many sensors, intervals of a common noise do not hold. Raises RecordingError: there are fewer
    positions that are 15 degrees or more apart, or they do not span all directions.
    """
    gravity = check_number("gravity", gravity, above=0.0)
    means = np.array([accel[rest.start : rest.stop].mean(axis=0) for rest in rests])
    means = means.reshape(-1, 3) / np.maximum(np.linalg.norm(means, axis=-1), 1e-9)[..., None]
    positions: list[np.ndarray] = []
    for direction in means:
        if all(direction @ other < _ANOTHER_POSITION for other in positions):
            positions.append(direction)
    if len(positions) < _MIN_POSITIONS:
        raise RecordingError(
            f"{source}: the accelerometer takes {_MIN_POSITIONS} positions at rest or more, in "
            f"all directions and 15 degrees apart, but there are {len(positions)} in {len(rests)} "
            "times at rest"
        )
    fit = fit_to_sphere(
        times, accel, gravity, noise=noise, source=source, what="accelerometer", parts=rests
    )
    return replace(
        fit.calibration, method=f"gravity's size in {len(positions)} positions of any kind"
    )
