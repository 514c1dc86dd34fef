r"""Orientation from a sensor's own readings, by the filter that its specification names.

Gyroscope and accelerometer alone leave the yaw without a reference. With a magnetometer it has one:
magnetic north. The world's axes are x east, y north, z up, so that the yaw of what heads for the
magnetic north is 90 degrees less the declination, the angle from the world's y axis clockwise to
magnetic north: with a declination of zero, the yaw counts from magnetic east, as with most sensors.

Without a gyroscope, what is up and where north is comes from two directions: the specific force f
and the field m, in the sensor's axes, pass a low-pass of time constant T each. Up is f, east
:math:`m \times f`, as magnetic north, east and up are perpendicular and the field has no part to
the east: the TRIAD of Black (A passive system for determining the attitude of a satellite, AIAA
Journal 2(7), 1964), with the vertical as the direction that is trusted. Nothing drifts, but what
turns is followed T late, acceleration tilts it, and in tilting turns it, too.

With a gyroscope the complementary filter is that of Mahony, Hamel and Pflimlin (Nonlinear
complementary filters on the special orthogonal group, IEEE Transactions on Automatic Control 53(5),
2008; the explicit form with bias correction) with the vertical as its only direction. With the
measured direction of the vertical a, and v that of the orientation, both in the sensor's axes,

.. math:: \dot q = \tfrac12 q \otimes (\omega - b + k_P e), \quad
          \dot b = -k_I e, \quad e = a \times v.

The correction e is perpendicular to the vertical: it turns roll and pitch towards what the
accelerometer says, with the time constant :math:`T = 1 / k_P`, and never the yaw, whose error is
the integral of the gyroscope's.

The bias b learns from the same e, and e is the tilt's error only while the specific force is
gravity. What moves fast turns and accelerates in step, so that linear acceleration leaves a mean in
the sensor's axes, which an integral cannot tell from a bias: with :math:`k_I = k_P^2 / 4`, critical
damping, b ran away on sensors in a moving hand, and with it tilt and yaw. Laidig, Caruso, Cereatti
and Seel (BROAD - a benchmark for robust inertial orientation estimation, Data 6(7), 2021) tuned
:math:`k_P = 0.74, k_I = 0.0012 = k_P^2 / 456` on such motion, which is slow at rest. So the gain
follows the motion:

.. math:: k_I = \frac{k_P^2}{16 (1 + s)^2}, \quad
          T \dot s = (T |\omega - b|)^2 + \left(\frac{|f| - g}{\sigma}\right)^2 - s.

The first term is what turning takes from the information: a bias that turns with the sensor tilts
the estimate by :math:`b T / \sqrt{1 + \omega^2 T^2}` only, while a curve's acceleration, hidden in
the norm, stands still in the sensor's axes. The second is what acceleration shows in the norm. At
rest b has a time constant of 15 T. It never changes about the vertical, which e does not see.

A magnetometer makes the heading of :mod:`.sensors.fusion.magnetic_heading`: a turn about the
vertical beside q, which leaves the tilt alone, unlike a second direction in e would. By how much it
is off is the e of the vertical, from which b learns with the same gain at the heading's own time
constant.

Over a whole series of samples Mahony's filter does without a loop over them. With the gyroscope
alone the orientation would be a running product P of turns. The filter's is :math:`q_k = d_k P_k`
with :math:`d_k = d_{k-1} C_k`, where the correction :math:`C_k` of the sample turns about
:math:`A_k \times u_{k-1}`: A is the measured vertical in the axes of P, and
:math:`u_k = d_k^{-1} z` the estimated one. u is turned towards A within the plane of both,

.. math::

    u_k = \alpha_k u_{k-1} + \beta_k A_k, \quad
    \alpha = 1 - 2 \frac{g p + t^2}{1 + t^2}, \quad \beta = \frac{2 g}{1 + t^2}, \quad
    p_k = A_k \cdot u_{k-1}, \quad t^2 = g^2 (|A|^2 - p^2), \quad g = \frac{dt}{2 T}.

If all p were known, this would be a linear recurrence, which sums solve. They are the scalar
products of directions close to each other, which hardly depend on a small change of one of them, so
that putting in the last solution's, and making each u a direction again, converges within a few
rounds to the loop's result but for rounding.
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
    """An orientation, followed from the readings of gyroscope, accelerometer and magnetometer."""

    @abstractmethod
    def start(self, orientation, specific_force, magnetic_field=None) -> np.ndarray:
        """Take the yaw from an orientation (4,), and the tilt from the accelerometer (3,).

        With a magnetic heading the yaw is that of the magnetic field (3,). Returns the orientation
        (4,). Raises :class:`.ConfigurationError`: a field is needed for the heading and not given;
        so from :meth:`update` and :meth:`update_all`.
        """

    @abstractmethod
    def update(self, angular_velocity, specific_force, magnetic_field=None) -> np.ndarray:
        """Take the next sample, (3,) each, means since the last; return the orientation (4,)."""

    @abstractmethod
    def update_all(self, angular_velocity, specific_force, magnetic_field=None) -> np.ndarray:
        """Take the next samples, (samples, 3) each; return orientations (samples, 4)."""


# Added to lengths that are divided by: nothing where they are not zero, no warning where they are.
_TINY = 1e-300


def levelled(orientation, specific_force):
    """Return the orientation turned the shortest way, so that the specific force points up."""
    from scipy.spatial.transform import Rotation

    shape = np.shape(orientation)
    given = Rotation.from_quat(np.reshape(np.asarray(orientation, dtype=float), (-1, 4)))
    up = given.apply(np.reshape(specific_force, (-1, 3)))
    length = np.linalg.norm(up, axis=-1, keepdims=True)
    up = np.where(length > 0.0, up / (length + _TINY), [0.0, 0.0, 1.0])
    # The half-way quaternion between two directions: (1 + a.b, a x b), normalised by scipy.
    turn = np.column_stack([up[:, 1], -up[:, 0], np.zeros(len(up)), 1.0 + up[:, 2]])
    turn[turn[:, 3] < 1e-12] = [1.0, 0.0, 0.0, 0.0]
    return (Rotation.from_quat(turn) * given).as_quat().reshape(shape)


def _checked(magnetic_field):
    """Return the magnetic field that a heading needs."""
    if magnetic_field is None:
        raise ConfigurationError(
            "The specification has a magnetic heading, but there is no magnetic field to take it "
            "from: it needs a magnetic environment."
        )
    return magnetic_field


class CompassFilter(OrientationFilter):
    """Accelerometer and magnetometer, without a gyroscope.

    ``period`` [s]. ``time_constant``: T [s]. ``heading``: of which the declination counts. Without,
    the yaw starts as it is given, and changes as the field turns.
    """

    def __init__(self, period: float, time_constant: float, heading: MagneticHeading | None = None):
        self._share = -math.expm1(-period / time_constant)
        self._heading = heading

    def start(self, orientation, specific_force, magnetic_field=None):
        from scipy.spatial.transform import Rotation

        self._smooth = np.concatenate([specific_force, _checked(magnetic_field)])
        self._last = np.array([0.0, 0.0, 0.0, 1.0])
        north = Rotation.from_quat(_north(self._smooth[np.newaxis], self._last))
        if self._heading is not None:
            turn = -self._heading.declination
        else:
            turn = yaw_from_quaternion(orientation) - yaw_from_quaternion(north.as_quat()[0])
        self._turn = Rotation.from_euler("z", turn)
        return self._turned(self._smooth[np.newaxis])[0]

    def update(self, angular_velocity, specific_force, magnetic_field=None):
        reading = np.concatenate([specific_force, _checked(magnetic_field)])
        # As a series does it, to the bit: the last is kept, the new one added.
        self._smooth = self._share * reading + (1.0 - self._share) * self._smooth
        return self._turned(self._smooth[np.newaxis])[0]

    def update_all(self, angular_velocity, specific_force, magnetic_field=None):
        from scipy.signal import lfilter

        readings = np.hstack([specific_force, _checked(magnetic_field)])
        if len(readings) == 0:
            return np.empty((0, 4))
        keep = 1.0 - self._share
        smooth, _ = lfilter(
            [self._share], [1.0, -keep], readings, axis=0, zi=keep * self._smooth[np.newaxis]
        )
        self._smooth = smooth[-1]
        return self._turned(smooth)

    def _turned(self, smooth):
        from scipy.spatial.transform import Rotation

        north = _north(smooth, self._last)
        self._last = north[-1]
        return (self._turn * Rotation.from_quat(north)).as_quat()


def _north(smooth, last):
    """Orientations (samples, 4) that rows of force and field say; the last where they say none."""
    from scipy.spatial.transform import Rotation

    up, field = smooth[:, :3], smooth[:, 3:]
    east = np.cross(field, up)
    lengths = np.linalg.norm(up, axis=1), np.linalg.norm(east, axis=1)
    known = (lengths[0] > 0.0) & (lengths[1] > 0.0)
    quaternions = np.tile(last, (len(smooth), 1))
    if known.any():
        up, east = (
            vectors[known] / length[known][:, np.newaxis]
            for vectors, length in zip((up, east), lengths)
        )
        # The rows are the world's axes in those of the sensor.
        matrices = np.stack([east, np.cross(up, east), up], axis=1)
        quaternions[known] = Rotation.from_matrix(matrices).as_quat()
    following = np.maximum.accumulate(np.where(known, np.arange(len(smooth)), -1))
    return np.where(following[:, np.newaxis] >= 0, quaternions[following], quaternions)


# sigma: wide enough for the bias of a cheap accelerometer, in which a sensor at rest has to learn.
_FORCE_SCALE = 0.5  # m/s^2
# Samples from which a series at once is faster than one after the other.
_FEWEST = 500


class ComplementaryFilter(OrientationFilter):
    """Mahony's filter.

    ``period`` [s]. ``time_constant``: T [s]. ``rate_bias``: whether it estimates the gyroscope's
    bias, about the horizontal axes, at rest and in gentle motion; with a magnetic heading about
    all. ``heading``: of the same period; without, the yaw has no reference.
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
        started = levelled(orientation, specific_force)
        # One quaternion is faster as Python's numbers than as an array.
        self._quaternion = tuple(started.tolist())
        self._bias = (0.0, 0.0, 0.0)
        self._motion = 0.0
        if self._heading is None:
            return started
        self._heading.begin()
        field = np.reshape(_checked(magnetic_field), (1, 3))
        return self._turned_to_north(started[np.newaxis], np.zeros((1, 3)), field)[0]

    def update(self, angular_velocity, specific_force, magnetic_field=None):
        if self._heading is None:
            return np.array(self._next(angular_velocity.tolist(), specific_force.tolist()))
        field = _checked(magnetic_field).tolist()
        self._next(angular_velocity.tolist(), specific_force.tolist(), field)
        return np.array(self._output())

    def update_all(self, angular_velocity, specific_force, magnetic_field=None):
        if self._heading is None:
            return self._update_all(angular_velocity, specific_force)
        field = _checked(magnetic_field)
        if not self._rate_bias:
            # The heading does not act on the rest, and follows in one go.
            orientations = self._update_all(angular_velocity, specific_force)
            return self._turned_to_north(orientations, angular_velocity, field)
        orientations = []
        for sample in zip(angular_velocity.tolist(), specific_force.tolist(), field.tolist()):
            self._next(*sample)
            orientations.append(self._output())
        return np.array(orientations).reshape(-1, 4)

    def _turned_to_north(self, orientations, rate, field):
        """Orientations (samples, 4) turned to the magnetic heading."""
        field = np.asarray(field, dtype=float)
        level = rotated(orientations.T, field.T)
        half = 0.5 * self._heading.correct_all(level, np.sqrt((rate * rate).sum(axis=1)))
        product = quaternion_product(0.0, 0.0, np.sin(half), np.cos(half), *orientations.T)
        return np.stack(product, axis=-1)

    def _output(self):
        half = 0.5 * self._heading.offset
        return quaternion_product(0.0, 0.0, math.sin(half), math.cos(half), *self._quaternion)

    def _update_all(self, angular_velocity, specific_force):
        orientations = np.empty((len(angular_velocity), 4))
        length = 0 if self._rate_bias else block_length(self._period, self._time_constant)
        for first in range(0, len(orientations), max(length, _FEWEST)):
            block = slice(first, first + max(length, _FEWEST))
            rate, force = angular_velocity[block], specific_force[block]
            fused = None
            if min(length, len(rate)) >= _FEWEST:
                fused = fuse_block(self._quaternion, rate, force, self._period, self._time_constant)
            if fused is None:
                fused = [self._next(*pair) for pair in zip(rate.tolist(), force.tolist())]
            orientations[block] = fused
            self._quaternion = tuple(orientations[block][-1].tolist())
        return orientations

    def _next(self, rate, force, field=None):
        # Written out by component: a library's product of quaternions takes longer for each than
        # all of this.
        x, y, z, w = self._quaternion
        (rx, ry, rz), (bx, by, bz), (fx, fy, fz) = rate, self._bias, force
        # Turn by the gyroscope.
        rx, ry, rz = rx - bx, ry - by, rz - bz
        size = math.sqrt(rx * rx + ry * ry + rz * rz) + _TINY
        half = 0.5 * self._period * size
        scale, c = math.sin(half) / size, math.cos(half)
        x, y, z, w = quaternion_product(x, y, z, w, scale * rx, scale * ry, scale * rz, c)
        # Turn towards the vertical.
        vx, vy, vz = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z
        length = math.sqrt(fx * fx + fy * fy + fz * fz)
        inverse = 1.0 / (length + _TINY)
        ax, ay, az = fx * inverse, fy * inverse, fz * inverse
        ex, ey, ez = ay * vz - az * vy, az * vx - ax * vz, ax * vy - ay * vx
        gain = 0.5 * self._period * self._proportional
        x, y, z, w = quaternion_product(x, y, z, w, gain * ex, gain * ey, gain * ez, 1.0)
        inverse = 1.0 / math.sqrt(x * x + y * y + z * z + w * w)
        self._quaternion = (x * inverse, y * inverse, z * inverse, w * inverse)
        off = (
            0.0
            if field is None
            else self._heading.correct(*_rotated(*self._quaternion, *field), size)
        )
        if self._rate_bias:
            gain = self._bias_gain(size, length)
            bx, by, bz = bx - gain * ex, by - gain * ey, bz - gain * ez
            if off != 0.0:
                ratio = self._time_constant / self._heading.time_constant
                off *= gain * ratio * ratio
                bx, by, bz = bx - off * vx, by - off * vy, bz - off * vz
            self._bias = bx, by, bz
        return self._quaternion

    def _bias_gain(self, rate, force):
        """Return the bias's change in a period per unit of e, after this rate and force."""
        turning = self._time_constant * rate
        accelerating = (force - STANDARD_GRAVITY) / _FORCE_SCALE
        share = self._period / (self._time_constant + self._period)
        self._motion += share * (turning * turning + accelerating * accelerating - self._motion)
        calm = 0.25 * self._proportional / (1.0 + self._motion)
        return self._period * calm * calm


def block_length(period: float, time_constant: float) -> int:
    """Return how many samples can be taken at once; below 2 the loop is needed."""
    # So many time constants: sums weigh a block's samples by up to e to that.
    return int(250.0 * time_constant / period) if time_constant > 10.0 * period else 0


def fuse_block(quaternion, angular_velocity, specific_force, period, time_constant):
    """Return orientations (samples, 4) of the samples after one, x, y, z, w (4 float).

    None where it did not converge, as in motion without a direction of gravity.
    ``angular_velocity``, ``specific_force`` (samples, 3): [rad/s], [m/s^2]; up to
    :func:`block_length` samples. ``period``, ``time_constant`` (float): [s].
    """
    turned = _turned(quaternion, np.ascontiguousarray(angular_velocity.T), period)
    force = np.ascontiguousarray(specific_force.T)
    measured = rotated(turned, force / (np.sqrt((force * force).sum(axis=0)) + _TINY))
    gain = 0.5 * period / time_constant
    with np.errstate(all="ignore"):
        estimated = _verticals(measured, gain)
    if estimated is None:
        return None
    (ax, ay, az), (ux, uy, uz) = measured, estimated
    errors = ay * uz - az * uy, az * ux - ax * uz, ax * uy - ay * ux
    corrections = np.vstack([gain * np.array(errors), np.ones(measured.shape[1])])
    corrections /= np.sqrt((corrections * corrections).sum(axis=0))
    return np.stack(quaternion_product(*running_product(corrections), *turned), axis=-1)


def running_product(quaternions):
    """Return the products of all quaternions up to each, (4, samples), of length one."""
    count = quaternions.shape[1]
    # Fewer rows than columns: a row costs a loop in Python with arrays, a column one without.
    rows = max(1, math.isqrt(count // 10))
    columns = -(-count // rows)
    padded = np.zeros((4, rows * columns))
    padded[3] = 1.0
    padded[:, :count] = quaternions
    # Each column is a stretch of time: all stretches go on together, then follow one another.
    table = np.ascontiguousarray(padded.reshape(4, columns, rows).transpose(0, 2, 1))
    for row in range(1, rows):
        table[:, row] = quaternion_product(*table[:, row - 1], *table[:, row])
    before = [(0.0, 0.0, 0.0, 1.0)]
    for end in table[:, -1].T[:-1].tolist():
        before.append(quaternion_product(*before[-1], *end))
    table = np.array(quaternion_product(*np.array(before).T[:, np.newaxis], *table))
    table /= np.sqrt((table * table).sum(axis=0))
    return table.transpose(0, 2, 1).reshape(4, -1)[:, :count]


def _turned(quaternion, rate, period):
    """Return the orientations (4, samples) with the gyroscope alone."""
    size = np.sqrt((rate * rate).sum(axis=0)) + _TINY
    half = 0.5 * period * size
    turns = np.vstack([np.sin(half) / size * rate, np.cos(half)])
    turns[:, 0] = quaternion_product(*quaternion, *turns[:, 0])
    return running_product(turns)


def _rotated(x, y, z, w, a, b, c):
    """Return the components of a vector a, b, c that a quaternion rotates; numbers or arrays."""
    ta, tb, tc = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return a + w * ta + y * tc - z * tb, b + w * tb + z * ta - x * tc, c + w * tc + x * tb - y * ta


def rotated(quaternions, vectors):
    """Return vectors (3, samples) rotated by quaternions (4, samples)."""
    return np.array(_rotated(*quaternions, *vectors))


def _verticals(measured, gain):
    """Estimate the vertical (3, samples) before each sample's correction; None if not found."""
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
    """The filter of the library vqf (the paper is in :mod:`.sensors.fusion.magnetic_heading`).

    ``period`` [s]. ``time_constant``: ``tauAcc`` [s]. ``rate_bias``: whether it estimates the
    gyroscope's bias, in motion and at rest. ``heading``: of which only the settings count, the rest
    is the library's own. Without, the yaw has no reference. Raises :class:`.ConfigurationError`:
    the library is not installed.
    """

    def __init__(
        self,
        period: float,
        time_constant: float,
        rate_bias: bool = False,
        heading: MagneticHeading | None = None,
    ):
        try:
            # Imported here, as only those who choose it need it.
            from vqf import VQF
        except ImportError as error:
            raise ConfigurationError(
                "The filter vqf needs the Python library vqf, which is not installed; "
                "choose filter mahony or install it."
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
        fused = self._advance(np.zeros(3), specific_force, magnetic_field)
        if self._magnetic is not None:
            # From magnetic north to the world's axes.
            self._turn = Rotation.from_euler("z", -self._magnetic.declination)
            return (self._turn * fused).as_quat()
        started = levelled(orientation, specific_force)
        # It starts with a yaw of its own choice: what leads from there to the wanted one.
        self._turn = Rotation.from_quat(started) * fused.inv()
        return started

    def update(self, angular_velocity, specific_force, magnetic_field=None):
        fused = self._advance(angular_velocity, specific_force, magnetic_field)
        return (self._turn * fused).as_quat()

    def update_all(self, angular_velocity, specific_force, magnetic_field=None):
        if len(angular_velocity) == 0:
            return np.empty((0, 4))
        signals = self._signals(angular_velocity, specific_force, magnetic_field)
        fused = self._filter.updateBatch(*signals)
        return (self._turn * _from_vqf(fused[self._name])).as_quat()

    def _advance(self, angular_velocity, specific_force, magnetic_field):
        self._filter.update(*self._signals(angular_velocity, specific_force, magnetic_field))
        return _from_vqf(getattr(self._filter, f"getQ{self._name[1:]}")())

    def _signals(self, angular_velocity, specific_force, magnetic_field):
        signals = [angular_velocity, specific_force]
        if self._magnetic is not None:
            signals.append(_checked(magnetic_field))
        return [np.ascontiguousarray(signal, dtype=float) for signal in signals]


def _from_vqf(quaternions):
    from scipy.spatial.transform import Rotation

    # Its order is w, x, y, z.
    return Rotation.from_quat(np.roll(quaternions, -1, axis=-1))


def make_filter(output: OutputSpecification, period: float) -> OrientationFilter:
    """Return the filter that a specification names; raises if its library is not installed."""
    heading = None
    if output.magnetic_heading:
        wanted = (output.magnetic_time_constant, output.magnetic_disturbance_rejection)
        heading = MagneticHeading(period, *wanted, output.magnetic_declination)
    if output.filter == "compass":
        return CompassFilter(period, output.filter_time_constant, heading)
    kind = {"mahony": ComplementaryFilter, "vqf": VqfFilter}[output.filter]
    return kind(period, output.filter_time_constant, output.filter_rate_bias, heading)


def fuse_run(filter, orientation, angular_velocity, specific_force, magnetic_field=None):
    """Return the orientations (samples, 4) of a whole series, at least one sample.

    ``filter`` (OrientationFilter): which starts from an ``orientation`` (4,) and the first sample.
    ``angular_velocity``, ``specific_force`` (samples, 3): [rad/s], [m/s^2]. ``magnetic_field``
    (samples, 3): [T]; needed for a magnetic heading.
    """
    fields = () if magnetic_field is None else (magnetic_field,)
    first = filter.start(orientation, specific_force[0], *(field[0] for field in fields))
    later = (signal[1:] for signal in (angular_velocity, specific_force, *fields))
    return np.vstack([first, filter.update_all(*later)])
