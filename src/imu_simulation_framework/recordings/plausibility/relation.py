"""Comparison of two headings of a recording, and of its path with its yaw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from ...core.signals import normalised_correlation, parabola_peak, uniform_grid
from ...core.tables import ACCEL, GYRO
from ..imu import integral


@dataclass(frozen=True)
class Heading:
    """Angle over time, of which only differences are compared.

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
            Angle [rad]; before and after the record its first and last value.
        """
        return np.interp(times, self.time, self.angle)

    @property
    def period(self) -> float:
        """Median time between samples [s]."""
        return float(np.median(np.diff(self.time)))


def part_of(heading, start, stop) -> Heading:
    """Return the part of a heading between two times.

    Parameters
    ----------
    heading : Heading
        Angle over time.
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
    """Return the yaw of a reference.

    Parameters
    ----------
    reference : DataFrame
        Poses.

    Returns
    -------
    Heading
        Yaw [rad].
    """
    return Heading("the reference's yaw", _times(reference), reference["yaw"].to_numpy())


def imu_heading(imu):
    """Return the yaw of an IMU's orientation.

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
    """Integrate the gyroscope about one of the robot's axes.

    The robot is assumed level, which costs 0.5 % at six degrees.

    Parameters
    ----------
    imu : DataFrame
        ImuRecord.
    axis : str, optional
        Column of the angular velocity.

    Returns
    -------
    Heading or None
        Integral [rad]; None without the column.
    """
    if axis not in imu:
        return None
    name = "the gyroscope" if axis == "gyro_z" else f"the gyroscope's {axis[-1]} axis"
    return Heading(name, _times(imu), integral(_times(imu), imu[axis].to_numpy()))


def vertical_gyro_heading(imu):
    """Return the integral of the gyroscope about the mean direction of the specific force.

    The sensor may be mounted in any way, as long as gyroscope and accelerometer share their axes.

    Parameters
    ----------
    imu : pandas.DataFrame
        ImuRecord.

    Returns
    -------
    Heading or None
        None without one of the two sensors, or if gravity is not visible.
    """
    up = mean_specific_force(imu)
    if up is None or not set(GYRO) <= set(imu):
        return None
    rate = imu[list(GYRO)].to_numpy() @ (up / np.linalg.norm(up))
    return Heading("the gyroscope about the vertical", _times(imu), integral(_times(imu), rate))


def attitude_headings(attitude, imu):
    """Return the turns of a leaning body about the vertical, of reference and gyroscope.

    The yaw of such a body differs from the integral of its gyroscope about z. Both headings are
    therefore integrals of the angular velocity's vertical component, by the reference's attitude.

    Parameters
    ----------
    attitude : scipy.spatial.transform.Slerp
        Attitude of the reference, from the body's axes to the world's.
    imu : pandas.DataFrame
        ImuRecord.

    Returns
    -------
    tuple of Heading or None
        Reference and gyroscope. None without all three axes, or if fewer than two samples of the
        IMU lie within the attitude's times.
    """
    if not set(GYRO) <= set(imu):
        return None
    times = _times(imu)
    within = (times >= attitude.times[0]) & (times <= attitude.times[-1])
    times, rates = times[within], imu[list(GYRO)].to_numpy()[within]
    if len(times) < 2:
        return None
    body = attitude(times)
    turned = np.vstack([np.zeros(3), (body[1:] * body[:-1].inv()).as_rotvec()])
    vertical = integral(times, body.apply(rates)[:, 2])
    return (
        Heading("the reference", times, np.cumsum(turned[:, 2])),
        Heading("the gyroscope about its vertical", times, vertical),
    )


def mounting_by_rates(attitude, imu):
    """Estimate the rotation from a gyroscope's axes to those of a freely turning reference body.

    It minimises the difference of the turns over steps of a tenth of a second (Wahba, A least
    squares estimate of satellite attitude, SIAM Review 7, 1965).

    Parameters
    ----------
    attitude : scipy.spatial.transform.Slerp
        Attitude of the reference, from the body's axes to the world's.
    imu : pandas.DataFrame
        ImuRecord.

    Returns
    -------
    scipy.spatial.transform.Rotation or None
        None without all three axes, or if the turns disagree under the best rotation.
    """
    if not set(GYRO) <= set(imu):
        return None
    times = _times(imu)
    start, stop = max(times[0], attitude.times[0]), min(times[-1], attitude.times[-1])
    step = max(_ALIGNED_STEP, 2.0 * float(np.median(np.diff(times))))
    grid = np.arange(start, stop, step)
    if len(grid) < MINIMUM_WINDOWS * STEPS_PER_WINDOW:
        return None
    turned = integral(times, imu[list(GYRO)].to_numpy())
    gyro = np.diff([np.interp(grid, times, axis) for axis in turned.T]).T
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


_ALIGNED_STEP = 0.1  # s, of the turns that are aligned; longer than the delay of a filter
_MIN_ALIGNMENT = 0.8  # correlation of the aligned turns
_MIN_SECOND_STRENGTH = 0.001  # singular value of the second axis, as a share of the first one's


def mean_specific_force(imu):
    """Return the mean output of the accelerometer.

    Over a drive the accelerations average out and gravity remains; some IMUs subtract it.

    Parameters
    ----------
    imu : DataFrame
        ImuRecord.

    Returns
    -------
    ndarray, shape (3,), or None
        Mean [m/s^2]; None without an accelerometer, or if the mean is small.
    """
    return shown_gravity(imu[list(ACCEL)].to_numpy()) if set(ACCEL) <= set(imu) else None


_MIN_MEAN_FORCE = 0.7  # mean force of an IMU with gravity, as a share of its usual length


def shown_gravity(forces):
    """Return the mean of specific forces, in which gravity remains.

    Parameters
    ----------
    forces : ndarray, shape (n, 3)
        Specific forces [m/s^2].

    Returns
    -------
    ndarray, shape (3,), or None
        Mean [m/s^2]; None if it is small relative to the forces.
    """
    typical = float(np.median(np.linalg.norm(forces, axis=1))) if len(forces) else 0.0
    mean = forces.mean(axis=0) if len(forces) else np.zeros(3)
    return mean if np.linalg.norm(mean) > _MIN_MEAN_FORCE * typical > 0.0 else None


def _times(table):
    return table.index.to_numpy(dtype=float)


_SHORTEST_WINDOW = 1.0  # s, of the windows over which turns are compared; longer than vibration
_SAMPLES_PER_WINDOW = 4  # of the slower heading, at least
STEPS_PER_WINDOW, MINIMUM_WINDOWS = 8, 8
_MAX_DELAY = 10.0  # s, of a clock against the other, and at most a quarter of the drive
# Standard deviation of turn rates over windows [rad/s], from which on a heading turns at all, and
# from which on another heading of the same body has to turn, too.
_MIN_TURN_RATE = np.radians(0.3)
_CLEAR_TURN_RATE = np.radians(1.0)
_MIN_STEADY_RATE = np.radians(3.0)  # rad/s, a mean rate that exceeds biases of gyroscopes
_MAX_RATE_CHANGE = 0.25  # of a steady turn, as a share of its mean rate
_STANDARD_ERRORS = 4.0  # of a correlation, above which chance hardly makes it
_MAX_SIGNIFICANT = 0.95  # a larger correlation of few windows is significant, too
_MIN_RELATED = 0.6  # correlation of headings of the same motion, whichever noise they have
_AGREEMENT = 0.9  # correlation and scale of headings that agree
_STEADY_RATIO = 3.0  # of two steady turns, whose difference may be the bias of a gyroscope


@dataclass(frozen=True)
class Relation:
    """Comparison of the turns of two headings over the same windows.

    Parameters
    ----------
    first, second : str
        Names of the headings.
    correlation : float
        Correlation of the turns at the delay that fits best; nan if one heading does not turn.
    correlation_as_recorded : float
        Correlation without a delay.
    scale : float
        Turn of the first per turn of the second, by regression, at the delay. For two steady turns
        it is the sign only, unless it is far from 1, since a bias looks like a scale there.
    delay : float
        Lateness of the second against the first [s].
    windows : int
        Independent windows that were compared.
    window : float
        Length of a window [s].
    turned, net : tuple of float
        Sum of the absolute turns of each, and its net turn over the shared time [rad].
    disagreement : float
        Sum of the absolute differences of the turns [rad].
    rates : tuple of float
        Standard deviation of the turn rate of each [rad/s].
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
        """Whether the correlation is significant: both headings turn, and in enough windows."""
        return self.windows >= MINIMUM_WINDOWS and bool(np.isfinite(self.correlation))

    def scale_text(self, form) -> str:
        """Format the scale.

        Parameters
        ----------
        form : str
            Format specification of a float.

        Returns
        -------
        str
            Scale, or ``unknown`` against a heading that is constant.
        """
        return format(self.scale, form) if np.isfinite(self.scale) else "unknown"

    @property
    def significant(self) -> float:
        """Correlation that hardly occurs by chance, four standard errors."""
        return min(_MAX_SIGNIFICANT, _STANDARD_ERRORS / np.sqrt(max(self.windows, 1)))

    @property
    def agree(self) -> bool:
        """Whether both have the same turns, up to noise and ten percent."""
        is_alike = _AGREEMENT < self.scale < 1.0 / _AGREEMENT
        return self.correlation > _AGREEMENT and is_alike

    @property
    def scale_interval(self) -> tuple[float, float]:
        """Bounds of a positive scale, whichever of the two headings has the noise.

        Noise in the second makes the scale smaller, by the square of the correlation at most
        (Fuller, Measurement Error Models, 1987, section 1.1), and the number of windows leaves two
        standard errors on both sides.
        """
        unexplained = max(1.0 / self.correlation**2 - 1.0, 0.0)
        error = 2.0 * np.sqrt(unexplained / max(self.windows - 2, 1))
        return self.scale * (1.0 - error), self.scale * (1.0 + unexplained + error)

    @property
    def opposed(self) -> bool:
        """Whether one turns left when the other turns right."""
        return self.correlation < -max(_MIN_RELATED, self.significant)

    @property
    def related(self) -> bool:
        """Whether they share turns at all, of any sense and size."""
        return abs(self.correlation) > max(_MIN_RELATED, self.significant)


def relate(first, second, shortest_window=_SHORTEST_WINDOW):
    """Compare the turns of two headings.

    The turn over a window is the difference of the angle between its ends. Windows overlap; they
    are compared at every delay for which enough of them remain, and the delay with the largest
    correlation, of either sign, is refined by a parabola. A delay that hardly fits better than
    none is none: headings that repeat themselves fit again a round later. Where the turns have
    nothing in common, noise may hide those of a slow or nearly straight drive. Then a longer window
    is taken if the turns over it are related, or if the turns over the shorter one are noise.

    Parameters
    ----------
    first, second : Heading
        Headings on one clock, or with an unknown delay.
    shortest_window : float
        Shortest window over which turns are compared [s].

    Returns
    -------
    Relation or None
        None if the headings share too little time for some windows.
    """
    start = max(first.time[0], second.time[0])
    stop = min(first.time[-1], second.time[-1])
    if stop <= start:
        return None
    window = max(shortest_window, _SAMPLES_PER_WINDOW * max(first.period, second.period))
    relation = _relate(first, second, start, stop, window)
    if relation is None or not relation.conclusive or relation.related:
        return relation
    louder, noisy = (first, second)[int(np.argmax(relation.rates))], True
    for _ in range(_LONGER_WINDOWS):
        angles = louder.at(np.arange(start, stop, window / STEPS_PER_WINDOW))
        noisy = noisy and np.std(np.diff(angles)) > _NOISE_RATIO * np.std(_turns(angles))
        window *= 4.0
        longer = _relate(first, second, start, stop, window, delayed=False)
        if longer and (longer.related or (noisy and not longer.conclusive)):
            return longer
    return relation


_LONGER_WINDOWS = 2  # attempts, each with windows four times as long
# Ratio of the change over an eighth of a window to that over the whole one, above which a heading
# is noise: white noise has 1, a turn 1/8.
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
        # Constant rates have no correlation, but the senses of rotation are known.
        left, right = turns
        as_recorded = correlation = float(left @ right / np.sqrt((left @ left) * (right @ right)))
    elif max(rates) > _CLEAR_TURN_RATE and min(rates) < 1e-3 * _MIN_TURN_RATE:
        # One heading turns, the other is constant.
        as_recorded = correlation = 0.0
    elif min(rates) > _MIN_TURN_RATE or max(rates) > _CLEAR_TURN_RATE:
        as_recorded = float(np.corrcoef(*turns)[0, 1])
        longest = (stop - start) / 4.0 if delayed else 0.0
        delay, correlation = _delay(turns, step, as_recorded, longest)
    if delay:
        # Where the second has not begun, or has ended, it would seem to stand still.
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


_MAX_UNEXPLAINED = 0.9  # ratio of the unexplained parts with and without a delay


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
        Time to add to the times of the second [s].
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
    # One of the two may be mirrored. The logarithm of the likelihood of a regression grows with
    # the overlap: a part of a drive that repeats itself fits a part of another round, too.
    likeness = np.abs(correlations)
    best = int(np.argmax(-overlaps * np.log1p(1e-12 - np.minimum(likeness, 1.0) ** 2)))
    lag = lags[best] + parabola_peak(likeness, best)
    offset = (first.time[0] - second.time[0]) - lag * period
    return float(offset), float(correlations[best])


_DISPLACEMENT = 0.5  # m, over which the course is taken; ten times the error of good positions
_CLEAR_DIFFERENCE = 0.1  # of the concentrations of a path and of its mirror image
_CONCENTRATED = 0.9  # concentration of a yaw that is the course; 1 without noise and sideslip
_MAX_DISPLACEMENT_TIME = 3.0  # s; a slower displacement is not driving
MINIMUM_STEPS = 20
"""Least number of displacements of a path, without which its course decides nothing."""


@dataclass(frozen=True)
class PathDirection:
    """Circular statistics of the course of a path against the yaw of the robot on it.

    The angles are doubled, so that driving backwards makes no difference.

    Parameters
    ----------
    steps : int
        Displacements that were compared.
    concentration, mirrored_concentration : float
        Mean resultant length of twice the course minus the yaw, and of twice the course plus the
        yaw (Mardia and Jupp, Directional Statistics, 2000, section 2.3): 1 if the angles are equal
        up to a constant, 0 if they are unrelated.
    offset : float
        Mean of the course minus the yaw [rad], in (-pi/2, pi/2]; 0 for a correct yaw.
    """

    steps: int
    concentration: float
    mirrored_concentration: float
    offset: float

    @property
    def conclusive(self) -> bool:
        """Whether the path has enough directions to distinguish right from left."""
        return self.steps >= MINIMUM_STEPS and (
            abs(self.concentration - self.mirrored_concentration) > _CLEAR_DIFFERENCE
        )

    @property
    def concentrated(self) -> bool:
        """Whether the yaw is the course up to a constant."""
        return self.steps >= MINIMUM_STEPS and self.concentration > _CONCENTRATED

    @property
    def mirrored(self) -> bool:
        """Whether the path turns left where the yaw turns right."""
        return self.conclusive and self.mirrored_concentration > self.concentration


def path_direction(reference) -> PathDirection:
    """Compare the courses of a reference with its yaw.

    Parameters
    ----------
    reference : DataFrame
        Poses.

    Returns
    -------
    PathDirection
        Offset, concentration and sense.
    """
    times, positions = _times(reference), reference[["x", "y"]].to_numpy()
    path = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(positions, axis=0).T))])
    # The first sample beyond each whole step; a path may be absurdly long, and jump over most.
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
