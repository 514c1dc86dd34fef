r"""Magnetic heading for an orientation without a yaw reference, with rejection of disturbed fields.

The tilt of an orientation from gyroscope and accelerometer is correct, but its yaw drifts. This
orientation rotates the measured field into a level frame, in which the field is :math:`m`. The
rotation from there to the world frame, in which magnetic north is the declination D clockwise from
the y axis, is a rotation about the vertical by

.. math:: \varphi = \mathrm{atan2}(m_x, m_y) - D, \quad \dot\psi = (\varphi - \psi) / T,

with :math:`\psi` the output of a low-pass filter with the time constant T. The magnetometer
therefore never tilts the orientation, and the yaw follows the gyroscope for times below T and the
magnetometer for times above T. During the first T, all readings have the same weight. This is the
heading correction of Laidig and Seel, VQF: highly accurate IMU orientation estimation with bias
estimation and magnetic disturbance rejection, Information Fusion 91 (2023), section 3.5.
Disturbances are detected and rejected as in section 3.6, with the numbers below.

A reading is disturbed if the norm or the dip angle of the field differs from the reference, which
slowly follows undisturbed readings. Disturbed readings have zero weight, and a weight of 0.5 after
one minute. A field that differs from the reference but stays the same while the sensor turns
becomes the reference. There is one difference from VQF: the reference starts with the first
readings, and not after five seconds of turning, which may never occur on a wheeled robot.
"""

import math

import numpy as np

# All values are from section 3.6 of the VQF paper.
NORM_TOLERANCE = 0.1  # fraction of the reference field's magnitude
DIP_TOLERANCE = math.radians(10.0)  # rad
READING_TIME = 0.05  # s; time constant of norm and dip angle
REFERENCE_TIME = 20.0  # s; time constant of the reference
CALM_TIME = 0.5  # s; a field that agrees with the reference for this time is undisturbed
LONGEST_REJECTION = 60.0  # s; after this time, disturbed readings have half the weight
_REJECTED_WEIGHT = 0.5
NEW_FIELD_TIME = 20.0  # s; a field constant for this time during turns becomes the reference
TURNING = math.radians(20.0)  # rad/s; smallest angular velocity of a turning sensor


class MagneticHeading:
    """Rotation about the vertical that aligns an orientation with the magnetic field.

    Parameters
    ----------
    period : float
        Sampling period [s].
    time_constant : float
        Time constant T [s].
    rejection : bool
        Whether disturbed readings are rejected.
    declination : float
        Declination D, from the world's y axis clockwise to magnetic north [rad].

    Attributes
    ----------
    offset : float
        Rotation psi after the last reading [rad].
    disturbed : bool
        Whether the last reading was rejected, or had only half the weight.
    """

    def __init__(
        self,
        period: float,
        time_constant: float,
        rejection: bool = False,
        declination: float = 0.0,
    ):
        self.time_constant = time_constant
        self.rejection = rejection
        self.declination = declination
        self._period = period
        self._share = -math.expm1(-period / time_constant)
        self._quick = -math.expm1(-period / READING_TIME)
        self._slow = -math.expm1(-period / REFERENCE_TIME)
        self.begin()

    def begin(self):
        """Reset the heading; the next reading is the first one."""
        self.offset = 0.0
        self._count = 0
        self._reading = self._reference = self._candidate = (0.0, 0.0)
        self._candidate_time, self._calm_time, self._rejected_time = 0.0, CALM_TIME, 0.0
        self.disturbed = False

    def correct(self, x: float, y: float, z: float, speed: float) -> float:
        """Update the heading with the next magnetometer reading.

        Parameters
        ----------
        x, y, z : float
            Field m in the level frame [T]; a reading without a horizontal component is ignored.
        speed : float
            Norm of the angular velocity [rad/s].

        Returns
        -------
        float
            Weighted error of the heading before the reading [rad]; 0 for a rejected reading.
        """
        level = x * x + y * y
        if not level > 0.0:
            return 0.0
        self._count += 1
        error = math.atan2(x, y) - self.declination - self.offset
        # The error is wrapped to (-pi, pi].
        error -= 2.0 * math.pi * math.ceil((error - math.pi) / (2.0 * math.pi))
        weight = 1.0
        if self.rejection:
            level = math.sqrt(level)
            weight = self._weight(math.hypot(level, z), math.atan2(-z, level), speed)
        error *= weight
        self.offset += max(self._share, 1.0 / self._count) * error
        return error

    def correct_all(self, level, speed):
        """Update the heading with the next magnetometer readings.

        Parameters
        ----------
        level : ndarray, shape (3, samples)
            Field m in the level frame [T].
        speed : ndarray, shape (samples,)
            Norm of the angular velocity [rad/s].

        Returns
        -------
        ndarray, shape (samples,)
            Rotation psi after each reading [rad].
        """
        series = None if self.rejection else self._series(level)
        if series is not None:
            return series
        offsets = []
        for reading in zip(*level.tolist(), speed.tolist()):
            self.correct(*reading)
            offsets.append(self.offset)
        return np.array(offsets)

    def _series(self, level):
        """Update the heading without a loop; return None if the result would differ from a loop."""
        x, y, _ = level
        samples = len(x)
        if not np.all(x * x + y * y > 0.0):
            return None
        angles = np.arctan2(x, y) - self.declination - self.offset
        angles -= 2.0 * np.pi * np.ceil((angles - np.pi) / (2.0 * np.pi))
        # From here on, angles are relative to the offset before the first reading.
        number = self._count + 1 + np.arange(samples)
        equal_count = int(np.searchsorted(-1.0 / number, -self._share))
        offsets = np.empty(samples)
        # The first readings have equal weights, as in a mean.
        offsets[:equal_count] = np.cumsum(angles[:equal_count]) / number[:equal_count]
        if equal_count < samples:
            from scipy.signal import lfilter

            previous = offsets[equal_count - 1] if equal_count else 0.0
            keep = 1.0 - self._share
            offsets[equal_count:] = lfilter(
                [self._share], [1.0, -keep], angles[equal_count:], zi=[keep * previous]
            )[0]
        error = angles - np.concatenate([[0.0], offsets[:-1]])
        if samples and np.abs(error[1:] if self._count == 0 else error).max(initial=0.0) >= np.pi:
            return None
        offsets += self.offset
        self._count += samples
        if samples:
            self.offset = float(offsets[-1])
        return offsets

    def _weight(self, norm, dip, speed):
        """Return the weight of a reading, given the norm and dip angle of the field."""
        period = self._period
        quick, slow = (max(share, 1.0 / self._count) for share in (self._quick, self._slow))
        norm, dip = self._reading = _blend(self._reading, norm, dip, quick)
        if self._count == 1:
            self._reference = self._candidate = self._reading
        if _agree(self._reference, norm, dip):
            self._calm_time += period
            if self._calm_time >= CALM_TIME:
                self.disturbed = False
                self._reference = _blend(self._reference, norm, dip, slow)
        else:
            self._calm_time = 0.0
            self.disturbed = True
        if _agree(self._candidate, norm, dip):
            if speed >= TURNING:
                self._candidate_time += period
            self._candidate = _blend(self._candidate, norm, dip, slow)
            if self.disturbed and self._candidate_time >= NEW_FIELD_TIME:
                self._reference = self._candidate
                self.disturbed = False
                self._calm_time = CALM_TIME
        else:
            self._candidate = norm, dip
            self._candidate_time = 0.0
        if not self.disturbed:
            self._rejected_time = max(self._rejected_time - 2.0 * period, 0.0)
            return 1.0
        if self._rejected_time <= LONGEST_REJECTION:
            self._rejected_time += period
            return 0.0
        return _REJECTED_WEIGHT


def _blend(field, norm, dip, share):
    """Return the norm and dip angle of a field, low-pass filtered with a new reading."""
    return field[0] + share * (norm - field[0]), field[1] + share * (dip - field[1])


def _agree(field, norm, dip):
    return abs(norm - field[0]) < NORM_TOLERANCE * field[0] and abs(dip - field[1]) < DIP_TOLERANCE
