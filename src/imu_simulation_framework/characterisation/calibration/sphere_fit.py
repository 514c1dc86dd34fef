"""Scalar calibration of a triad with a vector of constant magnitude: magnetic field or gravity.

The readings y of a sensor that is turned in all directions lie on an ellipsoid, :math:`y = A h + b
+ n` with :math:`|h| = F`. A rotation of the sensor does not change the magnitude, so that A is only
determined up to a rotation. The symmetric A is therefore estimated (Merayo et al., Measurement
Science and Technology 11, 2000; Gebre-Egziabher et al., Journal of Aerospace Engineering 19, 2006).
The algebraic fit of an ellipsoid is the initial value for nonlinear least squares of
:math:`|A^{-1} (y - b)|` with scipy.optimize.least_squares. Additional steps remove the bias of the
lengths that is caused by noise. The intervals follow from the given noise, or from white and
flicker noise estimated from the residuals (:mod:`.calibration.estimates`). The bias of an axis
affects the residuals with a sign that changes with the direction. Libraries that fit ellipsoids do
not provide intervals.

An accelerometer at rest measures gravity in any orientation (Tedaldi, Pretto, Menegatti: A robust
and easy to implement method for IMU calibration without external equipments, ICRA 2014). The method
does not use the direction of gravity, so that placement errors have no effect. A common rotation of
all three axes is not observable, so that the estimated misalignment is symmetric.
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

# Indices of the estimated elements of the symmetric matrix A.
_ELEMENTS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
_MIN_SPREAD = 0.1  # smallest variance of unit vectors along any axis; isotropic: 1/3
_MIN_POINTS = 30
_BLOCKS = 250  # number of blocks over which samples are averaged to estimate the noise
_MAX_AXES_RATIO = 3.0  # largest ratio of the longest to the shortest axis of the ellipsoid
_NOISE_CORRECTION_STEPS = 6

# Accepted range [T] of the Earth's field (22 to 67 uT) with large scale factor errors.
_EARTHS_FIELD = (15e-6, 100e-6)

_MAX_SCATTER = 0.05  # fraction of the field's magnitude; corresponds to 3-degree heading errors
_LARGE_SCATTER = (
    ", which causes heading errors of degrees; check for iron or a magnet that did not turn with "
    "the sensor"
)


@dataclass(frozen=True)
class SphereFit:
    """Result of a scalar calibration of a triad.

    Attributes
    ----------
    calibration : TriadCalibration
        Bias and matrix; for a magnetometer, hard iron and soft iron.
    size : float
        Magnitude F of the corrected readings, in their unit.
    scatter : float
        Standard deviation of the corrected magnitudes, in the unit of the readings.
    spread : float
        Smallest variance of the directions along any axis.
    directions : ndarray, shape (n, 3)
        Corrected readings divided by F.
    """

    calibration: TriadCalibration
    size: float
    scatter: float
    spread: float
    directions: np.ndarray


def field_remarks(sphere: SphereFit, field: float | None, source: str) -> list[str]:
    """Describe the magnitude and the scatter of the corrected magnetic field.

    Parameters
    ----------
    sphere : SphereFit
        Calibration of a magnetometer.
    field : float or None
        Magnitude of the local field [T], if known.
    source : str
        Name of the recording, for messages.

    Returns
    -------
    list of str
        Remarks.

    Raises
    ------
    RecordingError
        The unit of the readings differs from that of the field.
    """
    diagonal = [sphere.calibration.matrix[axis][axis] for axis in range(3)]
    scale = 1.0 + np.mean([element.value for element in diagonal if element is not None])
    if field is not None and abs(np.log2(scale)) > 1.0:
        raise RecordingError(
            f"{source}: the magnetometer's readings are {scale:.3g} times as large as the stated "
            f"field, {1e6 * field:.4g} uT, expected 0.5 to 2 times; check the units"
        )
    share = sphere.scatter / sphere.size
    cause = _LARGE_SCATTER if share > _MAX_SCATTER else ""
    size = f"the corrected field is {1e6 * sphere.size:.4g} uT"
    remarks = [f"{size}, with a scatter of {100.0 * share:.2g} %{cause}"]
    if not _EARTHS_FIELD[0] < sphere.size < _EARTHS_FIELD[1]:
        remarks.append(
            f"the field's magnitude is {sphere.size:.3g} T, expected 22 to 67 uT; if the unit of "
            "the readings is not tesla, the correction applies only to readings in the same unit"
        )
    if field is None:
        remarks.append(
            "the magnitude of the magnetic field is unknown, so the mean scale factor of the "
            "magnetometer is assumed to be 1, which does not affect a heading"
        )
    return remarks


def fit_sphere(
    times: np.ndarray,
    readings: np.ndarray,
    size: float | None = None,
    noise: Sequence[estimates.SlowNoise] | None = None,
    source: str = "the recording",
    sensor: str = "magnetometer",
    parts: Sequence[RestTime] | None = None,
) -> SphereFit:
    """Estimate a triad's bias and matrix from readings of a vector of constant magnitude.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Time of each sample [s].
    readings : ndarray, shape (n, 3)
        Magnetic field [T] or specific force [m/s^2].
    size : float, optional
        Magnitude F of the true values, in the unit of the readings. By default, the mean of the
        three scale factors is assumed to be 1, which does not affect a heading.
    noise : sequence of SlowNoise, optional
        Noise of each axis. By default, one noise level for all axes is estimated from readings.
    source, sensor : str
        Names of the recording and of the sensor in messages.
    parts : sequence of RestTime, optional
        Parts to use, each with separate means; by default the whole recording.

    Returns
    -------
    SphereFit

    Raises
    ------
    RecordingError
        A reading is not finite, there are too few readings, they do not span all directions, or
        they do not lie on an ellipsoid.
    """
    subject = f"{source}, {sensor}"
    readings = np.asarray(readings, dtype=float)
    if parts:
        times, readings, parts = _select_parts(times, readings, parts)
    _check_readings(readings, subject)
    size = None if size is None else check_number("size", size, above=0.0)
    unit = _typical_magnitude(readings, subject)
    points = readings / unit
    radius, parameters = _fit_ellipsoid(points, None if size is None else size / unit, subject)
    linearised = _linearise(parameters, points, radius)
    spread = float(np.linalg.eigvalsh(np.cov(linearised.directions.T, bias=True))[0])
    if not np.isfinite(parameters).all() or spread < _MIN_SPREAD:
        raise RecordingError(_direction_message(subject))
    # If the true magnitude is unknown, the mean scale factor is set to 1.
    mean_scale = parameters[3:6].mean() if size is None else 1.0
    normalised = np.concatenate([parameters[:3], parameters[3:] / mean_scale])
    jacobian = np.diag(np.repeat([1.0, 1.0 / mean_scale], [3, 6]))
    if size is None:
        jacobian[3:, 3:6] -= normalised[3:, None] / (3.0 * mean_scale)
    scaled_noise = noise and [_scale_noise(axis_noise, unit) for axis_noise in noise]
    solution = _solve_with_noise(times, linearised, jacobian, scaled_noise, subject, parts)
    scatter = float(np.sqrt(linearised.variance)) * unit
    bias, matrix = _to_bias_and_matrix(solution.estimates, normalised, unit)
    calibration = TriadCalibration(
        bias,
        matrix,
        noise=tuple(noise) if noise else (_scale_noise(solution.noise, 1.0 / unit),) * 3,
        method=f"ellipsoid through {len(readings)} samples",
        residual=scatter,
    )
    fitted_size = float(radius * mean_scale) * unit
    return SphereFit(calibration, fitted_size, scatter, spread, linearised.directions)


def _select_parts(times, readings, parts):
    """Return times and readings within given parts, and the parts' new index ranges."""
    used = np.concatenate([np.arange(part.start, part.stop) for part in parts])
    ends = np.cumsum([part.stop - part.start for part in parts]).tolist()
    selected = [RestTime(start, stop) for start, stop in zip([0, *ends], ends)]
    return times[used], readings[used], selected


def _check_readings(readings, subject):
    if readings.ndim != 2 or readings.shape[1] != 3 or not np.isfinite(readings).all():
        raise RecordingError(
            f"{subject}: a sample is incomplete, expected three finite numbers in each sample"
        )
    if len(readings) < _MIN_POINTS:
        raise RecordingError(
            f"{subject}: has {len(readings)} samples, expected at least {_MIN_POINTS}"
        )


def _typical_magnitude(readings, subject):
    """Return the median distance of readings from their mean; reject readings in a plane."""
    centred = readings - readings.mean(axis=0)
    magnitude = float(np.median(np.linalg.norm(centred, axis=1)))
    if magnitude <= 0.0 or np.linalg.matrix_rank(centred, tol=1e-3 * magnitude) < 3:
        raise RecordingError(_direction_message(subject))
    return magnitude


def _fit_ellipsoid(points, radius, subject):
    """Fit an ellipsoid, and return its radius, bias and elements of A, corrected for noise."""
    matrix, bias = _fit_quadric(points, subject)
    if radius is None:
        radius = np.trace(matrix) / 3.0
    fit = least_squares(
        lambda p: np.linalg.norm(_true_values(p, points), axis=1) - radius,
        np.concatenate([bias, [matrix[element] / radius for element in _ELEMENTS]]),
        method="lm",
    )
    parameters = fit.x
    if not fit.success or not np.isfinite(parameters).all():
        raise RecordingError(
            f"{subject}: the readings do not lie on an ellipsoid, expected a constant magnitude"
        )
    for _ in range(_NOISE_CORRECTION_STEPS):
        linearised = _linearise(parameters, points, radius)
        step = np.linalg.lstsq(linearised.design, linearised.residuals, rcond=None)[0]
        parameters = parameters + step
    return radius, parameters


def _to_bias_and_matrix(corrections, parameters, unit):
    """Convert parameter corrections to estimates of bias and scale factor errors."""
    values = np.array([(estimate.value, estimate.low, estimate.high) for estimate in corrections])
    values += parameters[:, None]
    bias = tuple(estimates.IntervalEstimate(*row) for row in (values[:3] * unit).tolist())
    rows: list = [[estimates.IntervalEstimate(0.0, 0.0, 0.0)] * 3 for _ in range(3)]
    for (i, j), element in zip(_ELEMENTS, values[3:]):
        rows[i][j] = rows[j][i] = estimates.IntervalEstimate(*(element - (i == j)).tolist())
    return bias, tuple(map(tuple, rows))


def _direction_message(subject):
    return (
        f"{subject}: the motion does not span all directions; turn the sensor about at least two "
        "axes, with each side up"
    )


def _fit_quadric(points, subject):
    """Fit a quadric, reject it unless it is an ellipsoid, and return A times F and the centre b."""
    # A quadric in this form cannot pass through the origin, so the points are centred on it.
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    x, y, z = (points - middle).T
    columns = np.column_stack(
        [x * x, y * y, z * z, 2 * x * y, 2 * x * z, 2 * y * z, 2 * x, 2 * y, 2 * z]
    )
    coefficients, _, rank, _ = np.linalg.lstsq(columns, np.ones(len(points)), rcond=1e-9)
    a, b, c, d, e, f, *half = coefficients
    quadric = np.array([[a, d, e], [d, b, f], [e, f, c]])
    if rank < 9 or not np.isfinite(coefficients).all():
        raise RecordingError(_direction_message(subject))
    try:
        centre = -np.linalg.solve(quadric, half)
    except np.linalg.LinAlgError:
        raise RecordingError(_direction_message(subject)) from None
    values, vectors = np.linalg.eigh(quadric / (1.0 + centre @ quadric @ centre))
    if values[0] <= 0.0 or values[-1] > _MAX_AXES_RATIO**2 * values[0]:
        raise RecordingError(_direction_message(subject))
    # Since |R (y - b)| = 1 for a matrix root R of the quadric, A times F is the inverse of R.
    return vectors @ np.diag(1.0 / np.sqrt(values)) @ vectors.T, centre + middle


def _matrix(values):
    matrix = np.zeros((3, 3))
    for (i, j), value in zip(_ELEMENTS, values):
        matrix[i, j] = matrix[j, i] = value
    return matrix


def _true_values(parameters, points):
    """Correct readings with the matrix A and the bias b, shape (n, 3)."""
    return np.linalg.solve(_matrix(parameters[3:]), (points - parameters[:3]).T).T


class _Linearisation(NamedTuple):
    """Linearised observation equations of an ellipsoid fit, in units of the typical magnitude.

    The fields are the residuals (n,), their derivatives (n, 9), the noise direction that affects
    each residual (n, 3), the direction of the true vector (n, 3), and the variance of the noise.
    """

    residuals: np.ndarray
    design: np.ndarray
    sides: np.ndarray
    directions: np.ndarray
    variance: float


def _linearise(parameters, points, radius) -> _Linearisation:
    r"""Linearise the distance of each reading from the ellipsoid in the parameters.

    Noise n of the readings changes the length of :math:`h = A^{-1} (y - b)` by u . n with :math:`u
    = A^{-T} h / |h|`, so that residuals divided by :math:`|u|` have equal variances. The noise
    increases the mean length of h by half of its variance times the second derivatives of the
    length, :math:`(\mathrm{tr} A^{-1} A^{-T} - |u|^2) / F`. The derivatives are evaluated on the
    sphere, because the noise of h would correlate them with the residuals and bias the scale
    factors.
    """
    true = _true_values(parameters, points)
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
    return _Linearisation(residuals, design, sides / sizes[:, None], directions, variance)


def _scale_noise(noise, unit):
    levels = ("white_noise", "bias_instability", "random_walk")
    return replace(noise, **{name: getattr(noise, name) / unit for name in levels})


def _solve_with_noise(times, linearised, jacobian, noise, subject, parts):
    """Estimate parameter corrections with intervals from residuals averaged over blocks."""
    samples = np.column_stack([linearised.residuals, linearised.design, linearised.sides])
    parts = parts or [RestTime(0, len(times))]
    means = estimates.average_blocks(times, samples, parts, _BLOCKS, 0.0)
    sides = means.values[:, 10:]
    covariance = None
    if noise:
        covariances = {level: level.covariance(means.begin, means.end) for level in set(noise)}
        covariance = sum(
            np.outer(side, side) * covariances[level] for side, level in zip(sides.T, noise)
        )
    axis = estimates.Axis(means.values[:, 0], means.values[:, 1:10], covariance, subject)
    (solution,) = estimates.solve(
        estimates.Means(means.begin, means.end, means.group, [axis]),
        [estimates.SlowNoise(0.0)] if noise else None,
        covariance_factors=sides @ sides.T,
        combinations=jacobian,
        prior=estimates.MAGNETIC,
    )
    return solution


_MIN_POSITIONS = 9  # smallest number of orientations, equal to the number of parameters
_MIN_POSITION_ANGLE = np.cos(np.radians(15.0))  # cosine of the smallest angle between orientations


def calibrate_accelerometer_by_magnitude(
    times: np.ndarray,
    accel: np.ndarray,
    rests: Sequence[RestTime],
    *,
    noise: Sequence[estimates.SlowNoise],
    gravity: float = STANDARD_GRAVITY,
    source: str = "the recording",
) -> TriadCalibration:
    """Calibrate an accelerometer from gravity's magnitude in nine or more arbitrary orientations.

    The noise of each axis must be known, because it cannot be estimated separately from the
    magnitude of gravity. If a common noise level were assumed, the intervals of axes with different
    noise would be wrong.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Time of each sample [s].
    accel : ndarray, shape (n, 3)
        Specific force [m/s^2].
    rests : sequence of RestTime
        Stationary periods.
    noise : sequence of SlowNoise
        Noise of each axis.
    gravity : float, optional
        Local gravity [m/s^2].
    source : str, optional
        Name of the recording in messages.

    Returns
    -------
    TriadCalibration

    Raises
    ------
    RecordingError
        There are fewer than nine orientations that are 15 degrees apart, or they do not span all
        directions.
    """
    gravity = check_number("gravity", gravity, above=0.0)
    means = np.array([accel[rest.start : rest.stop].mean(axis=0) for rest in rests])
    means = means.reshape(-1, 3) / np.maximum(np.linalg.norm(means, axis=-1), 1e-9)[..., None]
    positions: list[np.ndarray] = []
    for direction in means:
        if all(direction @ other < _MIN_POSITION_ANGLE for other in positions):
            positions.append(direction)
    if len(positions) < _MIN_POSITIONS:
        raise RecordingError(
            f"{source}: the accelerometer has {len(positions)} orientations 15 degrees apart in "
            f"{len(rests)} stationary periods, expected at least {_MIN_POSITIONS} in all directions"
        )
    fit = fit_sphere(
        times, accel, gravity, noise=noise, source=source, sensor="accelerometer", parts=rests
    )
    return replace(
        fit.calibration, method=f"magnitude of gravity in {len(positions)} arbitrary orientations"
    )
