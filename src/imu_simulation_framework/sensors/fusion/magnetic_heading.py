r"""A magnetic heading for an orientation that has none, and what it does about disturbed fields.

An orientation that gyroscope and accelerometer make is level, and its yaw drifts. Turned by it, the
measured field lies in a level frame, as :math:`m`. What leads from there to the world, in which
magnetic north is the declination D clockwise from the y axis, is a turn about the vertical by

.. math:: \varphi = \mathrm{atan2}(m_x, m_y) - D, \quad \dot\psi = (\varphi - \psi) / T,

of which :math:`\psi` is the part that passes a low-pass of time constant T. So the magnetometer
never tilts the orientation, and the yaw follows the gyroscope within T and the magnetometer beyond.
In the first T each reading counts as much as the ones before it. This is the heading correction of
Laidig and Seel, VQF: highly accurate IMU orientation estimation with bias estimation and magnetic
disturbance rejection, Information Fusion 91 (2023), section 3.5; so is, section 3.6, the way
disturbances are detected and rejected, with the numbers below:

a reading is disturbed if the field's norm or its dip, the angle below the level, is not that of the
reference, which follows slowly what is not disturbed. Disturbed readings do not count, after a
minute of them half. A field that differs from the reference but stays the same while the sensor
turns becomes the reference. There is one difference: the reference begins with the first readings,
and not after five seconds of turns, which a robot on wheels may never make.
"""

import math

import numpy as np

NORM_TOLERANCE = 0.1
"""Share of the reference's norm."""
DIP_TOLERANCE = math.radians(10.0)
READING_TIME = 0.05
"""Time constant of norm and dip [s]."""
REFERENCE_TIME = 20.0
"""Time constant of the reference [s]."""
CALM_TIME = 0.5
"""So long [s] as the reference, a field counts again."""
LONGEST_REJECTION = 60.0
"""After it [s] disturbed readings count by half."""
_REJECTED_WEIGHT = 0.5
NEW_FIELD_TIME = 20.0
"""So long [s] the same while turning, a field becomes the reference."""
TURNING = math.radians(20.0)
"""What turning is [rad/s]."""


class MagneticHeading:
    """The turn about the vertical that a magnetometer asks for.

    ``period``: time from one sample to the next [s]. ``time_constant``: T [s]. ``rejection``:
    whether disturbed readings are left out. ``declination``: D, from the world's y axis clockwise
    to magnetic north [rad].
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
        """Begin anew."""
        self.offset = 0.0  # psi [rad]
        self._count = 0
        self._reading = self._reference = self._candidate = (0.0, 0.0)
        self._candidate_time, self._calm_time, self._rejected_time = 0.0, CALM_TIME, 0.0
        self.disturbed = False  # whether the last reading was rejected, or counted by half

    def correct(self, x: float, y: float, z: float, speed: float) -> float:
        """Take the next reading; return by how much the heading was off, 0 where it does not count.

        ``x``, ``y``, ``z``: m [T]; without a level part there is no reading. ``speed``: how fast
        the sensor turns [rad/s].
        """
        level = x * x + y * y
        if not level > 0.0:
            return 0.0
        self._count += 1
        off = math.atan2(x, y) - self.declination - self.offset
        # Into (-pi, pi].
        off -= 2.0 * math.pi * math.ceil((off - math.pi) / (2.0 * math.pi))
        weight = 1.0
        if self.rejection:
            level = math.sqrt(level)
            weight = self._weight(math.hypot(level, z), math.atan2(-z, level), speed)
        off *= weight
        self.offset += max(self._share, 1.0 / self._count) * off
        return off

    def correct_all(self, level, speed):
        """Take the next readings; return psi after each (samples,) [rad].

        ``level`` (3, samples): m [T]. ``speed`` (samples,) [rad/s].
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
        """All at once; None where that is not the same."""
        x, y, _ = level
        samples = len(x)
        if not np.all(x * x + y * y > 0.0):
            return None
        wanted = np.arctan2(x, y) - self.declination - self.offset
        wanted -= 2.0 * np.pi * np.ceil((wanted - np.pi) / (2.0 * np.pi))
        # From here on relative to the offset before all of them.
        number = self._count + 1 + np.arange(samples)
        averaged = int(np.searchsorted(-1.0 / number, -self._share))
        offsets = np.empty(samples)
        # The first count alike: a mean, in which those before had no part but the offset, 0.
        offsets[:averaged] = np.cumsum(wanted[:averaged]) / number[:averaged]
        if averaged < samples:
            from scipy.signal import lfilter

            before = offsets[averaged - 1] if averaged else 0.0
            keep = 1.0 - self._share
            offsets[averaged:] = lfilter(
                [self._share], [1.0, -keep], wanted[averaged:], zi=[keep * before]
            )[0]
        off = wanted - np.concatenate([[0.0], offsets[:-1]])
        if samples and np.abs(off[1:] if self._count == 0 else off).max(initial=0.0) >= np.pi:
            return None
        offsets += self.offset
        self._count += samples
        if samples:
            self.offset = float(offsets[-1])
        return offsets

    def _weight(self, norm, dip, speed):
        """Return what a reading counts."""
        period = self._period
        quick, slow = (max(share, 1.0 / self._count) for share in (self._quick, self._slow))
        norm, dip = self._reading = _nearer(self._reading, norm, dip, quick)
        if self._count == 1:
            self._reference = self._candidate = self._reading
        if _alike(self._reference, norm, dip):
            self._calm_time += period
            if self._calm_time >= CALM_TIME:
                self.disturbed = False
                self._reference = _nearer(self._reference, norm, dip, slow)
        else:
            self._calm_time = 0.0
            self.disturbed = True
        if _alike(self._candidate, norm, dip):
            if speed >= TURNING:
                self._candidate_time += period
            self._candidate = _nearer(self._candidate, norm, dip, slow)
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


def _nearer(field, norm, dip, share):
    """Return the field of a norm and a dip, moved by a share towards another."""
    return field[0] + share * (norm - field[0]), field[1] + share * (dip - field[1])


def _alike(field, norm, dip):
    return abs(norm - field[0]) < NORM_TOLERANCE * field[0] and abs(dip - field[1]) < DIP_TOLERANCE
