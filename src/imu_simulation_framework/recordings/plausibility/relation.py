"""Comparison of two headings of a recording, and of the path with the yaw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from ...core.signals import normalised_correlation, parabola_peak, uniform_grid
from ...core.tables import ACCEL, GYRO
from ..imu import integral


@dataclass(frozen=True)
class Heading:
    """Heading as a function of time, with an arbitrary zero.

    Parameters
    ----------
    name : str
        Name in messages.
    time : numpy.ndarray, shape (n,)
        Strictly increasing times [s].
    angle : numpy.ndarray, shape (n,)
        Unwrapped angle [rad].
    """

    name: str
    time: np.ndarray
    angle: np.ndarray

    def at(self, times):
        """Interpolate the angle at other times.

        Parameters
        ----------
        times : array_like, shape (n,)
            Times [s].

        Returns
        -------
        ndarray, shape (n,)
            Angle [rad]; constant before the first and after the last sample.
        """
        return np.interp(times, self.time, self.angle)

    @property
    def period(self) -> float:
        """Median sampling period [s]."""
        return float(np.median(np.diff(self.time)))


def part_of(heading, start, stop) -> Heading:
    """Return the samples of a heading between two times.

    Parameters
    ----------
    heading : Heading
        Complete heading.
    start, stop : float
        Times, both inclusive [s].

    Returns
    -------
    Heading
        Samples in the interval.
    """
    inside = (heading.time >= start) & (heading.time <= stop)
    return Heading(heading.name, heading.time[inside], heading.angle[inside])


def reference_heading(reference) -> Heading:
    """Return the yaw of a reference as a heading.

    Parameters
    ----------
    reference : DataFrame
        Poses of the reference.

    Returns
    -------
    Heading
        Yaw [rad].
    """
    return Heading("the reference's yaw", _times(reference), reference["yaw"].to_numpy())


def imu_heading(imu):
    """Return the yaw of an IMU as a heading.

    Parameters
    ----------
    imu : DataFrame
        ImuRecord.

    Returns
    -------
    Heading or None
        Yaw [rad]; None without an orientation.
    """
    has = "yaw" in imu
    return Heading("the IMU's yaw", _times(imu), imu["yaw"].to_numpy()) if has else None


def gyro_heading(imu, axis="gyro_z"):
    """Integrate the gyroscope about an axis of the body frame.

    The robot is assumed to be level; a tilt of six degrees causes an error of 0.5 %.

    Parameters
    ----------
    imu : DataFrame
        ImuRecord.
    axis : str, optional
        Column of the angular velocity.

    Returns
    -------
    Heading or None
        Integral [rad]; None if the column is missing.
    """
    if axis not in imu:
        return None
    name = "the gyroscope" if axis == "gyro_z" else f"the gyroscope's {axis[-1]} axis"
    return Heading(name, _times(imu), integral(_times(imu), imu[axis].to_numpy()))


def vertical_gyro_heading(imu):
    """Integrate the gyroscope about the mean direction of the specific force.

    The mounting of the sensor is arbitrary if gyroscope and accelerometer have the same axes.

    Parameters
    ----------
    imu : pandas.DataFrame
        ImuRecord.

    Returns
    -------
    Heading or None
        Integral [rad]; None if one of the two sensors is missing, or if gravity is not visible.
    """
    up = mean_specific_force(imu)
    if up is None or not set(GYRO) <= set(imu):
        return None
    rate = imu[list(GYRO)].to_numpy() @ (up / np.linalg.norm(up))
    return Heading("the gyroscope about the vertical", _times(imu), integral(_times(imu), rate))


def attitude_headings(attitude, imu):
    """Compute the rotation of a tilted body about the vertical, from reference and from gyroscope.

    The yaw of such a body differs from the integral of its gyroscope about z. Therefore, both
    headings are integrals of the vertical component of the angular velocity, which is computed with
    the attitude of the reference.

    Parameters
    ----------
    attitude : scipy.spatial.transform.Slerp
        Attitude of the reference, from the body frame to the world frame.
    imu : pandas.DataFrame
        ImuRecord.

    Returns
    -------
    tuple of Heading or None
        Headings of reference and gyroscope. None if an axis is missing, or if fewer than two
        samples of the IMU are within the times of the attitude.
    """
    if not set(GYRO) <= set(imu):
        return None
    times = _times(imu)
    within = (times >= attitude.times[0]) & (times <= attitude.times[-1])
    times, rates = times[within], imu[list(GYRO)].to_numpy()[within]
    if len(times) < 2:
        return None
    body = attitude(times)
    rotation_vectors = np.vstack([np.zeros(3), (body[1:] * body[:-1].inv()).as_rotvec()])
    vertical = integral(times, body.apply(rates)[:, 2])
    return (
        Heading("the reference", times, np.cumsum(rotation_vectors[:, 2])),
        Heading("the gyroscope about its vertical", times, vertical),
    )


def mounting_by_rates(attitude, imu):
    """Estimate the rotation from the axes of a gyroscope to the body frame of the reference.

    The rotation minimises the difference of the turns over steps of 0.1 s (Wahba, A least squares
    estimate of satellite attitude, SIAM Review 7, 1965). The body must turn about several axes.

    Parameters
    ----------
    attitude : scipy.spatial.transform.Slerp
        Attitude of the reference, from the body frame to the world frame.
    imu : pandas.DataFrame
        ImuRecord.

    Returns
    -------
    scipy.spatial.transform.Rotation or None
        Rotation; None if an axis is missing, or if the turns disagree even with the best rotation.
    """
    if not set(GYRO) <= set(imu):
        return None
    times = _times(imu)
    start, stop = max(times[0], attitude.times[0]), min(times[-1], attitude.times[-1])
    step = max(_ALIGNED_STEP, 2.0 * float(np.median(np.diff(times))))
    grid = np.arange(start, stop, step)
    if len(grid) < MINIMUM_WINDOWS * STEPS_PER_WINDOW:
        return None
    rate_integrals = integral(times, imu[list(GYRO)].to_numpy())
    gyro = np.diff([np.interp(grid, times, axis) for axis in rate_integrals.T]).T
    body = attitude(grid)
    reference = (body[:-1].inv() * body[1:]).as_rotvec()
    size = np.sqrt(np.sum(gyro**2) * np.sum(reference**2))
    strengths = np.linalg.svd(reference.T @ gyro, compute_uv=False)
    if strengths[1] <= _MIN_SECOND_STRENGTH * strengths[0]:
        # Turns about one axis do not determine the mounting angle about this axis.
        return None
    mounting, _ = Rotation.align_vectors(reference, gyro)
    likeness = float(np.sum(reference * mounting.apply(gyro)) / size)
    return mounting if likeness > _MIN_ALIGNMENT else None


_ALIGNED_STEP = 0.1  # s, step over which turns are aligned; longer than the delay of a filter
_MIN_ALIGNMENT = 0.8  # smallest correlation of the aligned turns
_MIN_SECOND_STRENGTH = 0.001  # smallest ratio of the second to the first singular value


def mean_specific_force(imu):
    """Return the mean output of the accelerometer.

    During a drive, accelerations average out and gravity remains, unless the IMU subtracts gravity.

    Parameters
    ----------
    imu : DataFrame
        ImuRecord.

    Returns
    -------
    ndarray, shape (3,), or None
        Mean [m/s^2]; None if there is no accelerometer, or if the mean is small.
    """
    return shown_gravity(imu[list(ACCEL)].to_numpy()) if set(ACCEL) <= set(imu) else None


_MIN_MEAN_FORCE = 0.7  # smallest ratio of mean force to median magnitude of an IMU with gravity


def shown_gravity(forces):
    """Return the mean specific force if gravity dominates it.

    Parameters
    ----------
    forces : ndarray, shape (n, 3)
        Specific forces [m/s^2].

    Returns
    -------
    ndarray, shape (3,), or None
        Mean [m/s^2]; None if the mean is small relative to the forces.
    """
    typical = float(np.median(np.linalg.norm(forces, axis=1))) if len(forces) else 0.0
    mean = forces.mean(axis=0) if len(forces) else np.zeros(3)
    return mean if np.linalg.norm(mean) > _MIN_MEAN_FORCE * typical > 0.0 else None


def _times(table):
    return table.index.to_numpy(dtype=float)


_SHORTEST_WINDOW = 1.0  # s, shortest window over which turns are compared; longer than vibration
_SAMPLES_PER_WINDOW = 4  # smallest number of samples of the slower heading per window
STEPS_PER_WINDOW, MINIMUM_WINDOWS = 8, 8
_MAX_DELAY = 10.0  # s, largest delay between clocks that is considered; at most 1/4 of the drive
_MIN_TURN_RATE = np.radians(0.3)  # rad/s, smallest std of the turn rate of a body that turns
_CLEAR_TURN_RATE = np.radians(1.0)  # rad/s, std above which other headings must turn as well
_MIN_STEADY_RATE = np.radians(3.0)  # rad/s, smallest rate of a steady turn; above gyroscope biases
_MAX_RATE_CHANGE = 0.25  # largest std of the rate of a steady turn, relative to its mean
_STANDARD_ERRORS = 4.0  # standard errors above which a correlation is significant
_MAX_SIGNIFICANT = 0.95  # correlation that is significant for any number of windows
_MIN_RELATED = 0.6  # smallest correlation of headings of the same motion, even with noise
_MIN_AGREEMENT = 0.9  # smallest correlation and scale of headings that agree
_STEADY_RATIO = 3.0  # ratio of steady turns that a gyroscope bias may explain


@dataclass(frozen=True)
class Relation:
    """Comparison of the turns of two headings over the same windows.

    Parameters
    ----------
    first, second : str
        Names of the headings.
    correlation : float
        Correlation of the turns at the best delay; nan if one heading does not turn.
    correlation_as_recorded : float
        Correlation without a delay.
    scale : float
        Turn of the first per turn of the second heading at this delay, from a regression. For two
        steady turns it is only the sign, unless it is far from 1, since a bias cannot be
        distinguished from a scale error in this case.
    delay : float
        Delay of the second heading relative to the first [s].
    windows : int
        Number of independent windows that were compared.
    window : float
        Duration of a window [s].
    turned, net : tuple of float
        Sum of the absolute turns, and net turn, of each heading during the common time [rad].
    disagreement : float
        Sum of the absolute differences of the turns [rad].
    rates : tuple of float
        Standard deviation of the turn rate of each heading [rad/s].
    """

    first: str
    second: str
    correlation: float
    correlation_as_recorded: float
    scale: float
    delay: float
    windows: int
    window: float
    turned: tuple[float, float]
    net: tuple[float, float]
    disagreement: float
    rates: tuple[float, float]

    @property
    def conclusive(self) -> bool:
        """Whether the correlation is defined, and there are enough windows for a conclusion."""
        return self.windows >= MINIMUM_WINDOWS and bool(np.isfinite(self.correlation))

    def scale_text(self, form) -> str:
        """Format the scale factor between the turns of the two headings.

        Parameters
        ----------
        form : str
            Format specification of a float.

        Returns
        -------
        str
            Scale factor, or ``unknown`` if a heading is constant.
        """
        return format(self.scale, form) if np.isfinite(self.scale) else "unknown"

    @property
    def significant(self) -> float:
        """Correlation that exceeds zero by four standard errors, which rarely occurs by chance."""
        return min(_MAX_SIGNIFICANT, _STANDARD_ERRORS / np.sqrt(max(self.windows, 1)))

    @property
    def agree(self) -> bool:
        """Whether the turns of both headings are correlated and equal within ten percent."""
        is_alike = _MIN_AGREEMENT < self.scale < 1.0 / _MIN_AGREEMENT
        return self.correlation > _MIN_AGREEMENT and is_alike

    @property
    def scale_interval(self) -> tuple[float, float]:
        """Bounds on a positive scale factor, from attributing all noise to either of the headings.

        Noise in the second heading multiplies the scale factor by at least the squared correlation
        (Fuller, Measurement Error Models, 1987, section 1.1). Two standard errors due to the finite
        number of windows are added on both sides.
        """
        unexplained = max(1.0 / self.correlation**2 - 1.0, 0.0)
        error = 2.0 * np.sqrt(unexplained / max(self.windows - 2, 1))
        return self.scale * (1.0 - error), self.scale * (1.0 + unexplained + error)

    @property
    def opposed(self) -> bool:
        """Whether one heading turns left when the other turns right."""
        return self.correlation < -max(_MIN_RELATED, self.significant)

    @property
    def related(self) -> bool:
        """Whether the turns of the headings are significantly correlated, with either sign."""
        return abs(self.correlation) > max(_MIN_RELATED, self.significant)


def relate(first, second, shortest_window=_SHORTEST_WINDOW):
    """Compare the changes of two headings.

    The turn over a window is the difference between the angles at its ends. Windows overlap; they
    are compared for all delays for which enough windows remain, and the delay with the largest
    correlation of either sign is refined by a parabola. The delay is set to zero if it does not fit
    clearly better than no delay, since periodic headings fit again one lap later. If
    the turns are unrelated, noise may hide the turns of a slow or nearly straight drive. In this
    case, a longer window is used if its turns are related, or if the turns over the shorter window
    are noise.

    Parameters
    ----------
    first, second : Heading
        Headings with the same clock, or with an unknown delay.
    shortest_window : float
        Shortest window over which turns are compared [s].

    Returns
    -------
    Relation or None
        Comparison; None if the common time of the headings is too short.
    """
    start = max(first.time[0], second.time[0])
    stop = min(first.time[-1], second.time[-1])
    if stop <= start:
        return None
    window = max(shortest_window, _SAMPLES_PER_WINDOW * max(first.period, second.period))
    relation = _relate(first, second, start, stop, window)
    if relation is None or not relation.conclusive or relation.related:
        return relation
    noisier, noisy = (first, second)[int(np.argmax(relation.rates))], True
    for _ in range(_LONGER_WINDOWS):
        angles = noisier.at(np.arange(start, stop, window / STEPS_PER_WINDOW))
        noisy = noisy and np.std(np.diff(angles)) > _NOISE_RATIO * np.std(_turns(angles))
        window *= 4.0
        longer = _relate(first, second, start, stop, window, delayed=False)
        if longer and (longer.related or (noisy and not longer.conclusive)):
            return longer
    return relation


_LONGER_WINDOWS = 2  # number of attempts, each with a window that is four times as long
# Ratio of changes over 1/8 of a window and over the window: 1 for white noise, 1/8 for a turn.
_NOISE_RATIO = 0.3


def _relate(first, second, start, stop, window, delayed=True):
    step = window / STEPS_PER_WINDOW
    count = int((stop - start) / step) - STEPS_PER_WINDOW
    if count < MINIMUM_WINDOWS * STEPS_PER_WINDOW:
        return None
    grid = start + step * np.arange(count + STEPS_PER_WINDOW)
    turns = [_turns(heading.at(grid)) for heading in (first, second)]
    rates = tuple(float(np.std(turn) / window) for turn in turns)
    means = [float(np.mean(turn) / window) for turn in turns]
    steady = all(
        abs(mean) > _MIN_STEADY_RATE and rate < _MAX_RATE_CHANGE * abs(mean)
        for mean, rate in zip(means, rates)
    )
    delay, correlation, as_recorded = 0.0, np.nan, np.nan
    if steady:
        # Constant rates have no correlation, but their signs can be compared.
        left, right = turns
        as_recorded = correlation = float(left @ right / np.sqrt((left @ left) * (right @ right)))
    elif max(rates) > _CLEAR_TURN_RATE and min(rates) < 1e-3 * _MIN_TURN_RATE:
        # One heading turns while the other is constant.
        as_recorded = correlation = 0.0
    elif min(rates) > _MIN_TURN_RATE or max(rates) > _CLEAR_TURN_RATE:
        as_recorded = float(np.corrcoef(*turns)[0, 1])
        longest = (stop - start) / 4.0 if delayed else 0.0
        delay, correlation = _delay(turns, step, as_recorded, longest)
    if delay:
        # Times outside the second heading are excluded, since it is constant there.
        inside = (grid + delay >= second.time[0]) & (grid + delay <= second.time[-1])
        grid = grid[inside]
        turns = [_turns(first.at(grid)), _turns(second.at(grid + delay))]
    left, right = turns
    spread = float(np.mean((right - right.mean()) ** 2))
    covariance = float(np.mean((left - left.mean()) * (right - right.mean())))
    scale = covariance / spread if spread > 0.0 else np.nan
    if steady:
        scale = means[0] / means[1]
        scale = np.sign(scale) if 1.0 / _STEADY_RATIO < abs(scale) < _STEADY_RATIO else scale
    return Relation(
        first=first.name,
        second=second.name,
        correlation=correlation,
        correlation_as_recorded=as_recorded,
        scale=float(scale),
        delay=delay,
        windows=len(left) // STEPS_PER_WINDOW,
        window=window,
        turned=tuple(float(np.abs(turn).sum() / STEPS_PER_WINDOW) for turn in turns),
        net=tuple(float(heading.at(stop) - heading.at(start)) for heading in (first, second)),
        disagreement=float(np.abs(left - right).sum() / STEPS_PER_WINDOW),
        rates=rates,
    )


def _turns(angles):
    return angles[STEPS_PER_WINDOW:] - angles[:-STEPS_PER_WINDOW]


_MAX_UNEXPLAINED = 0.9  # largest ratio of 1 - correlation at the delay to 1 - correlation at zero


def _delay(turns, step, as_recorded, longest):
    first, second = (turn - turn.mean() for turn in turns)
    largest = int(min(_MAX_DELAY, longest) / step)
    lags = np.arange(-largest, largest + 1)
    correlations = normalised_correlation(second, first, lags)
    best = int(np.argmax(np.abs(correlations)))
    if 1.0 - abs(correlations[best]) > _MAX_UNEXPLAINED * (1.0 - abs(as_recorded)):
        return 0.0, as_recorded
    offset = parabola_peak(np.abs(correlations), best)
    return float((lags[best] + offset) * step), float(correlations[best])


def clock_offset(first, second):
    """Estimate the offset between the clocks of two headings.

    Parameters
    ----------
    first, second : Heading
        Headings on different clocks.

    Returns
    -------
    offset : float
        Offset that has to be added to the times of the second heading [s].
    correlation : float
        Correlation of the turn rates at this offset; 0 if a heading is too short.
    """
    period = max(0.1, first.period, second.period)
    rates = []
    for heading in (first, second):
        grid = uniform_grid(heading.time[0], heading.time[-1], 1.0 / period)
        if len(grid) < 2:
            return 0.0, 0.0
        rate = np.gradient(heading.at(grid)) / period
        rates.append(rate - rate.mean())
    short = min(map(len, rates))
    lags = np.arange(-(len(rates[0]) - short // 2), len(rates[1]) - short // 2)
    correlations = normalised_correlation(rates[1], rates[0], lags)
    overlaps = np.minimum(len(rates[0]), len(rates[1]) - lags) - np.maximum(0, -lags)
    # The absolute correlation is used, since one of the headings may be mirrored. The likelihood
    # weights it by the overlap, since sections of different laps also have a high correlation.
    likeness = np.abs(correlations)
    best = int(np.argmax(-overlaps * np.log1p(1e-12 - np.minimum(likeness, 1.0) ** 2)))
    lag = lags[best] + parabola_peak(likeness, best)
    offset = (first.time[0] - second.time[0]) - lag * period
    return float(offset), float(correlations[best])


_DISPLACEMENT = 0.5  # m, distance over which a course is computed; ten times a small position error
_CLEAR_DIFFERENCE = 0.1  # smallest difference between the concentrations of path and mirrored path
_CONCENTRATED = 0.9  # smallest concentration of a yaw that is the course; 1 without noise
_MAX_DISPLACEMENT_TIME = 3.0  # s, largest duration of a displacement of a driving robot
MINIMUM_STEPS = 20
"""Smallest number of displacements with which the course of a path is conclusive."""


@dataclass(frozen=True)
class PathDirection:
    """Circular statistics of the difference between the course of a path and the yaw.

    The angles are doubled, so that driving backwards has no effect.

    Parameters
    ----------
    steps : int
        Number of displacements that were compared.
    concentration, mirrored_concentration : float
        Mean resultant length of 2 (course - yaw), and of 2 (course + yaw) (Mardia and Jupp,
        Directional Statistics, 2000, section 2.3): 1 if the angles are identical up to a constant,
        0 if they are unrelated.
    offset : float
        Mean of the course minus the yaw [rad], in (-pi/2, pi/2]; 0 for a correct yaw.
    """

    steps: int
    concentration: float
    mirrored_concentration: float
    offset: float

    @property
    def conclusive(self) -> bool:
        """Whether the path has enough directions to distinguish left turns from right turns."""
        return self.steps >= MINIMUM_STEPS and (
            abs(self.concentration - self.mirrored_concentration) > _CLEAR_DIFFERENCE
        )

    @property
    def concentrated(self) -> bool:
        """Whether yaw and course are identical up to a constant."""
        return self.steps >= MINIMUM_STEPS and self.concentration > _CONCENTRATED

    @property
    def mirrored(self) -> bool:
        """Whether the path turns left where the yaw turns right."""
        return self.conclusive and self.mirrored_concentration > self.concentration


def path_direction(reference) -> PathDirection:
    """Compare the course of a reference with its yaw.

    Parameters
    ----------
    reference : DataFrame
        Poses of the reference.

    Returns
    -------
    PathDirection
        Comparison of course and yaw.
    """
    times, positions = _times(reference), reference[["x", "y"]].to_numpy()
    path = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(positions, axis=0).T))])
    # The first sample after each complete step is used, since a path may jump over many steps.
    steps = np.floor(path / _DISPLACEMENT)
    places = np.append(0, 1 + np.flatnonzero(np.diff(steps) > 0.0))
    steps = np.diff(positions[places], axis=0)
    driven = (np.diff(times[places]) < _MAX_DISPLACEMENT_TIME) & (
        np.hypot(*steps.T) > 0.5 * _DISPLACEMENT
    )
    if not driven.any():
        return PathDirection(0, 0.0, 0.0, 0.0)
    middle = 0.5 * (times[places[1:]] + times[places[:-1]])[driven]
    course = np.arctan2(steps[driven, 1], steps[driven, 0])
    yaw = np.interp(middle, times, reference["yaw"].to_numpy())
    difference = np.mean(np.exp(2j * (course - yaw)))
    total = np.mean(np.exp(2j * (course + yaw)))
    lengths = float(abs(difference)), float(abs(total))
    return PathDirection(len(course), *lengths, offset=float(0.5 * np.angle(difference)))
