r"""Orientation from gyroscope and accelerometer alone, so without a reference for the yaw.

The complementary filter is that of Mahony, Hamel and Pflimlin (Nonlinear complementary filters
on the special orthogonal group, IEEE Transactions on Automatic Control 53(5), 2008; the explicit
form with bias correction) with the vertical as its only direction. With the measured direction of
the vertical a, and v that of the orientation, both in the sensor's axes,

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
"""

from __future__ import annotations

import math

import numpy as np

from imu_simulation_framework.angles import quaternion_product
from imu_simulation_framework.constants import STANDARD_GRAVITY
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.sensors.imu_specification import OutputSpecification
from imu_simulation_framework.sensors.series_fusion import block_length, fuse_block

# Added to lengths that are divided by: nothing where they are not zero, no warning where they are.
_TINY = 1e-300
# sigma: wide enough for the bias of a cheap accelerometer, in which a sensor at rest has to learn.
_FORCE_SCALE = 0.5  # m/s^2
# Samples from which a series at once is faster than one after the other.
_FEWEST = 500


class ComplementaryFilter:
    """Mahony's filter.

    Parameters
    ----------
    period : float
        Time from one sample to the next [s].
    time_constant : float
        T [s].
    rate_bias : bool
        Whether it estimates the gyroscope's bias, about the horizontal axes, at rest and in gentle
        motion. Else the bias is taken for zero.
    """

    def __init__(self, period: float, time_constant: float, rate_bias: bool = False):
        self._period = period
        self._time_constant = time_constant
        self._proportional = 1.0 / time_constant
        self._rate_bias = rate_bias

    def start(self, orientation, specific_force):
        """Take the yaw from an orientation (4,), and the tilt from the accelerometer (3,).

        Returns
        -------
        ndarray (4,)
            Orientation.
        """
        started = _level(orientation, specific_force)
        # One quaternion is faster as Python's numbers than as an array.
        self._quaternion = tuple(started.tolist())
        self._bias = (0.0, 0.0, 0.0)
        self._motion = 0.0
        return started

    def update(self, angular_velocity, specific_force):
        """Take the next sample, (3,) each; return the orientation (4,).

        The angular velocity is the mean since the last sample.
        """
        return np.array(self._next(angular_velocity.tolist(), specific_force.tolist()))

    def update_all(self, angular_velocity, specific_force):
        """Take the next samples, (samples, 3) each; return orientations (samples, 4)."""
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

    def _next(self, rate, force):
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
        if self._rate_bias:
            gain = self._bias_gain(size, length)
            self._bias = (bx - gain * ex, by - gain * ey, bz - gain * ez)
        return self._quaternion

    def _bias_gain(self, rate, force):
        """What the bias changes by in a period for each unit of e, after this rate and force."""
        turning = self._time_constant * rate
        accelerating = (force - STANDARD_GRAVITY) / _FORCE_SCALE
        share = self._period / (self._time_constant + self._period)
        self._motion += share * (turning * turning + accelerating * accelerating - self._motion)
        calm = 0.25 * self._proportional / (1.0 + self._motion)
        return self._period * calm * calm


class VqfFilter:
    """The filter of the library vqf.

    Laidig and Seel: VQF: highly accurate IMU orientation estimation with bias estimation and
    magnetic disturbance rejection, Information Fusion 91 (2023).

    Parameters
    ----------
    period : float
        Time from one sample to the next [s].
    time_constant : float
        ``tauAcc`` [s].
    rate_bias : bool
        Whether it estimates the gyroscope's bias, in motion and at rest.

    Raises
    ------
    ConfigurationError
        The library is not installed.
    """

    def __init__(self, period: float, time_constant: float, rate_bias: bool = False):
        try:
            # Imported here, as only those who choose it need it.
            from vqf import VQF
        except ImportError as error:
            raise ConfigurationError(
                "The filter vqf needs the Python library vqf, which is not installed; "
                "choose filter mahony or install it."
            ) from error

        def make():
            return VQF(
                period,
                tauAcc=time_constant,
                motionBiasEstEnabled=rate_bias,
                restBiasEstEnabled=rate_bias,
            )

        self._make = make

    def start(self, orientation, specific_force):
        """Take the yaw from an orientation (4,), and the tilt from the accelerometer (3,).

        Returns
        -------
        ndarray (4,)
            Orientation.
        """
        from scipy.spatial.transform import Rotation

        started = _level(orientation, specific_force)
        self._filter = self._make()
        fused = self._advance(np.zeros(3), specific_force)
        # It starts with a yaw of its own choice: what leads from there to the wanted one.
        self._heading = Rotation.from_quat(started) * fused.inv()
        return started

    def update(self, angular_velocity, specific_force):
        """Take the next sample, (3,) each; return the orientation (4,)."""
        return (self._heading * self._advance(angular_velocity, specific_force)).as_quat()

    def update_all(self, angular_velocity, specific_force):
        """Take the next samples, (samples, 3) each; return orientations (samples, 4)."""
        if len(angular_velocity) == 0:
            return np.empty((0, 4))
        fused = self._filter.updateBatch(
            np.ascontiguousarray(angular_velocity), np.ascontiguousarray(specific_force)
        )
        return (self._heading * _from_vqf(fused["quat6D"])).as_quat()

    def _advance(self, angular_velocity, specific_force):
        self._filter.update(
            np.ascontiguousarray(angular_velocity, dtype=float),
            np.ascontiguousarray(specific_force, dtype=float),
        )
        return _from_vqf(self._filter.getQuat6D())


def make_filter(output: OutputSpecification, period: float):
    """Return the filter that a specification names.

    Raises
    ------
    ConfigurationError
        It needs a library that is not installed.
    """
    kind = {"mahony": ComplementaryFilter, "vqf": VqfFilter}[output.filter]
    return kind(period, output.filter_time_constant, output.filter_rate_bias)


def fuse(output: OutputSpecification, period, orientation, angular_velocity, specific_force):
    """Return the orientations of whole series of samples.

    Parameters
    ----------
    output : OutputSpecification
    period : float
        Time from one sample to the next [s].
    orientation : array_like (4,)
        The true one at the first sample, of which the yaw counts.
    angular_velocity, specific_force : ndarray (runs, samples, 3)
        [rad/s], [m/s^2]; of the first sample only the specific force counts.

    Returns
    -------
    ndarray (runs, samples, 4)

    Raises
    ------
    ConfigurationError
        The filter needs a library that is not installed.
    """
    orientations = np.empty((*np.shape(angular_velocity)[:2], 4))
    if orientations.shape[1]:
        for run, rates, forces in zip(orientations, angular_velocity, specific_force):
            filter = make_filter(output, period)
            run[0] = filter.start(orientation, forces[0])
            run[1:] = filter.update_all(rates[1:], forces[1:])
    return orientations


def _level(orientation, specific_force):
    """The orientation turned the shortest way, so that the specific force points up."""
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


def _from_vqf(quaternions):
    from scipy.spatial.transform import Rotation

    # Its order is w, x, y, z.
    return Rotation.from_quat(np.roll(quaternions, -1, axis=-1))
