r"""Increments of an integrating IMU on the Earth, and their integration.

An increment is measured over a period from :math:`t_0` to :math:`t_1 = t_0 + \tau`. Inertial axes
are chosen that coincide with the axes of the Earth at :math:`t_0`; at :math:`t_1`, the axes of the
Earth are rotated by :math:`Z = R_z(\omega_{ie} \tau)` relative to them. With R the rotation from
the body to ECEF, :math:`\gamma` the gravitation and :math:`u = v + \omega_{ie} \times r` the
velocity relative to inertial space,

.. math::

    \Delta\theta = \log(R_0^T Z R_1), \quad
    \Delta v = J(\Delta\theta)^{-1} R_0^T \left( Z u_1 - u_0
    - \int_{t_0}^{t_1} \gamma \, dt \right), \quad
    J(\alpha) = \int_0^1 \exp(s [\alpha]_\times) \, ds .

These are equations 9 to 16 of the paper on AGISim (Groves, 2nd edition, sections 5.3 and 5.5)
without their approximations: gravity and Coriolis acceleration are averaged over the period instead
of being evaluated at its start. J, the mean rotation over the period, is equation 15 of the paper.

The rotation vector has no coning error, and :math:`\Delta v` has no sculling error, because the
integration inverts J exactly. If angular velocity and specific force are constant over a period,
:math:`\Delta v` is the integral of the specific force in body axes. If they vary, it is the output
of an IMU that integrates at a high internal rate with coning and sculling compensation. The
increments determine attitude and velocity exactly at each sample, but not how the velocity changes
within a period.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..core.angles import relative_rotations
from ..core.errors import MotionError
from .earth import EARTH_RATE, gravitation_ecef
from .motion import checked_samples, composed

# Function that returns the gravitation (n, 3) [m/s^2] at positions (n, 3) [m], both in ECEF.
Gravitation = Callable[[np.ndarray], np.ndarray]

_SMALL = 1e-2  # rad; below this angle, the truncated power series are exact up to rounding
_MAX_PATH_CHANGE = 1e-7  # m; change of the path below which the iteration over gravitation ends
_MAX_ROUNDS = 100


class StatesOnEarth(Protocol):
    """Interface of classes with states of a body in ECEF, such as :class:`.EarthMotion`."""

    @property
    def time(self) -> np.ndarray:
        """Times [s], shape (n,)."""

    @property
    def position(self) -> np.ndarray:
        """Positions [m], shape (n, 3)."""

    @property
    def velocity(self) -> np.ndarray:
        """Velocities relative to the Earth [m/s], shape (n, 3)."""

    @property
    def orientation(self) -> np.ndarray:
        """Rotations from the body to ECEF; quaternions x, y, z, w, shape (n, 4)."""


@dataclass(frozen=True)
class Increments:
    """Output of an integrating IMU: n increments over the periods that end at given times.

    Parameters
    ----------
    time : array_like, shape (n,)
        Times at the ends of the periods, strictly increasing [s].
    delta_theta : array_like, shape (n, 3)
        Rotation vectors relative to inertial space, in body axes, zero in the first row [rad].
    delta_velocity : array_like, shape (n, 3)
        Integrals of the specific force, in body axes, zero in the first row [m/s].

    Raises
    ------
    MotionError
        Shapes do not match, a number is not finite, or time does not increase.
    """

    time: np.ndarray
    delta_theta: np.ndarray
    delta_velocity: np.ndarray

    def __post_init__(self) -> None:
        columns = {name: (getattr(self, name), 3) for name in ("delta_theta", "delta_velocity")}
        vars(self).update(checked_samples("the increments'", self.time, columns))

    def __len__(self) -> int:
        return len(self.time)


@dataclass(frozen=True)
class Path:
    """Path in ECEF that results from the integration of n increments.

    Parameters
    ----------
    time : ndarray, shape (n,)
        Times [s].
    position, velocity : ndarray, shape (n, 3)
        Position [m] and velocity relative to the Earth [m/s].
    orientation : ndarray, shape (n, 4)
        Rotation from the body to ECEF; quaternions x, y, z, w.
    """

    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    orientation: np.ndarray


def increments_of(motion: StatesOnEarth, gravitation: Gravitation = gravitation_ecef) -> Increments:
    """Return the increments that an error-free integrating IMU outputs.

    Parameters
    ----------
    motion : EarthMotion
        Motion of the IMU.
    gravitation : callable
        Function that returns the gravitation (n, 3) [m/s^2] at positions (n, 3) [m], both in ECEF.
        Use a function other than the default only for comparisons with other software.

    Returns
    -------
    Increments
        Increments over the periods between the motion's times.
    """
    delta_theta, delta_velocity = increments_between(
        motion.time, motion.position, motion.velocity, motion.orientation, gravitation
    )
    zeros = np.zeros((1, 3))
    return Increments(
        motion.time, np.vstack([zeros, delta_theta]), np.vstack([zeros, delta_velocity])
    )


def increments_between(
    time: np.ndarray,
    position: np.ndarray,
    velocity: np.ndarray,
    orientation: np.ndarray,
    gravitation: Gravitation,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the attitude and velocity increments between n states.

    Parameters
    ----------
    time : ndarray, shape (n,)
        Times [s].
    position, velocity : ndarray, shape (n, 3)
        Position [m] and velocity relative to the Earth [m/s], in ECEF axes.
    orientation : ndarray, shape (n, 4)
        Rotation from the body to ECEF; unit quaternions x, y, z, w.
    gravitation : callable
        Gravitation as a function of position, see :func:`increments_of`.

    Returns
    -------
    delta_theta, delta_velocity : ndarray, shape (n - 1, 3)
        Increments [rad], [m/s].
    """
    step = np.diff(time)
    angle = EARTH_RATE * step
    delta_theta = relative_rotations(orientation[:-1], _rotate_orientation(angle, orientation[1:]))
    inertial = velocity + EARTH_RATE * turned_east(position)
    attraction = gravitation(position)
    velocity_change = _rotate_about_z(
        angle, inertial[1:] - 0.5 * step[:, np.newaxis] * attraction[1:]
    )
    velocity_change -= inertial[:-1] + 0.5 * step[:, np.newaxis] * attraction[:-1]
    to_body = orientation[:-1] * (-1.0, -1.0, -1.0, 1.0)
    return delta_theta, _invert_mean_rotation(
        delta_theta, _rotate_from_body(to_body, velocity_change)
    )


def integrate(
    increments: Increments,
    position: ArrayLike,
    velocity: ArrayLike,
    orientation: ArrayLike,
    gravitation: Gravitation = gravitation_ecef,
) -> Path:
    """Integrate attitude and velocity increments, starting from a given state.

    For the result of :func:`increments_of`, attitude and velocity are exact. The position is the
    integral of the velocity by the trapezoidal rule in inertial axes, which is of second order.
    Because gravitation depends little on the path, all samples are computed at once, and the
    computation is repeated until the path converges.

    Parameters
    ----------
    increments : Increments
        Output of an integrating IMU.
    position, velocity : array_like, shape (3,)
        Position [m] and velocity relative to the Earth [m/s] at the first time, in ECEF axes.
    orientation : array_like, shape (4,)
        Rotation from the body to ECEF at the first time; quaternion x, y, z, w.
    gravitation : callable
        Gravitation as a function of position, see :func:`increments_of`.

    Returns
    -------
    Path

    Raises
    ------
    MotionError
        The path does not converge because it leads through the Earth or lasts many hours.

    Examples
    --------
    >>> motion = isf.circling(10.0, latitude=50.0)
    >>> start = motion.position[0], motion.velocity[0], motion.orientation[0]
    >>> path = isf.integrate(isf.increments_of(motion), *start)
    >>> bool(np.abs(path.position[-1] - motion.position[-1]).max() < 1e-4)
    True
    """
    time = increments.time
    position, velocity = (np.asarray(values, dtype=float) for values in (position, velocity))
    start = np.asarray(orientation, dtype=float)
    start = start / np.linalg.norm(start)
    step = np.diff(time)[:, np.newaxis]
    angle = EARTH_RATE * (time - time[0])
    # The computation uses inertial axes that coincide with the ECEF axes at the first time.
    delta_theta, delta_velocity = increments.delta_theta[1:], increments.delta_velocity[1:]
    attitude = _running_product(start, _quaternions(delta_theta))
    velocity_change = _rotate_from_body(attitude[:-1], _mean_rotation(delta_theta, delta_velocity))
    inertial = velocity + EARTH_RATE * turned_east(position)
    place = position + inertial * (time - time[0])[:, np.newaxis]
    for _ in range(_MAX_ROUNDS):
        with np.errstate(all="ignore"):  # gravitation is undefined at the Earth's centre
            attraction = _rotate_about_z(angle, gravitation(_rotate_about_z(-angle, place)))
        speed = _accumulate(
            inertial, velocity_change + 0.5 * step * (attraction[1:] + attraction[:-1])
        )
        previous = place
        place = _accumulate(position, 0.5 * step * (speed[1:] + speed[:-1]))
        path_change = np.max(np.abs(place - previous), initial=0.0)
        if path_change < _MAX_PATH_CHANGE or not np.isfinite(path_change):
            break
    if not path_change < _MAX_PATH_CHANGE:
        raise MotionError(
            "integration of the increments does not converge, expected a path outside the Earth"
        )
    place, speed = _rotate_about_z(-angle, place), _rotate_about_z(-angle, speed)
    return Path(
        time, place, speed - EARTH_RATE * turned_east(place), _rotate_orientation(-angle, attitude)
    )


def turned_east(vectors: np.ndarray) -> np.ndarray:
    """Compute the cross products of the unit vector along the Earth's rotation axis with vectors.

    Parameters
    ----------
    vectors : ndarray, shape (..., 3)
        Vectors in ECEF axes.

    Returns
    -------
    ndarray, shape (..., 3)
        Cross products in ECEF axes, in the unit of the vectors.
    """
    east = np.zeros_like(vectors)
    east[..., 0], east[..., 1] = -vectors[..., 1], vectors[..., 0]
    return east


def _rotate_about_z(angle: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Rotate vectors (n, 3) about the z axis by angles (n,) [rad]."""
    sine, cosine = np.sin(angle), np.cos(angle)
    turned = np.array(vectors)
    turned[:, 0] = cosine * vectors[:, 0] - sine * vectors[:, 1]
    turned[:, 1] = sine * vectors[:, 0] + cosine * vectors[:, 1]
    return turned


def _rotate_orientation(angle: np.ndarray, orientation: np.ndarray) -> np.ndarray:
    """Rotate orientations (n, 4) about the world's z axis by angles (n,) [rad]."""
    sine, cosine = np.sin(0.5 * angle), np.cos(0.5 * angle)
    zeros = np.zeros_like(sine)
    about_z = np.stack([zeros, zeros, sine, cosine], axis=-1)
    return composed(about_z, orientation)


def _rotate_from_body(orientation: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Transform vectors (n, 3) from body axes to world axes, given orientations (n, 4)."""
    axis, scalar = orientation[:, :3], orientation[:, 3:]
    twice = 2.0 * np.cross(axis, vectors)
    return vectors + scalar * twice + np.cross(axis, twice)


def _accumulate(first: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Return cumulative sums (n + 1, 3) of an initial value (3,) and steps (n, 3)."""
    return np.cumsum(np.vstack([first, steps]), axis=0)


def _quaternions(rotation_vectors: np.ndarray) -> np.ndarray:
    """Convert rotation vectors (n, 3) [rad] to quaternions (n, 4)."""
    half_angle = 0.5 * np.linalg.norm(rotation_vectors, axis=1, keepdims=True)
    return np.hstack([0.5 * np.sinc(half_angle / np.pi) * rotation_vectors, np.cos(half_angle)])


def _running_product(first: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Return cumulative products (n + 1, 4) of an initial quaternion (4,) and factors (n, 4)."""
    products = np.vstack([first, factors])
    stride = 1
    # Each iteration doubles the number of factors in each product.
    while stride < len(products):
        products[stride:] = composed(products[:-stride], products[stride:])
        stride *= 2
    return products / np.linalg.norm(products, axis=1, keepdims=True)


def _mean_rotation(rotation_vectors: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Multiply vectors (n, 3) by the mean rotations J along rotation vectors (n, 3) [rad]."""
    first, second = _coefficients(rotation_vectors)
    cross_product = np.cross(rotation_vectors, vectors)
    return vectors + first * cross_product + second * np.cross(rotation_vectors, cross_product)


def _invert_mean_rotation(rotation_vectors: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Multiply vectors (n, 3) by the inverses of J along rotation vectors (n, 3) [rad]."""
    first, second = _coefficients(rotation_vectors)
    squared = np.sum(rotation_vectors**2, axis=1, keepdims=True)
    small = squared < _SMALL**2
    size = np.where(small, 1.0, squared)
    # The weight is (1 - (a / 2) cot(a / 2)) / a^2.
    weight = np.where(
        small,
        1.0 / 12.0 + squared / 720.0,
        (2.0 * first - 1.0 + second * size) / (2.0 * first * size),
    )
    cross_product = np.cross(rotation_vectors, vectors)
    return vectors - 0.5 * cross_product + weight * np.cross(rotation_vectors, cross_product)


def _coefficients(rotation_vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (1 - cos(a)) / a^2 and (a - sin(a)) / a^3 for rotation vectors (n, 3) of length a."""
    squared = np.sum(rotation_vectors**2, axis=1, keepdims=True)
    small = squared < _SMALL**2
    size = np.sqrt(np.where(small, 1.0, squared))
    first = np.where(
        small,
        0.5 - squared / 24.0 + squared**2 / 720.0,
        2.0 * (np.sin(0.5 * size) / size) ** 2,
    )
    second = np.where(
        small,
        1.0 / 6.0 - squared / 120.0 + squared**2 / 5040.0,
        (size - np.sin(size)) / size**3,
    )
    return first, second
