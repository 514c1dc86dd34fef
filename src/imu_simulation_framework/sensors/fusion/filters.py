r"""Orientation filters, which fuse gyroscope, accelerometer and magnetometer readings.

With only gyroscope and accelerometer, the yaw has no reference. A magnetometer refers it to
magnetic north. The world's axes are x east, y north, z up, so that a body that points to magnetic
north has a yaw of 90 degrees minus the declination, the angle from the world's y axis clockwise to
magnetic north. With a declination of zero, the yaw is relative to magnetic east, as in most
sensors.

Without a gyroscope, the vertical and north follow from two directions: the specific force f and the
field m, in the sensor's axes, each after a low-pass filter with the time constant T. Up is f and
east is :math:`m \times f`, since magnetic north, east and up are perpendicular and the field has no
east component. This is the TRIAD algorithm of Black (A passive system for determining the attitude
of a satellite, AIAA Journal 2(7), 1964), with the vertical as the more accurate direction. Nothing
drifts, but the orientation follows turns with a lag of T, and acceleration tilts the orientation
and thereby also rotates its heading.

With a gyroscope, the complementary filter is that of Mahony, Hamel and Pflimlin (Nonlinear
complementary filters on the special orthogonal group, IEEE Transactions on Automatic Control 53(5),
2008; the explicit form with bias correction) with the vertical as its only direction. With a the
measured direction of the vertical, and v the vertical according to the orientation, both in the
sensor's axes,

.. math:: \dot q = \tfrac12 q \otimes (\omega - b + k_P e), \quad
          \dot b = -k_I e, \quad e = a \times v.

The correction e is perpendicular to the vertical. It rotates roll and pitch towards the measured
vertical, with the time constant :math:`T = 1 / k_P`, but never the yaw, whose error is the integral
of the gyroscope's error.

The bias b is estimated from the same e, which is the tilt error only while the specific force is
gravity. During fast motion, turns and accelerations are correlated, so that linear acceleration has
a mean in the sensor's axes, which an integrator cannot distinguish from a bias. With
:math:`k_I = k_P^2 / 4`, critical damping, b diverged on hand-held sensors, and with it tilt and
yaw. Laidig, Caruso, Cereatti and Seel (BROAD - a benchmark for robust inertial orientation
estimation, Data 6(7), 2021) tuned :math:`k_P = 0.74, k_I = 0.0012 = k_P^2 / 456` on such motion,
which converges slowly at rest. The gain therefore depends on the motion:

.. math:: k_I = \frac{k_P^2}{16 (1 + s)^2}, \quad
          T \dot s = (T |\omega - b|)^2 + \left(\frac{|f| - g}{\sigma}\right)^2 - s.

The first term describes the information that is lost by turning: a bias that rotates with the
sensor tilts the estimate by only :math:`b T / \sqrt{1 + \omega^2 T^2}`, while the acceleration in a
curve, which hardly changes the norm, is constant in the sensor's axes. The second term is the
acceleration that is visible in the norm. At rest, b has a time constant of 15 T. It never changes
about the vertical, which e does not contain.

A magnetometer adds the heading of :mod:`.sensors.fusion.magnetic_heading`: a rotation about the
vertical that is separate from q. Unlike a second direction in e, it does not affect the tilt. Its
error is the vertical component of e, from which b is estimated with the same gain at the time
constant of the heading.

Mahony's filter processes a complete series of samples without a loop over them. With the gyroscope
alone, the orientation would be a running product P of rotations. The orientation of the filter is
:math:`q_k = d_k P_k` with :math:`d_k = d_{k-1} C_k`, where the correction :math:`C_k` of the sample
rotates about :math:`A_k \times u_{k-1}`: A is the measured vertical in the axes of P, and
:math:`u_k = d_k^{-1} z` the estimated vertical. The correction rotates u towards A in their common
plane,

.. math::

    u_k = \alpha_k u_{k-1} + \beta_k A_k, \quad
    \alpha = 1 - 2 \frac{g p + t^2}{1 + t^2}, \quad \beta = \frac{2 g}{1 + t^2}, \quad
    p_k = A_k \cdot u_{k-1}, \quad t^2 = g^2 (|A|^2 - p^2), \quad g = \frac{dt}{2 T}.

If all p were known, this would be a linear recurrence, which can be solved by sums. They are the
scalar products of directions close to each other, which hardly depend on a small change of a
direction. Iteration with p from the last solution, and with each u normalised, therefore converges
within a few iterations to the result of the loop, except for rounding.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import partial
from typing import Any

import numpy as np

from ...core.angles import quaternion_product, yaw_from_quaternion
from ...core.errors import ConfigurationError
from ...core.units import STANDARD_GRAVITY
from ..imu_specification import OutputSpecification
from .magnetic_heading import MagneticHeading


class OrientationFilter(ABC):
    """Recursive estimator of an orientation from gyroscope, accelerometer and magnetometer."""

    @abstractmethod
    def start(self, orientation, specific_force, magnetic_field=None) -> np.ndarray:
        """Initialise the filter with a yaw, and with the tilt that the accelerometer measures.

        Parameters
        ----------
        orientation : ndarray, shape (4,)
            Quaternion x, y, z, w with the initial yaw.
        specific_force : ndarray, shape (3,)
            First sample of the accelerometer [m/s^2].
        magnetic_field : ndarray, shape (3,), optional
            First sample of the magnetometer [T]; determines the yaw of a magnetic heading.

        Returns
        -------
        ndarray, shape (4,)
            Orientation.

        Raises
        ------
        ConfigurationError
            If the filter has a magnetic heading, but there is no field; :meth:`update` and
            :meth:`update_all` raise the same error.
        """

    @abstractmethod
    def update(self, angular_velocity, specific_force, magnetic_field=None) -> np.ndarray:
        """Update the orientation with the next sample, and return it.

        Parameters
        ----------
        angular_velocity, specific_force : ndarray, shape (3,)
            Means since the previous sample [rad/s, m/s^2].
        magnetic_field : ndarray, shape (3,), optional
            Magnetic field [T].

        Returns
        -------
        ndarray, shape (4,)
            Orientation.
        """

    @abstractmethod
    def update_all(self, angular_velocity, specific_force, magnetic_field=None) -> np.ndarray:
        """Update the orientation with the next samples, and return it after each of them.

        Parameters
        ----------
        angular_velocity, specific_force : ndarray, shape (samples, 3)
            Means since the previous sample [rad/s, m/s^2].
        magnetic_field : ndarray, shape (samples, 3), optional
            Magnetic field [T].

        Returns
        -------
        ndarray, shape (samples, 4)
            Orientations.
        """


# Added to divisors that may be zero, to avoid warnings; it does not change other divisors.
_TINY = 1e-300


def level_orientation(orientation, specific_force):
    """Rotate orientations by the smallest angle that makes the specific force point up.

    Parameters
    ----------
    orientation : ndarray, shape (4,) or (samples, 4)
        Quaternions x, y, z, w.
    specific_force : ndarray, shape (3,) or (samples, 3)
        Specific forces in the sensor's axes [m/s^2].

    Returns
    -------
    ndarray
        Quaternions with the shape of the orientation.
    """
    from scipy.spatial.transform import Rotation

    shape = np.shape(orientation)
    rotation = Rotation.from_quat(np.reshape(np.asarray(orientation, dtype=float), (-1, 4)))
    up = rotation.apply(np.reshape(specific_force, (-1, 3)))
    length = np.linalg.norm(up, axis=-1, keepdims=True)
    up = np.where(length > 0.0, up / (length + _TINY), [0.0, 0.0, 1.0])
    # The half-way quaternion between two directions, (1 + a.b, a x b), normalised by scipy.
    turn = np.column_stack([up[:, 1], -up[:, 0], np.zeros(len(up)), 1.0 + up[:, 2]])
    turn[turn[:, 3] < 1e-12] = [1.0, 0.0, 0.0, 0.0]
    return (Rotation.from_quat(turn) * rotation).as_quat().reshape(shape)


def _require_field(magnetic_field):
    """Return the magnetic field, or raise ConfigurationError if it is missing."""
    if magnetic_field is None:
        raise ConfigurationError("magnetic_heading is true, which requires a magnetic environment")
    return magnetic_field


class CompassFilter(OrientationFilter):
    """Orientation filter for accelerometer and magnetometer, without a gyroscope.

    Parameters
    ----------
    period : float
        Sampling period [s].
    time_constant : float
        Time constant T [s].
    heading : MagneticHeading, optional
        Heading whose declination is used. By default, the yaw starts at the initial yaw, and
        changes with the direction of the field.
    """

    def __init__(self, period: float, time_constant: float, heading: MagneticHeading | None = None):
        self._share = -math.expm1(-period / time_constant)
        self._heading = heading

    def start(self, orientation, specific_force, magnetic_field=None):
        from scipy.spatial.transform import Rotation

        self._smooth = np.concatenate([specific_force, _require_field(magnetic_field)])
        self._last = np.array([0.0, 0.0, 0.0, 1.0])
        north = Rotation.from_quat(_north(self._smooth[np.newaxis], self._last))
        if self._heading is not None:
            turn = -self._heading.declination
        else:
            turn = yaw_from_quaternion(orientation) - yaw_from_quaternion(north.as_quat()[0])
        self._turn = Rotation.from_euler("z", turn)
        return self._fuse(self._smooth[np.newaxis])[0]

    def update(self, angular_velocity, specific_force, magnetic_field=None):
        reading = np.concatenate([specific_force, _require_field(magnetic_field)])
        # The order of summation is that of a series, so that results are bitwise identical.
        self._smooth = self._share * reading + (1.0 - self._share) * self._smooth
        return self._fuse(self._smooth[np.newaxis])[0]

    def update_all(self, angular_velocity, specific_force, magnetic_field=None):
        from scipy.signal import lfilter

        readings = np.hstack([specific_force, _require_field(magnetic_field)])
        if len(readings) == 0:
            return np.empty((0, 4))
        keep = 1.0 - self._share
        smooth, _ = lfilter(
            [self._share], [1.0, -keep], readings, axis=0, zi=keep * self._smooth[np.newaxis]
        )
        self._smooth = smooth[-1]
        return self._fuse(smooth)

    def _fuse(self, smooth):
        from scipy.spatial.transform import Rotation

        north = _north(smooth, self._last)
        self._last = north[-1]
        return (self._turn * Rotation.from_quat(north)).as_quat()


def _north(smooth, last):
    """Return orientations (samples, 4) from specific force and field; ``last`` if undetermined."""
    from scipy.spatial.transform import Rotation

    up, field = smooth[:, :3], smooth[:, 3:]
    east = np.cross(field, up)
    lengths = np.linalg.norm(up, axis=1), np.linalg.norm(east, axis=1)
    is_determined = (lengths[0] > 0.0) & (lengths[1] > 0.0)
    quaternions = np.tile(last, (len(smooth), 1))
    if is_determined.any():
        up, east = (
            vectors[is_determined] / length[is_determined][:, np.newaxis]
            for vectors, length in zip((up, east), lengths)
        )
        # The rows are the world's axes in sensor coordinates.
        matrices = np.stack([east, np.cross(up, east), up], axis=1)
        quaternions[is_determined] = Rotation.from_matrix(matrices).as_quat()
    latest = np.maximum.accumulate(np.where(is_determined, np.arange(len(smooth)), -1))
    return np.where(latest[:, np.newaxis] >= 0, quaternions[latest], quaternions)


# sigma [m/s^2] is larger than the bias of a low-cost accelerometer, so that b is estimated at rest.
_FORCE_SCALE = 0.5
_MIN_SERIES = 500  # number of samples above which a series is faster than a loop


class ComplementaryFilter(OrientationFilter):
    """Mahony's complementary filter.

    Parameters
    ----------
    period : float
        Sampling period [s].
    time_constant : float
        Time constant T [s].
    rate_bias : bool
        Whether the gyroscope's bias is estimated: about the horizontal axes, at rest and in gentle
        motion; with a magnetic heading, about all axes.
    heading : MagneticHeading, optional
        Heading with the same period; by default the yaw has no reference.
    """

    def __init__(
        self,
        period: float,
        time_constant: float,
        rate_bias: bool = False,
        heading: MagneticHeading | None = None,
    ):
        self._period = period
        self._time_constant = time_constant
        self._proportional = 1.0 / time_constant
        self._rate_bias = rate_bias
        self._heading = heading

    def start(self, orientation, specific_force, magnetic_field=None):
        started = level_orientation(orientation, specific_force)
        # For a single quaternion, Python floats are faster than a NumPy array.
        self._quaternion = tuple(started.tolist())
        self._bias = (0.0, 0.0, 0.0)
        self._motion = 0.0
        if self._heading is None:
            return started
        self._heading.begin()
        field = np.reshape(_require_field(magnetic_field), (1, 3))
        return self._turn_to_north(started[np.newaxis], np.zeros((1, 3)), field)[0]

    def update(self, angular_velocity, specific_force, magnetic_field=None):
        if self._heading is None:
            return np.array(self._next(angular_velocity.tolist(), specific_force.tolist()))
        field = _require_field(magnetic_field).tolist()
        self._next(angular_velocity.tolist(), specific_force.tolist(), field)
        return np.array(self._output())

    def update_all(self, angular_velocity, specific_force, magnetic_field=None):
        if self._heading is None:
            return self._update_all(angular_velocity, specific_force)
        field = _require_field(magnetic_field)
        if not self._rate_bias:
            # The heading does not affect the other states, so that it can be computed afterwards.
            orientations = self._update_all(angular_velocity, specific_force)
            return self._turn_to_north(orientations, angular_velocity, field)
        orientations = []
        for sample in zip(angular_velocity.tolist(), specific_force.tolist(), field.tolist()):
            self._next(*sample)
            orientations.append(self._output())
        return np.array(orientations).reshape(-1, 4)

    def _turn_to_north(self, orientations, rate, field):
        """Rotate orientations (samples, 4) about the vertical to the magnetic heading."""
        field = np.asarray(field, dtype=float)
        level = rotate_vectors(orientations.T, field.T)
        half_angle = 0.5 * self._heading.correct_all(level, np.sqrt((rate * rate).sum(axis=1)))
        product = quaternion_product(
            0.0, 0.0, np.sin(half_angle), np.cos(half_angle), *orientations.T
        )
        return np.stack(product, axis=-1)

    def _output(self):
        half_angle = 0.5 * self._heading.offset
        return quaternion_product(
            0.0, 0.0, math.sin(half_angle), math.cos(half_angle), *self._quaternion
        )

    def _update_all(self, angular_velocity, specific_force):
        orientations = np.empty((len(angular_velocity), 4))
        length = 0 if self._rate_bias else block_length(self._period, self._time_constant)
        for first in range(0, len(orientations), max(length, _MIN_SERIES)):
            block = slice(first, first + max(length, _MIN_SERIES))
            rate, force = angular_velocity[block], specific_force[block]
            block_orientations = None
            if min(length, len(rate)) >= _MIN_SERIES:
                block_orientations = fuse_block(
                    self._quaternion, rate, force, self._period, self._time_constant
                )
            if block_orientations is None:
                block_orientations = [
                    self._next(*pair) for pair in zip(rate.tolist(), force.tolist())
                ]
            orientations[block] = block_orientations
            self._quaternion = tuple(orientations[block][-1].tolist())
        return orientations

    def _next(self, rate, force, field=None):
        # Written out by component, since a library's product takes longer than this function.
        x, y, z, w = self._quaternion
        (rx, ry, rz), (bx, by, bz), (fx, fy, fz) = rate, self._bias, force
        # Rotation measured by the gyroscope.
        rx, ry, rz = rx - bx, ry - by, rz - bz
        size = math.sqrt(rx * rx + ry * ry + rz * rz) + _TINY
        half_angle = 0.5 * self._period * size
        scale, c = math.sin(half_angle) / size, math.cos(half_angle)
        x, y, z, w = quaternion_product(x, y, z, w, scale * rx, scale * ry, scale * rz, c)
        # Rotation towards the measured vertical.
        vx, vy, vz = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z
        length = math.sqrt(fx * fx + fy * fy + fz * fz)
        inverse = 1.0 / (length + _TINY)
        ax, ay, az = fx * inverse, fy * inverse, fz * inverse
        ex, ey, ez = ay * vz - az * vy, az * vx - ax * vz, ax * vy - ay * vx
        gain = 0.5 * self._period * self._proportional
        x, y, z, w = quaternion_product(x, y, z, w, gain * ex, gain * ey, gain * ez, 1.0)
        inverse = 1.0 / math.sqrt(x * x + y * y + z * z + w * w)
        self._quaternion = (x * inverse, y * inverse, z * inverse, w * inverse)
        correction = (
            0.0
            if field is None
            else self._heading.correct(*_rotate_vector(*self._quaternion, *field), size)
        )
        if self._rate_bias:
            gain = self._bias_gain(size, length)
            bx, by, bz = bx - gain * ex, by - gain * ey, bz - gain * ez
            if correction != 0.0:
                ratio = self._time_constant / self._heading.time_constant
                correction *= gain * ratio * ratio
                bx, by, bz = bx - correction * vx, by - correction * vy, bz - correction * vz
            self._bias = bx, by, bz
        return self._quaternion

    def _bias_gain(self, rate, force):
        """Return the bias change per period and unit of e, for norms of rate and specific force."""
        turning = self._time_constant * rate
        accelerating = (force - STANDARD_GRAVITY) / _FORCE_SCALE
        share = self._period / (self._time_constant + self._period)
        self._motion += share * (turning * turning + accelerating * accelerating - self._motion)
        calm = 0.25 * self._proportional / (1.0 + self._motion)
        return self._period * calm * calm


def block_length(period: float, time_constant: float) -> int:
    """Return the maximum number of samples for :func:`fuse_block`; below 2, a loop is needed.

    Parameters
    ----------
    period, time_constant : float
        Sampling period and time constant T [s].

    Returns
    -------
    int
        Number of samples; 0 if the time constant is at most ten periods.
    """
    # Over 250 time constants, the weights of the sums reach e^250, within the range of floats.
    return int(250.0 * time_constant / period) if time_constant > 10.0 * period else 0


def fuse_block(quaternion, angular_velocity, specific_force, period, time_constant):
    """Compute the orientations of consecutive samples without a loop over samples.

    Parameters
    ----------
    quaternion : 4 float
        Orientation before the first sample, x, y, z, w.
    angular_velocity, specific_force : ndarray, shape (samples, 3)
        Readings [rad/s, m/s^2] of up to :func:`block_length` samples.
    period, time_constant : float
        Sampling period and time constant T [s].

    Returns
    -------
    ndarray, shape (samples, 4), or None
        Orientations; None if the iteration does not converge, for example in free fall.
    """
    predicted = _integrate_gyroscope(quaternion, np.ascontiguousarray(angular_velocity.T), period)
    force = np.ascontiguousarray(specific_force.T)
    measured = rotate_vectors(predicted, force / (np.sqrt((force * force).sum(axis=0)) + _TINY))
    gain = 0.5 * period / time_constant
    with np.errstate(all="ignore"):
        estimated = _verticals(measured, gain)
    if estimated is None:
        return None
    (ax, ay, az), (ux, uy, uz) = measured, estimated
    errors = ay * uz - az * uy, az * ux - ax * uz, ax * uy - ay * ux
    corrections = np.vstack([gain * np.array(errors), np.ones(measured.shape[1])])
    corrections /= np.sqrt((corrections * corrections).sum(axis=0))
    return np.stack(quaternion_product(*running_product(corrections), *predicted), axis=-1)


def running_product(quaternions):
    """Return the normalised cumulative products of quaternions.

    Parameters
    ----------
    quaternions : ndarray, shape (4, samples)
        Quaternions x, y, z, w.

    Returns
    -------
    ndarray, shape (4, samples)
        Unit quaternions; column k is the product of columns 0 to k.
    """
    count = quaternions.shape[1]
    # There are fewer rows than columns, since a row costs an array operation, but a column only a
    # float operation.
    rows = max(1, math.isqrt(count // 10))
    columns = -(-count // rows)
    padded = np.zeros((4, rows * columns))
    padded[3] = 1.0
    padded[:, :count] = quaternions
    # Each column is a time interval. The intervals are multiplied in parallel, then chained.
    table = np.ascontiguousarray(padded.reshape(4, columns, rows).transpose(0, 2, 1))
    for row in range(1, rows):
        table[:, row] = quaternion_product(*table[:, row - 1], *table[:, row])
    chained = [(0.0, 0.0, 0.0, 1.0)]
    for end in table[:, -1].T[:-1].tolist():
        chained.append(quaternion_product(*chained[-1], *end))
    table = np.array(quaternion_product(*np.array(chained).T[:, np.newaxis], *table))
    table /= np.sqrt((table * table).sum(axis=0))
    return table.transpose(0, 2, 1).reshape(4, -1)[:, :count]


def _integrate_gyroscope(quaternion, rate, period):
    """Return the orientations (4, samples) that result from the gyroscope alone."""
    size = np.sqrt((rate * rate).sum(axis=0)) + _TINY
    half_angle = 0.5 * period * size
    turns = np.vstack([np.sin(half_angle) / size * rate, np.cos(half_angle)])
    turns[:, 0] = quaternion_product(*quaternion, *turns[:, 0])
    return running_product(turns)


def _rotate_vector(x, y, z, w, a, b, c):
    """Return the components of the vector (a, b, c), rotated by a quaternion."""
    ta, tb, tc = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return a + w * ta + y * tc - z * tb, b + w * tb + z * ta - x * tc, c + w * tc + x * tb - y * ta


def rotate_vectors(quaternions, vectors):
    """Rotate vectors by quaternions.

    Parameters
    ----------
    quaternions : ndarray, shape (4, samples)
        Quaternions x, y, z, w.
    vectors : ndarray, shape (3, samples)
        Vectors in any unit.

    Returns
    -------
    ndarray, shape (3, samples)
        Rotated vectors, in the unit of the vectors.
    """
    return np.array(_rotate_vector(*quaternions, *vectors))


def _verticals(measured, gain):
    """Estimate the vertical (3, samples) before each correction; None if it does not converge."""
    squared = (measured * measured).sum(axis=0)
    estimated = np.empty((3, measured.shape[1] + 1))
    estimated[:, 0] = 0.0, 0.0, 1.0
    products = np.ones(measured.shape[1])
    for _ in range(60):
        t_squared = gain * gain * (squared - products * products)
        inverse = 1.0 / (1.0 + t_squared)
        weights = np.cumprod(1.0 - 2.0 * (gain * products + t_squared) * inverse)
        sums = np.cumsum(2.0 * gain * inverse / weights * measured, axis=1)
        sums[2] += 1.0
        estimated[:, 1:] = sums / np.sqrt((sums * sums).sum(axis=0))
        last, products = products, (measured * estimated[:, :-1]).sum(axis=0)
        if np.abs(products - last).max() < 2e-14:
            return estimated[:, :-1]
    return None


class VqfFilter(OrientationFilter):
    """Orientation filter of the Python library vqf.

    The paper is cited in :mod:`.sensors.fusion.magnetic_heading`.

    Parameters
    ----------
    period : float
        Sampling period [s].
    time_constant : float
        Time constant ``tauAcc`` of the library [s].
    rate_bias : bool
        Whether the gyroscope's bias is estimated, in motion and at rest.
    heading : MagneticHeading, optional
        Heading whose settings are used; the algorithm is that of the library. By default, the yaw
        has no reference.

    Raises
    ------
    ConfigurationError
        If the library is not installed.
    """

    def __init__(
        self,
        period: float,
        time_constant: float,
        rate_bias: bool = False,
        heading: MagneticHeading | None = None,
    ):
        try:
            # Imported here, since the library is optional.
            from vqf import VQF
        except ImportError as error:
            raise ConfigurationError(
                "filter is vqf, but the Python library vqf is not installed; install it or choose "
                "mahony"
            ) from error

        settings: dict[str, Any] = {"motionBiasEstEnabled": rate_bias, "tauAcc": time_constant}
        if heading is not None:
            settings["magDistRejectionEnabled"] = heading.rejection
            settings["tauMag"] = heading.time_constant
        self._magnetic = heading
        self._name = "quat6D" if heading is None else "quat9D"
        self._make = partial(VQF, period, restBiasEstEnabled=rate_bias, **settings)

    def start(self, orientation, specific_force, magnetic_field=None):
        from scipy.spatial.transform import Rotation

        self._filter = self._make()
        quaternion = self._advance(np.zeros(3), specific_force, magnetic_field)
        if self._magnetic is not None:
            # Rotation from the magnetic frame to the world frame.
            self._turn = Rotation.from_euler("z", -self._magnetic.declination)
            return (self._turn * quaternion).as_quat()
        started = level_orientation(orientation, specific_force)
        # The library starts with an arbitrary yaw; this rotation changes it to the initial yaw.
        self._turn = Rotation.from_quat(started) * quaternion.inv()
        return started

    def update(self, angular_velocity, specific_force, magnetic_field=None):
        quaternion = self._advance(angular_velocity, specific_force, magnetic_field)
        return (self._turn * quaternion).as_quat()

    def update_all(self, angular_velocity, specific_force, magnetic_field=None):
        if len(angular_velocity) == 0:
            return np.empty((0, 4))
        signals = self._signals(angular_velocity, specific_force, magnetic_field)
        quaternions = self._filter.updateBatch(*signals)
        return (self._turn * _from_vqf(quaternions[self._name])).as_quat()

    def _advance(self, angular_velocity, specific_force, magnetic_field):
        self._filter.update(*self._signals(angular_velocity, specific_force, magnetic_field))
        return _from_vqf(getattr(self._filter, f"getQ{self._name[1:]}")())

    def _signals(self, angular_velocity, specific_force, magnetic_field):
        signals = [angular_velocity, specific_force]
        if self._magnetic is not None:
            signals.append(_require_field(magnetic_field))
        return [np.ascontiguousarray(signal, dtype=float) for signal in signals]


def _from_vqf(quaternions):
    from scipy.spatial.transform import Rotation

    # The library's component order is w, x, y, z.
    return Rotation.from_quat(np.roll(quaternions, -1, axis=-1))


def make_filter(output: OutputSpecification, period: float) -> OrientationFilter:
    """Create the orientation filter of a specification.

    Parameters
    ----------
    output : OutputSpecification
        Settings of the filter.
    period : float
        Sampling period [s].

    Returns
    -------
    OrientationFilter

    Raises
    ------
    ConfigurationError
        If the filter's library is not installed.
    """
    heading = None
    if output.magnetic_heading:
        settings = (output.magnetic_time_constant, output.magnetic_disturbance_rejection)
        heading = MagneticHeading(period, *settings, output.magnetic_declination)
    if output.filter == "compass":
        return CompassFilter(period, output.filter_time_constant, heading)
    kind = {"mahony": ComplementaryFilter, "vqf": VqfFilter}[output.filter]
    return kind(period, output.filter_time_constant, output.filter_rate_bias, heading)


def fuse_run(filter, orientation, angular_velocity, specific_force, magnetic_field=None):
    """Compute the orientations of a complete series of readings with a filter.

    Parameters
    ----------
    filter : OrientationFilter
        Filter, which is started with the first sample.
    orientation : ndarray, shape (4,)
        Orientation with the initial yaw.
    angular_velocity, specific_force : ndarray, shape (samples, 3)
        Readings [rad/s, m/s^2], at least one sample.
    magnetic_field : ndarray, shape (samples, 3), optional
        Magnetic field [T]; required for a magnetic heading.

    Returns
    -------
    ndarray, shape (samples, 4)
        Orientations.
    """
    fields = () if magnetic_field is None else (magnetic_field,)
    first = filter.start(orientation, specific_force[0], *(field[0] for field in fields))
    later = (signal[1:] for signal in (angular_velocity, specific_force, *fields))
    return np.vstack([first, filter.update_all(*later)])
