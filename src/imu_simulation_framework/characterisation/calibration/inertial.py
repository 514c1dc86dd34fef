r"""Calibration of a gyroscope and an accelerometer from stationary periods and turns.

Bias, scale factor and misalignment follow from means whose true values are known. For each axis a,
:func:`.calibration.estimates.solve` fits

.. math:: y_a - f_a = b_a + \sum_k c_{ak} \Delta T^k + \sum_j M_{aj} f_j
          + f_a \sum_k s_{ak} \Delta T^k + n_a

with the true value f (the specific force in an orientation, or the mean angular velocity of a turn)
and the difference :math:`\Delta T` between temperature and reference temperature. This error model
is that of :class:`.TriadSpecification`, IEEE Std 1293 and IEEE Std 952.
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
from .defaults import PLACEMENT
from .estimates import Axis, BlockMeans, IntervalEstimate, Means, SlowNoise, average_blocks, solve
from .rest_times import RestTime, Turn

Row = Tuple[IntervalEstimate, ...]
_MIN_EXCITATION = 0.2  # smallest true value that excites an axis, relative to the largest


@dataclass(frozen=True)
class TemperatureFit:
    """Temperature of each sample, and degrees of the polynomials in temperature to fit.

    Attributes
    ----------
    values : ndarray, shape (n,)
        Temperature of each sample [degC].
    reference : float, optional
        Temperature at which the polynomials are zero [degC]; by default the mean temperature of the
        periods in use, rounded to degrees.
    bias_degree, scale_degree : int
        Degrees of the polynomials of bias and scale factor.
    """

    values: np.ndarray
    reference: float | None = None
    bias_degree: int = 2
    scale_degree: int = 0


@dataclass(frozen=True)
class IdealMeans:
    """True values that correspond to mean readings, with their uncertainty.

    Attributes
    ----------
    values : ndarray, shape (n, 3)
        True value of each mean [rad/s or m/s^2].
    placement_group : ndarray of int, shape (n,)
        Number of the sensor's placement; means with the same number have the same placement error.
    placement : float
        Standard deviation of each angle of a placement error [rad].
    value_sigma : ndarray, shape (n,)
        Standard deviation of each true value along its direction [rad/s or m/s^2].
    """

    values: np.ndarray
    placement_group: np.ndarray
    placement: float = 0.0
    value_sigma: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def covariance(self, row: Any, variance: Any = (0.0, 0.0, 0.0)) -> np.ndarray:
        """Return the covariance of an axis' mean readings due to uncertain true values.

        A tilt by small angles e adds r . (e x f) = e . (f x r) to a reading, and half of the
        squared angles along the true value f. Misalignment therefore couples the components
        perpendicular to the true value into the reading.

        Parameters
        ----------
        row : array_like, shape (3,) or (n, 3)
            Row r of the matrix I + M at the temperature of each mean.
        variance : array_like, shape (3,)
            Variances of the row's elements.

        Returns
        -------
        ndarray, shape (n, n)
            Covariance [square of the unit of the means].
        """
        projection = np.sum(self.values * row, axis=1)
        tilted = self.placement**4 * np.outer(projection, projection)
        for direction, weight in ((row, 1.0), *zip(np.eye(3), variance)):
            lever = np.cross(self.values, direction)
            tilted += weight * self.placement**2 * (lever @ lever.T)
        total = np.where(self.placement_group[:, None] == self.placement_group, tilted, 0.0)
        if len(self.value_sigma):
            size = np.linalg.norm(self.values, axis=1)
            share = np.divide(projection, size, out=np.zeros_like(size), where=size > 0.0)
            total = total + np.diag((self.value_sigma * share) ** 2)
        return total

    @property
    def expected(self) -> np.ndarray:
        """True values averaged over random placement errors, shape (n, 3)."""
        return self.values * (1.0 - self.placement**2)


@dataclass(frozen=True)
class TriadCalibration:
    """Estimated systematic errors of a sensor triad.

    Attributes
    ----------
    bias : tuple of IntervalEstimate
        Bias of each axis at the first sample and the reference temperature [rad/s, m/s^2 or T].
    matrix : tuple of tuple of IntervalEstimate or None
        Scale factor errors and misalignments M in ``(I + M) ideal``, 3 by 3; None for elements that
        the recording does not determine.
    temperature_bias, temperature_scale : tuple of tuple of IntervalEstimate
        For each axis, the coefficients of the powers of the temperature difference.
    noise : tuple of SlowNoise
        Specified or estimated noise of each axis.
    method : str
        Description of the method.
    residual : float
        Root mean square of the residuals of the means [rad/s, m/s^2 or T].
    """

    bias: Row
    matrix: tuple[tuple[IntervalEstimate | None, ...], ...]
    temperature_bias: tuple[Row, ...] = ()
    temperature_scale: tuple[Row, ...] = ()
    noise: tuple[SlowNoise, ...] = ()
    method: str = ""
    residual: float = 0.0


def fit_triad(
    means: BlockMeans,
    truth: IdealMeans,
    noise: Sequence[SlowNoise] | None = None,
    temperatures: TemperatureFit | None = None,
    method: str = "",
    subject: str = "the recording",
) -> TriadCalibration:
    """Fit the systematic errors of a triad to means of its readings.

    Parameters
    ----------
    means : BlockMeans
        Means of the readings in stationary periods and turns [rad/s or m/s^2].
    truth : IdealMeans
        True values of the means, with the uncertainty of the placement.
    noise : sequence of SlowNoise, optional
        Noise of each axis; by default it is estimated from the recording.
    temperatures : TemperatureFit, optional
        Temperature of each mean, and the reference temperature.
    method : str
        Description of the method, for the result.
    subject : str
        Name of recording and sensor in messages.

    Returns
    -------
    TriadCalibration

    Raises
    ------
    RecordingError
        The means do not determine the errors, or there are too few means.
    """
    size = np.abs(truth.values).max()
    excited = [j for j in range(3) if np.abs(truth.values[:, j]).max() > _MIN_EXCITATION * size]
    bias_degree = temperatures.bias_degree if temperatures else 0
    scale_degree = temperatures.scale_degree if temperatures else 0
    powers: list[np.ndarray] = []
    if temperatures:
        difference = temperatures.values - temperatures.reference
        powers = [difference**k for k in range(1, 1 + max(bias_degree, scale_degree))]
    first = 1 + bias_degree
    last = first + len(excited)
    designs, warm = [], np.zeros((3, len(means.values)))
    rows, variances = np.eye(3), np.zeros((3, 3))
    errors = means.values - truth.expected
    for axis, unit in enumerate(np.eye(3)):
        columns = [np.ones(len(errors)), *powers[:bias_degree]]
        columns += [truth.expected[:, j] for j in excited]
        is_excited = axis in excited
        if is_excited:
            columns += [truth.expected[:, axis] * power for power in powers[:scale_degree]]
        designs.append(np.column_stack(columns))
        # A rough estimate of I + M suffices to compute the effect of a tilt of the sensor.
        inverse = np.linalg.pinv(designs[-1])
        rough = inverse @ errors[:, axis]
        spread = np.diag(inverse @ truth.covariance(unit) @ inverse.T)
        rows[axis, excited] += rough[first:last]
        variances[axis, excited] = spread[first:last]
        if is_excited:
            warm[axis] = sum((slope * power for slope, power in zip(rough[last:], powers)), 0.0)
    rows, variances = _likely_rows(rows, variances)
    axes = []
    for axis, unit in enumerate(np.eye(3)):
        extra_covariance = truth.covariance(
            rows[axis] + warm[axis][:, None] * unit, variances[axis]
        )
        axes.append(
            Axis(errors[:, axis], designs[axis], extra_covariance, f"{subject}, axis {AXES[axis]}")
        )
    solutions = solve(Means(means.begin, means.end, means.group, axes), noise or None)
    estimates = [solution.estimates for solution in solutions]
    zero = IntervalEstimate(0.0, 0.0, 0.0)
    matrix = (
        tuple(row[first + excited.index(j)] if j in excited else None for j in range(3))
        for row in estimates
    )
    scales = (
        tuple(row[last + k] if axis in excited else zero for axis, row in enumerate(estimates))
        for k in range(scale_degree if excited else 0)
    )
    bias, *temperature_bias = zip(*(row[:first] for row in estimates))
    return TriadCalibration(
        bias,
        tuple(matrix),
        temperature_bias=tuple(temperature_bias),
        temperature_scale=tuple(scales),
        noise=tuple(solution.noise for solution in solutions),
        method=method,
        residual=float(np.sqrt(np.mean([solution.residuals**2 for solution in solutions]))),
    )


def _likely_rows(rows: np.ndarray, variances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shrink estimates of I + M that contain placement errors, and return their variances.

    Placement errors increase the estimated misalignments. The misalignments are therefore treated
    as random variables with zero mean. Their variance is the amount by which the squared estimates
    exceed the variance of the estimates (empirical Bayes; Morris, JASA 78, 1983).
    """
    across = (variances > 0.0) & ~np.eye(3, dtype=bool)
    kept = np.ones((3, 3))
    if across.any():
        true_variance = max(float(np.mean(rows[across] ** 2 - variances[across])), 0.0)
        kept[across] = true_variance / (true_variance + variances[across])
    return kept * rows, np.where(across, kept * variances, 0.0)


def to_correction(
    calibration: TriadCalibration,
    reference: float = 25.0,
    temperature_range: tuple[float, float] = (-273.15, 1000.0),
) -> TriadCorrection:
    """Convert a calibration to a correction, with zeros for errors that it does not determine.

    Parameters
    ----------
    calibration : TriadCalibration
        Estimated errors of the triad.
    reference : float
        Reference temperature of the polynomials [degC].
    temperature_range : tuple of float
        Lowest and highest temperature during the calibration [degC].

    Returns
    -------
    TriadCorrection
    """

    def values(row: Sequence[Any], attribute: str = "value") -> Any:
        return tuple(0.0 if found is None else getattr(found, attribute) for found in row)

    temperature: dict[str, Any] = {}
    if calibration.temperature_bias or calibration.temperature_scale:
        temperature = {
            "temperature_bias": tuple(map(values, calibration.temperature_bias)),
            "temperature_scale_factor": tuple(map(values, calibration.temperature_scale)),
            "temperature_reference": reference,
            "temperature_range": temperature_range,
        }
    bias, matrix = calibration.bias, calibration.matrix
    matrices: Any = [
        tuple(values(row, attribute) for row in matrix) for attribute in ("value", "sigma")
    ]
    return TriadCorrection(values(bias), values(bias, "sigma"), *matrices, **temperature)


_MAX_AXIS_ANGLE = np.cos(np.radians(20.0))  # cosine of the largest tilt of a vertical axis
_MAX_GRAVITY_ERROR = 0.3  # largest relative error of measured gravity


def to_slow_noise(triad: TriadSpecification) -> tuple[SlowNoise, ...]:
    """Return each axis' noise in a triad's specification, except Gauss-Markov processes and ramps.

    Parameters
    ----------
    triad : TriadSpecification
        Specification of a gyroscope or an accelerometer.

    Returns
    -------
    tuple of SlowNoise
        Noise of each axis.
    """
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
    """Calibrate a gyroscope: bias at rest, scale factors and misalignment from turns.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Time of each sample [s].
    gyro : ndarray, shape (n, 3)
        Angular velocity [rad/s].
    rests : sequence of RestTime
        Stationary periods from :func:`.find_rest`.
    turns : sequence of Turn
        Turns from :func:`.find_whole_turns` or :func:`.find_reference_turns`.
    noise : sequence of SlowNoise, optional
        Noise of each axis; by default it is estimated from the recording.
    placement : float
        Standard deviation of each angle between a sensor axis and the axis of a turn, and of the
        angle between the end of a turn and its mark [rad].
    temperature : TemperatureFit, optional
        Temperature of each sample.
    source : str
        Name of the recording in messages.

    Returns
    -------
    TriadCalibration

    Raises
    ------
    RecordingError
        The recording is too short or does not determine the errors.
    """
    placement = check_number("placement", placement, minimum=0.0)
    means = average_blocks(times, gyro, rests)
    origin = times[0] - float(np.median(np.diff(times)))
    # Columns: begin, end, mean, group, true value, placement number, standard deviation.
    columns = (
        *means,
        np.zeros_like(means.values),
        -1 - means.group,
        np.zeros(len(means.values)),
    )
    rows = []
    for index, turn in enumerate(turns):
        start_time, end_time = times[turn.start - 1] - origin, times[turn.stop - 1] - origin
        steps = np.diff(times[turn.start - 1 : turn.stop])
        rate = gyro[turn.start : turn.stop].T @ steps / (end_time - start_time)
        angle = np.asarray(turn.angle)
        error = np.hypot(placement if turn.marked else 0.0, turn.sigma) / (end_time - start_time)
        axis = int(np.abs(angle).argmax())
        rows.append(
            (
                start_time,
                end_time,
                rate,
                len(rests) + index,
                angle / (end_time - start_time),
                axis,
                error,
            )
        )
    if rows:
        columns = tuple(np.concatenate(pair) for pair in zip(columns, map(list, zip(*rows))))
    order = np.argsort(columns[0], kind="stable")
    *blocks, truth, groups, sigmas = (column[order] for column in columns)
    means = BlockMeans(*blocks)
    tilt = placement if any(turn.marked for turn in turns) else 0.0
    names = sorted({AXES[row[5]] for row in rows})
    method = f"means of all stationary periods{', turns about ' * bool(names)}{', '.join(names)}"
    ideal_means, subject = IdealMeans(truth, groups, tilt, sigmas), f"{source}, gyroscope"
    temperatures = _mean_temperatures(temperature, times, means, [*rests, *turns], source)
    return fit_triad(means, ideal_means, noise, temperatures, method, subject)


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
    """Calibrate bias, scale factors and misalignment of an accelerometer in six orientations.

    Each axis must point up and down at least once. If the placement has an error, only the longest
    stationary period of each orientation is used, because the placement error is the same whenever
    the sensor is on the same face. To estimate a temperature-dependent scale factor, all periods
    are used, with a common placement error for each face, as in a fixture.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Time of each sample [s].
    accel : ndarray, shape (n, 3)
        Specific force [m/s^2].
    rests : sequence of RestTime
        Stationary periods.
    gravity : float, optional
        Local gravity [m/s^2].
    noise : sequence of SlowNoise, optional
        Noise of each axis; by default it is estimated from the recording.
    placement : float, optional
        Standard deviation of each angle of the placement error [rad].
    temperature : TemperatureFit, optional
        Temperature of each sample, for temperature coefficients.
    source : str, optional
        Name of the recording in messages.

    Returns
    -------
    TriadCalibration

    Raises
    ------
    RecordingError
        There are fewer than six orientations with an axis up or down, or the recording is too
        short.
    """
    gravity = check_number("gravity", gravity, above=0.0)
    placement = check_number("placement", placement, minimum=0.0)
    means = average_blocks(times, accel, rests)
    directions = np.array(
        [_up_direction(means.values[means.group == k], gravity) for k in range(len(rests))]
    )
    kept = np.flatnonzero(directions.any(axis=1))
    present = {tuple(row) for row in directions[kept].astype(int).tolist()}
    missing = [
        f"{'-' if sign < 0 else '+'}{AXES[axis]}"
        for axis in range(3)
        for sign in (1, -1)
        if tuple(sign * (j == axis) for j in range(3)) not in present
    ]
    if missing:
        raise RecordingError(
            f"{source}: in none of the {len(rests)} stationary periods does {' or '.join(missing)} "
            "point up; the accelerometer needs six orientations, with each axis up and down once"
        )
    if placement and not (temperature and temperature.scale_degree):
        longest: dict[tuple, int] = {}  # longest stationary period of each orientation
        for k in sorted(kept.tolist(), key=lambda k: rests[k].start - rests[k].stop):
            longest.setdefault(tuple(directions[k]), k)
        kept = np.array(sorted(longest.values()))
    means = means.selected(np.isin(means.group, kept))
    faces = np.unique(directions, axis=0, return_inverse=True)[1].ravel()
    ideal_means = IdealMeans(gravity * directions[means.group], faces[means.group], placement)
    used_rests = [rests[k] for k in kept.tolist()]
    temperatures = _mean_temperatures(temperature, times, means, used_rests, source)
    method = f"{len(kept)} orientations with an axis up or down"
    subject = f"{source}, accelerometer"
    return fit_triad(means, ideal_means, noise, temperatures, method, subject)


def _up_direction(means: np.ndarray, gravity: float) -> np.ndarray:
    """Return the unit vector of the axis that points up, or zeros if no axis is nearly vertical."""
    force = means.mean(axis=0)
    size = float(np.linalg.norm(force))
    axis = int(np.abs(force).argmax())
    direction = np.zeros(3)
    is_plausible = abs(size / gravity - 1.0) < _MAX_GRAVITY_ERROR
    if is_plausible and abs(force[axis]) > _MAX_AXIS_ANGLE * size:
        direction[axis] = np.sign(force[axis])
    return direction


def _mean_temperatures(
    fit: TemperatureFit | None,
    times: np.ndarray,
    means: BlockMeans,
    parts: Sequence[Any],
    source: str,
) -> TemperatureFit | None:
    """Average the temperature over the samples of each mean, and choose the reference."""
    if fit is None:
        return None
    samples = np.concatenate([fit.values[part.start : part.stop] for part in parts])
    if not np.isfinite(samples).all():
        raise RecordingError(
            f"{source}: a temperature is not a number, expected finite numbers; remove its sample"
        )
    reference = float(np.round(samples.mean())) if fit.reference is None else fit.reference
    elapsed = times - (times[0] - float(np.median(np.diff(times))))
    blocks = zip(means.begin, means.end)
    inside = ((elapsed > low + 1e-9) & (elapsed <= high + 1e-9) for low, high in blocks)
    values = np.array([fit.values[samples].mean() for samples in inside])
    return replace(fit, values=values, reference=reference)
