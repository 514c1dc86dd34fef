"""What a stabilised gimbal leaves: how far beside its target it looks, and when it is at limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imu_simulation_framework.gimbal.joints import JOINTS

_AT_A_LIMIT = 1e-9
"""Of an angle or a rate: by how much it may be beside a limit and at it."""


@dataclass(frozen=True)
class Residual:
    """Residual motion of a stabilised gimbal; n samples.

    Attributes
    ----------
    time : ndarray, shape (n,)
        [s]
    attitude_error : ndarray, shape (n, 3)
        Rotation vector from the inner link's attitude to the target's, in the link's axes [rad].
    pointing_error : ndarray, shape (n,)
        Angle between the line of sight and where it shall be [rad].
    rate_error : ndarray, shape (n, 3)
        The inner link's angular velocity less the target's [rad/s].
    at_angle_limit, at_rate_limit : ndarray of bool, shape (n, 3)
        Of pan, tilt, roll. A joint that cannot move is never at a limit.
    """

    time: np.ndarray
    attitude_error: np.ndarray
    pointing_error: np.ndarray
    rate_error: np.ndarray
    at_angle_limit: np.ndarray
    at_rate_limit: np.ndarray

    @property
    def rms_pointing_error(self) -> float:
        """Its root mean square [rad]."""
        return float(np.sqrt(np.mean(self.pointing_error**2)))

    @property
    def largest_pointing_error(self) -> float:
        """The largest of it [rad]."""
        return float(np.max(self.pointing_error))

    @property
    def rms_rate_error(self) -> float:
        """Of the vector's length [rad/s]."""
        return float(np.sqrt(np.mean(np.sum(self.rate_error**2, axis=1))))

    @property
    def largest_rate_error(self) -> float:
        """Of the vector's length [rad/s]."""
        return float(np.sqrt(np.max(np.sum(self.rate_error**2, axis=1))))

    @property
    def time_at_angle_limit(self) -> tuple[float, ...]:
        """Of pan, tilt, roll [s]."""
        return self._durations(self.at_angle_limit)

    @property
    def time_at_rate_limit(self) -> tuple[float, ...]:
        """Of pan, tilt, roll [s]."""
        return self._durations(self.at_rate_limit)

    def remarks(self) -> tuple[str, ...]:
        """Return sentences: how well it pointed, and each joint that was at a limit."""
        said = [
            f"The gimbal's line of sight is off by {1e3 * self.rms_pointing_error:.3g} mrad rms, "
            f"at most {1e3 * self.largest_pointing_error:.3g} mrad; it turns by "
            f"{1e3 * self.rms_rate_error:.3g} mrad/s rms, at most "
            f"{1e3 * self.largest_rate_error:.3g} mrad/s, besides what it shall."
        ]
        for kind, at_limit, durations in (
            ("the end of its angles", self.at_angle_limit, self.time_at_angle_limit),
            ("its highest rate", self.at_rate_limit, self.time_at_rate_limit),
        ):
            for number, joint in enumerate(JOINTS):
                if at_limit[:, number].any():
                    first = self.time[np.argmax(at_limit[:, number])]
                    said.append(
                        f"The gimbal is at its limits: its {joint} is at {kind} for "
                        f"{durations[number]:.3g} s in all, first at {first:.3f} s."
                    )
        return tuple(said)

    def _durations(self, at_limit):
        steps = np.diff(self.time, append=self.time[-1])
        pan, tilt, roll = (float(value) for value in steps @ at_limit)
        return pan, tilt, roll


def at_limits(angle: np.ndarray, limits) -> np.ndarray:
    """Return which angles (n, 3) [rad] are at one of their limits, (n, 3) of bool."""
    low, high = np.array(limits, dtype=float).T
    beside = (angle <= low + _AT_A_LIMIT) | (angle >= high - _AT_A_LIMIT)
    return beside & (low != high)


def at_rates(command: np.ndarray, most, limits) -> np.ndarray:
    """Return which rates (n, 3) [rad/s] are the highest of a joint that can move, (n, 3)."""
    low, high = np.array(limits, dtype=float).T
    return (np.abs(command) >= np.array(most) - _AT_A_LIMIT) & (low != high)
