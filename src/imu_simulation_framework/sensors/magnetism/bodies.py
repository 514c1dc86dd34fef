r"""Bodies that disturb the Earth's magnetic field: bars, ellipsoids, dipoles and motors.

In the external field :math:`H_0 = B_0 / \mu_0` and its demagnetising field :math:`H_d`, iron with
the relative permeability :math:`\mu_r` has the magnetisation

.. math:: M = (\mu_r - 1) (H_0 + H_d) + M_r

with the remanence :math:`M_r`. This linear law is valid in fields as weak as the Earth's (Jackson:
Classical Electrodynamics, 3rd edition, 5.8 to 5.11). The interaction of bodies is neglected, which
is valid at distances larger than their dimensions.

Bars have a rectangular cross-section: beams, rails, plates. The field of a uniformly magnetised
cuboid is its magnetisation times the second derivatives of the potential of its volume,
:math:`H = U M / 4 \pi` (Poisson's relation; Blakely: Potential Theory in Gravity and Magnetic
Applications, 1995, chapter 5). These are sums over the eight corners, where (u, v, w) is the vector
from the field point to the corner, R its length, and s the sign of the corner (Nagy, Geophysics 31,
362, 1966):

.. math::

    U_{xx} = -\sum s \arctan \frac{v w}{u R}, \quad U_{xy} = \sum s \ln(R + w)

A bar is not magnetised uniformly; the magnetisation of a long bar is larger in the middle than near
its ends. It is therefore divided along its longest side into cells, which are shorter at the ends,
each with a separate magnetisation. Each cell is magnetised by the mean of the field of all cells in
it (by Gaussian quadrature). This is the method of moments (Harrington: Field Computation by Moment
Methods, 1968). Across the bar, each cell is magnetised uniformly. For a short bar, or at a distance
below the thickness of a bar, the field is accurate to 10 or 20 %, no worse than the knowledge of
the permeability.

A hollow or H-shaped beam is represented by a solid beam with the same cross-sectional area of
steel.

In a uniform field, ellipsoids including spheres are magnetised uniformly: :math:`H_d = -N M` along
each axis, with the demagnetising factors N. Outside, the potential of an ellipsoid with half axes a
is that of the confocal ellipsoid through the field point x (Maxwell: A Treatise on Electricity and
Magnetism, articles 437 and 438; Kellogg: Foundations of Potential Theory, chapter 7; Stoner,
Philosophical Magazine 36, 803, 1945):

.. math::

    \varphi = \sum_i M_i x_i N_i(\lambda), \quad \sum_i \frac{x_i^2}{a_i^2 + \lambda} = 1, \quad
    N_i(\lambda) = \frac{a_1 a_2 a_3}{2} \int_\lambda^\infty
    \frac{ds}{(a_i^2 + s) \sqrt{(a_1^2 + s)(a_2^2 + s)(a_3^2 + s)}}

with the largest such :math:`\lambda`; :math:`N_i(0)` are the demagnetising factors. The integral is
Carlson's :math:`R_D` (Digital Library of Mathematical Functions, 19.16.5).

Magnets, loudspeakers and motors at rest are dipoles if they are sufficiently far away. With the
field point r relative to the dipole, and its moment m,

.. math:: B = \frac{\mu_0}{4 \pi} \frac{3 \hat r (\hat r \cdot m) - m}{r^3}

(Jackson: Classical Electrodynamics, 3rd edition, equation 5.56).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np

from ...core.checks import Axes, check_axes, check_numbers
from ...core.settings import Settings, setting
from ...core.units import VACUUM_PERMEABILITY

_ZERO = (0.0, 0.0, 0.0)

# Relative permeability of structural steel; in weak fields, it is 100 to 300 (Bozorth, 1951).
MILD_STEEL = 200.0


@dataclass(frozen=True)
class FerrousBody(Settings):
    """Iron body with a fixed pose in the world.

    Parameters
    ----------
    position : 3 float
        Centre in the world frame [m].
    size : 3 float
        Dimensions along the axes of the body, from end to end [m]; a single number applies to all
        three.
    orientation : 3 float
        Roll, pitch and yaw of the body axes in the world frame [rad].
    permeability : float
        Relative permeability [1].
    magnetisation : 3 float
        Remanence, the magnetisation without an external field, in the body axes [A/m]. It is
        several hundred to several thousand for rolled, welded or magnetically lifted steel.
    name : str
        Descriptive name, which is also the name of the shape in simulators.
    """

    position: Axes = setting(check=check_numbers, count=3)
    size: Axes = setting(check=check_axes, minimum=1e-3, maximum=1e3)
    orientation: Axes = setting(_ZERO, check_numbers, count=3)
    permeability: float = setting(MILD_STEEL, minimum=1.0)
    magnetisation: Axes = setting(_ZERO, check_numbers, count=3)
    name: str = ""

    @property
    def rotation(self) -> np.ndarray:
        """Rotation matrix (3, 3) from body axes to the world frame."""
        # Imported here, since scipy takes 9 MB and most environments have no bodies.
        from scipy.spatial.transform import Rotation

        return Rotation.from_euler("xyz", self.orientation).as_matrix()

    def magnetise_without_ends(self, field: np.ndarray) -> np.ndarray:
        """Compute the magnetisation of the body in a field, neglecting its demagnetising field.

        Parameters
        ----------
        field : ndarray, shape (3,)
            Field in the world frame [T].

        Returns
        -------
        ndarray, shape (3,)
            Magnetisation in the body axes [A/m].
        """
        outer = self.rotation.T @ field / VACUUM_PERMEABILITY
        return (self.permeability - 1.0) * outer + np.array(self.magnetisation)


# Number of cells of a long bar; twice as many change its magnetisation by 2 %.
CELLS = 40

# Number of pole planes of a bar; four times as many change its field by 2 % at a distance of a few
# thicknesses.
MAX_PLANES = 11

_TINY = 1e-290  # replaces zero in logarithms on the line through an edge


class Bar(FerrousBody):
    """Straight iron bar, whose length, width and height are along its axes in any order."""

    @property
    def long_side(self) -> int:
        """Index of the longest side, 0 to 2."""
        return int(np.argmax(self.size))

    def planes(self, most: int) -> np.ndarray:
        """Return the planes that bound the cells of the bar, which are denser towards the ends.

        Parameters
        ----------
        most : int
            Maximum number of planes, used for a long bar; a cube has only its two ends.

        Returns
        -------
        ndarray, shape (planes,)
            Positions along the longest side [m].
        """
        length, thickness = np.sort(self.size)[[2, 1]]
        cells = int(np.clip(np.rint(4.0 * (length / thickness - 1.0)), 1, most - 1))
        angle = 0.45 * np.pi
        plane_angles = np.linspace(-angle, angle, cells + 1)
        return 0.5 * length * np.sin(plane_angles) / np.sin(angle)

    def magnetise(self, field: np.ndarray, cells: int = CELLS) -> np.ndarray:
        """Compute the magnetisation of each cell of the bar in a uniform field.

        Parameters
        ----------
        field : ndarray, shape (3,)
            Uniform field without the body, in the world frame [T].
        cells : int
            Number of cells of a long bar.

        Returns
        -------
        ndarray, shape (cells, 3)
            Magnetisation in the bar's axes [A/m].
        """
        planes = self.planes(cells + 1)
        cells = len(planes) - 1
        side, size = self.long_side, np.array(self.size)
        places, weights = np.polynomial.legendre.leggauss(3)
        grid = 0.5 * np.stack(np.meshgrid(places, places, places, indexing="ij"), -1).reshape(-1, 3)
        weight = np.einsum("i,j,k->ijk", weights, weights, weights).reshape(-1) / 8.0
        lengths, middles = np.tile(size, (cells, 1)), np.zeros((cells, 3))
        lengths[:, side] = np.diff(planes)
        middles[:, side] = 0.5 * (planes[1:] + planes[:-1])
        points = (middles[:, np.newaxis] + grid * lengths[:, np.newaxis]).reshape(-1, 3)
        # Fields in each cell due to a unit magnetisation along each axis that ends at each plane.
        kernels = _kernels(_corners(size, side, planes), points.T)
        end_fields = np.empty((3, cells, cells + 1, 3))
        for axis, row in enumerate(_tensor(kernels)):
            for component, ending in enumerate(row):
                means = ending.reshape(cells + 1, cells, len(weight)) @ weight
                end_fields[axis, ..., component] = means.T / (4.0 * np.pi)
        cell_fields = np.moveaxis(
            end_fields[:, :, 1:] - end_fields[:, :, :-1], 0, -1
        )  # source, cell, component, axis
        cell_fields = np.swapaxes(cell_fields, 1, 2).reshape(3 * cells, 3 * cells)
        equations = np.eye(3 * cells) - (self.permeability - 1.0) * cell_fields
        return np.linalg.solve(
            equations, np.tile(self.magnetise_without_ends(field), cells)
        ).reshape(cells, 3)

    def compute_poles(
        self, field: np.ndarray, most: int = MAX_PLANES, cells: int = CELLS
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute planes across the bar, and the magnetisation that ends at each plane.

        There are fewer planes than cells. The poles between two planes are divided between them
        such that their sum and their centre are preserved.

        Parameters
        ----------
        field : ndarray, shape (3,)
            Uniform field without the body, in the world frame [T].
        most : int
            Maximum number of planes.
        cells : int
            Number of cells of a long bar.

        Returns
        -------
        planes : ndarray, shape (planes,)
            Positions along the longest side [m].
        poles : ndarray, shape (planes, 3)
            Magnetisation that ends on each plane [A/m].
        """
        magnetisations = self.magnetise(field, cells)
        fine_planes, coarse_planes = self.planes(cells + 1), self.planes(most)
        ending = -np.diff(magnetisations, axis=0, prepend=0.0, append=0.0)
        place = np.interp(fine_planes, coarse_planes, np.arange(len(coarse_planes)))
        share = np.maximum(0.0, 1.0 - np.abs(place - np.arange(len(coarse_planes))[:, np.newaxis]))
        return coarse_planes, share @ ending


class BarFields:
    """Magnetic field of several bars in a uniform field, valid outside the bars.

    Parameters
    ----------
    bars : sequence of Bar
        At least one bar.
    field : ndarray, shape (3,)
        Uniform field in the world frame [T].
    most : int
        Maximum number of planes per bar.
    cells : int
        Number of cells from which the poles on the planes are computed.
    """

    def __init__(
        self,
        bars: Sequence[Bar],
        field: np.ndarray,
        most: int = MAX_PLANES,
        cells: int = CELLS,
    ) -> None:
        self._bars = []
        for bar in bars:
            planes, ending = bar.compute_poles(field, most, cells)
            corners = _corners(np.array(bar.size), bar.long_side, planes)
            # Contribution of the kernel of each plane to the field, (6 planes, 3, 1).
            field_of_kernels = np.einsum("kmi,pm->kpi", _FIELD_OF_PARTS @ bar.rotation.T, ending)
            place, columns = np.array(bar.position)[:, np.newaxis], field_of_kernels
            self._bars.append((place, bar.rotation, corners, columns.reshape(-1, 3, 1)))

    def __call__(self, position: np.ndarray) -> np.ndarray:
        """Compute the field of the bars at given points.

        Parameters
        ----------
        position : ndarray, shape (n, 3)
            Field points in the world frame [m].

        Returns
        -------
        ndarray, shape (n, 3)
            Field in the world frame [T].
        """
        # The sum is computed by element, so that a field is bitwise independent of other points.
        total = np.zeros((3, len(position)))
        for place, rotation, corners, field_of_kernels in self._bars:
            x, y, z = position.T - place
            bar_coordinates = np.array([a * x + b * y + c * z for a, b, c in rotation.T])
            kernels = _kernels(corners, bar_coordinates).reshape(-1, len(position))
            total += (field_of_kernels * kernels[:, np.newaxis]).sum(axis=0)
        return total.T


def _corners(size: np.ndarray, side: int, planes: np.ndarray) -> np.ndarray:
    """Return the corners (3, 4, planes) [m] of the planes that bound the cells of a bar.

    The terms of the first and the last corner are positive in sums over corners.
    """
    second, third = (side + 1) % 3, (side + 2) % 3
    corners = np.empty((3, 2, 2, len(planes)))
    ends = np.array([[-0.5], [0.5]])
    corners[side] = planes
    corners[second], corners[third] = size[second] * ends[:, np.newaxis], size[third] * ends
    return corners.reshape(3, 4, -1)


def _kernels(corners: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the kernels of rectangular planes, each summed over the four corners of a plane.

    For each axis, they are s ln(R + w) and s arctan(v w / (u R)), with the sign s of the corner.
    Each plane has four of the corners (3, 4, planes); places are (3, n), kernels (6, planes, n).
    """
    # There is a row per axis, and the first two rows again, so that a view can start at any axis.
    distances = np.empty((5, *corners.shape[1:], places.shape[-1]))
    np.subtract(corners[..., np.newaxis], places[:, np.newaxis, np.newaxis], out=distances[:3])
    distances[3:] = distances[:2]
    own, following, last = distances[:3], distances[1:4], distances[2:]
    squares = distances * distances
    across = squares[1:4] + squares[2:]
    distance = np.sqrt(squares[0] + across[0])
    size = np.abs(own, out=squares[:3])
    distance_sum = distance + size
    np.maximum(distance_sum, _TINY, out=distance_sum)
    np.maximum(across, _TINY, out=across)
    # This form avoids cancellation near w = -R; on the line through an edge, infinities cancel.
    np.divide(across, distance_sum, out=across)
    np.copyto(distance_sum, across, where=own < 0.0)
    kernels = np.empty((6, *distances.shape[2:]))
    # A single logarithm of the product of all four is faster; the product does not overflow.
    ratio, other = kernels[:3], kernels[3:]
    np.divide(distance_sum[:, 0], distance_sum[:, 1], out=ratio)
    np.divide(distance_sum[:, 3], distance_sum[:, 2], out=other)
    ratio *= other
    np.log(ratio, out=ratio)
    # The difference of two angles is the angle of a complex number times a complex conjugate.
    product = np.copysign(1.0, own, out=across)
    product *= following
    product *= last
    size *= distance
    plus, minus = product[:, ::3], product[:, 1:3]
    to_plus, to_minus = size[:, ::3], size[:, 1:3]
    sine, cosine, scratch = distance_sum[:, :2], distance_sum[:, 2:], distances[:3, :2]
    np.multiply(plus, to_minus, out=sine)
    sine -= np.multiply(minus, to_plus, out=scratch)
    np.multiply(to_plus, to_minus, out=cosine)
    cosine += np.multiply(plus, minus, out=scratch)
    np.arctan2(sine, cosine, out=sine)
    np.add(sine[:, 0], sine[:, 1], out=kernels[3:])
    return kernels


def _tensor(kernels: np.ndarray) -> np.ndarray:
    """Arrange kernels (6, ...) as a symmetric tensor of second derivatives, (3, 3, ...)."""
    yz, zx, xy = kernels[:3]
    x, y, z = -kernels[3:]
    return np.array([(x, xy, zx), (xy, y, yz), (zx, yz, z)])


# Field [T], (3,), for each kernel (6) and each component of the magnetisation (3), shape (6, 3, 3).
_FIELD_OF_PARTS = VACUUM_PERMEABILITY / (4.0 * np.pi) * _tensor(np.eye(6)).transpose(2, 0, 1)


class Ellipsoid(FerrousBody):
    """Iron ellipsoid; if its size is a single number, it is a sphere of this diameter."""

    def demagnetising_factors(self) -> np.ndarray:
        """Return the demagnetising factors along the axes of the ellipsoid.

        Returns
        -------
        ndarray, shape (3,)
            Factors N [1]; their sum is one.
        """
        half_axes = 0.5 * np.array(self.size)
        return _factors(half_axes**2, np.prod(half_axes))

    def magnetise(self, field: np.ndarray) -> np.ndarray:
        """Compute the magnetisation of the ellipsoid in a uniform field.

        Parameters
        ----------
        field : ndarray, shape (3,)
            Uniform field without the body, in the world frame [T].

        Returns
        -------
        ndarray, shape (3,)
            Magnetisation in the body axes [A/m].
        """
        susceptibility = self.permeability - 1.0
        return self.magnetise_without_ends(field) / (
            1.0 + susceptibility * self.demagnetising_factors()
        )


class EllipsoidFields:
    """Magnetic field of several ellipsoids in a uniform field.

    Parameters
    ----------
    bodies : sequence of Ellipsoid
        At least one ellipsoid.
    field : ndarray, shape (3,)
        Uniform field in the world frame [T].
    """

    def __init__(self, bodies: Sequence[Ellipsoid], field: np.ndarray) -> None:
        self._positions = np.array([body.position for body in bodies])
        self._rotations = np.array([body.rotation for body in bodies])
        self._magnetisations = np.array([body.magnetise(field) for body in bodies])
        halves = 0.5 * np.array([body.size for body in bodies])
        self._squares, self._volumes = halves**2, np.prod(halves, axis=-1)

    def __call__(self, position: np.ndarray) -> np.ndarray:
        """Compute the field of the ellipsoids at given points.

        Parameters
        ----------
        position : ndarray, shape (n, 3)
            Field points in the world frame [m].

        Returns
        -------
        ndarray, shape (n, 3)
            Field in the world frame [T].
        """
        # Field points relative to the bodies, shape (n, bodies, 3).
        offset = position[:, np.newaxis] - self._positions
        # The sum is computed by element, so that a field is bitwise independent of other points.
        turn = self._rotations
        body_offset = sum(offset[..., j, np.newaxis] * turn[:, j] for j in range(3))
        fields = self._own_fields(body_offset)
        return sum(fields[..., j, np.newaxis] * turn[..., j] for j in range(3)).sum(axis=1)

    def _own_fields(self, offset: np.ndarray) -> np.ndarray:
        magnetisation = self._magnetisations
        elongation = _confocal(offset**2, self._squares)
        inside = (elongation <= 0.0)[..., np.newaxis]
        confocal = self._squares + np.maximum(elongation, 0.0)[..., np.newaxis]
        ratio = offset / confocal
        # The derivatives of lambda with respect to the coordinates are 2 ratio / sum(ratio^2).
        steepness = np.where(inside, 1.0, np.sum(ratio**2, axis=-1, keepdims=True))
        change = (self._volumes / np.sqrt(np.prod(confocal, axis=-1)))[..., np.newaxis]
        projection = np.sum(magnetisation * ratio, axis=-1, keepdims=True)
        induced = np.where(inside, magnetisation, change * projection * ratio / steepness)
        return VACUUM_PERMEABILITY * (induced - magnetisation * _factors(confocal, self._volumes))


def _factors(squares: np.ndarray, volume: Any) -> np.ndarray:
    """Return the demagnetising factors N_i for confocal half axes with given squares, (..., 3).

    The product a_1 a_2 a_3 is ``volume``, (...).
    """
    # Imported here, since few magnetic environments have ellipsoids.
    from scipy.special import elliprd

    x, y, z = np.moveaxis(squares, -1, 0)
    integrals = np.stack([elliprd(y, z, x), elliprd(z, x, y), elliprd(x, y, z)], axis=-1)
    return integrals * np.asarray(volume)[..., np.newaxis] / 3.0


def _confocal(x: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Return the largest root lambda of sum(x / (a + lambda)) = 1, negative inside the ellipsoid.

    The squared coordinates x and half axes a are (..., 3). The root is the largest eigenvalue of
    sqrt(x) sqrt(x)^T - diag(a) (Golub, SIAM Review 15, 318, 1973).
    """
    root = np.sqrt(x)
    matrix = root[..., :, np.newaxis] * root[..., np.newaxis, :]
    matrix[..., range(3), range(3)] -= a
    return np.linalg.eigvalsh(matrix)[..., -1]


@dataclass(frozen=True)
class Dipole(Settings):
    """Magnetic dipole, fixed in the world: a magnet that is small compared with its distance.

    Parameters
    ----------
    position : 3 float
        Position in the world frame [m].
    moment : 3 float
        Magnetic moment, from its south to its north pole, in the world frame [A m^2]. A neodymium
        magnet has about 1 A m^2 per cubic centimetre.
    name : str
        Descriptive name.
    """

    position: Axes = setting(check=check_numbers, count=3)
    moment: Axes = setting(check=check_numbers, count=3)
    name: str = ""


def dipole_field(offset: np.ndarray, moment: np.ndarray) -> np.ndarray:
    """Compute the magnetic field of dipoles.

    Parameters
    ----------
    offset : ndarray, shape (..., 3)
        Field points relative to the dipoles [m].
    moment : ndarray, shape (..., 3)
        Magnetic moments [A m^2].

    Returns
    -------
    ndarray, shape (..., 3)
        Field in the same axes [T].
    """
    # The field, which is infinite at the dipole, is limited to its value at a distance of 1 mm.
    square = np.maximum(np.sum(offset * offset, axis=-1, keepdims=True), 1e-3**2)
    projection = np.sum(offset * moment, axis=-1, keepdims=True)
    scale = VACUUM_PERMEABILITY / (4.0 * np.pi)
    return scale * (3.0 * offset * (projection / square) - moment) / (square * np.sqrt(square))


class DipoleFields:
    """Magnetic field of several dipoles.

    Parameters
    ----------
    dipoles : sequence of Dipole
        At least one dipole.
    """

    def __init__(self, dipoles: Sequence[Dipole]) -> None:
        self._positions = np.array([dipole.position for dipole in dipoles])
        self._moments = np.array([dipole.moment for dipole in dipoles])

    def __call__(self, position: np.ndarray) -> np.ndarray:
        """Compute the field of the dipoles at given points.

        Parameters
        ----------
        position : ndarray, shape (n, 3)
            Field points in the world frame [m].

        Returns
        -------
        ndarray, shape (n, 3)
            Field in the world frame [T].
        """
        offset = position[:, np.newaxis] - self._positions
        return dipole_field(offset, self._moments).sum(axis=1)


@dataclass(frozen=True)
class MotorField(Settings):
    """Magnetic field at the magnetometer due to the currents of the wheel motors.

    The torque of a direct-current motor is proportional to its current, and so is the magnetic
    field of the current (Biot and Savart). A measurement with a blocked wheel therefore applies to
    any torque. The magnets of the motors are constant: they are hard iron of the magnetometer.

    Parameters
    ----------
    left, right : 3 float
        Field per torque of the left and right wheel, in the magnetometer's axes [T/(N m)].
    """

    left: Axes = setting(_ZERO, check_numbers, count=3)
    right: Axes = setting(_ZERO, check_numbers, count=3)

    def field(self, torque: np.ndarray) -> np.ndarray:
        """Compute the field of the motors from the wheel torques.

        Parameters
        ----------
        torque : ndarray, shape (n, 2)
            Torques of the left and the right wheel [N m].

        Returns
        -------
        ndarray, shape (n, 3)
            Field in the magnetometer's axes [T].
        """
        return torque[:, :1] * np.array(self.left) + torque[:, 1:] * np.array(self.right)

    def __bool__(self) -> bool:
        return self.left != _ZERO or self.right != _ZERO
