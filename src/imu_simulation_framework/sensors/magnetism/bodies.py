r"""Bodies that disturb a magnetic field: bars, ellipsoids, dipoles and motors.

In the field :math:`H_0 = B_0 / \mu_0` and its own, :math:`H_d`, iron of the relative permeability
:math:`\mu_r` has the magnetisation

.. math:: M = (\mu_r - 1) (H_0 + H_d) + M_r

with :math:`M_r` what stays of it without any field: straight lines, as in fields as weak as Earth's
(Jackson: Classical Electrodynamics, 3rd edition, 5.8 to 5.11). What bodies do to each other is left
out: right where they are farther apart than they are large.

Bars have a rectangular cross-section: beams, rails, plates. The field of a uniformly magnetised
cuboid is its magnetisation times the second derivatives of the potential of its volume, :math:`H =
U M / 4 \pi` (Poisson's relation; Blakely: Potential Theory in Gravity and Magnetic Applications,
1995, chapter 5), which are sums over the eight corners, with (u, v, w) from the place to the corner
at the distance R, and the corner's sign s (Nagy, Geophysics 31, 362, 1966):

.. math::

    U_{xx} = -\sum s \arctan \frac{v w}{u R}, \quad U_{xy} = \sum s \ln(R + w)

A bar is not magnetised uniformly, a long one more in its middle than near its ends. So it is cut
across its longest side into cells, shorter ones at its ends, each with a magnetisation of its own;
in each, the mean of the field of all (by Gauss's quadrature) magnetises it. That is the method of
moments (Harrington: Field Computation by Moment Methods, 1968). Across, each cell is magnetised
uniformly: of a bar that is not long, or beside a bar at less than its thickness, the field is right
to a tenth or two, no better than anybody knows the permeability.

A hollow or an H-shaped beam is described by a solid one with as much steel in its cross-section.

In a uniform field ellipsoids, spheres among them, are magnetised uniformly: :math:`H_d = -N M`
along each axis, with the demagnetising factors N. Outside, the potential of an ellipsoid with half
axes a is that of the confocal one through the place x (Maxwell: A Treatise on Electricity and
Magnetism, articles 437 and 438; Kellogg: Foundations of Potential Theory, chapter 7; Stoner,
Philosophical Magazine 36, 803, 1945):

.. math::

    \varphi = \sum_i M_i x_i N_i(\lambda), \quad \sum_i \frac{x_i^2}{a_i^2 + \lambda} = 1, \quad
    N_i(\lambda) = \frac{a_1 a_2 a_3}{2} \int_\lambda^\infty
    \frac{ds}{(a_i^2 + s) \sqrt{(a_1^2 + s)(a_2^2 + s)(a_3^2 + s)}}

with the largest such :math:`\lambda`; :math:`N_i(0)` are the demagnetising factors. The integral is
Carlson's :math:`R_D` (Digital Library of Mathematical Functions, 19.16.5).

Magnets, loudspeakers and motors at rest are dipoles from some way off. With the place r of who
measures as seen from the dipole, and its moment m,

.. math:: B = \frac{\mu_0}{4 \pi} \frac{3 \hat r (\hat r \cdot m) - m}{r^3}

(Jackson: Classical Electrodynamics, 3rd edition, equation 5.56).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np

from ...core.settings import Axes, Settings, check_axes, check_numbers, declared
from ...core.units import VACUUM_PERMEABILITY

_ZERO = (0.0, 0.0, 0.0)

MILD_STEEL = 200.0
"""Relative permeability of structural steel in fields as weak as Earth's, where it is about 100 to
300; it grows to thousands in strong ones (Bozorth: Ferromagnetism, 1951)."""


@dataclass(frozen=True)
class FerrousBody(Settings):
    """A body of iron, fixed in the world.

    ``position``: of its middle in the world [m]. ``size``: along its own axes, from end to end [m];
    one number stands for three equal ones. ``orientation``: roll, pitch and yaw of its axes in the
    world [rad]. ``permeability``: relative [1]. ``magnetisation``: what it keeps without any field,
    in its own axes [A/m]. Rolled, welded or lifted by a magnet, steel keeps some hundred to some
    thousand. ``name``: for whoever reads the description, and of its shape in the simulators.
    """

    position: Axes = declared(check=check_numbers, count=3)
    size: Axes = declared(check=check_axes, minimum=1e-3, maximum=1e3)
    orientation: Axes = declared(_ZERO, check_numbers, count=3)
    permeability: float = declared(MILD_STEEL, minimum=1.0)
    magnetisation: Axes = declared(_ZERO, check_numbers, count=3)
    name: str = ""

    @property
    def rotation(self) -> np.ndarray:
        """Return the matrix (3, 3) from its own axes to the world's."""
        # Imported here: nodes know bodies, few have any, and scipy takes 9 MB.
        from scipy.spatial.transform import Rotation

        return Rotation.from_euler("xyz", self.orientation).as_matrix()

    def driven_by(self, field: np.ndarray) -> np.ndarray:
        """Return the magnetisation (3,) [A/m] that it had in a field if it had no ends.

        ``field`` (3,): in the world's axes [T]; the magnetisation is in its own.
        """
        outer = self.rotation.T @ field / VACUUM_PERMEABILITY
        return (self.permeability - 1.0) * outer + np.array(self.magnetisation)


CELLS = 40
"""Of a long bar, to find how it is magnetised; twice as many make 2 % more of it."""

MAX_PLANES = 11
"""Of a bar, to find its field: its ends, and cuts on which the poles between them are. Four times
as many change the field at some thicknesses' distance by 2 %."""

_TINY = 1e-290  # in place of nothing, for the logarithm on the line through an edge


class Bar(FerrousBody):
    """A straight bar of iron; its size is length, width and height, in any order."""

    @property
    def long_side(self) -> int:
        """Return which of its sides is the longest, 0 to 2."""
        return int(np.argmax(self.size))

    def planes(self, most: int) -> np.ndarray:
        """Return where the bar's cells begin and end along its longest side [m], denser at ends.

        ``most``: planes, of a long bar; the two ends of one that is as thick as long.
        """
        length, thickness = np.sort(self.size)[[2, 1]]
        cells = int(np.clip(np.rint(4.0 * (length / thickness - 1.0)), 1, most - 1))
        angle = 0.45 * np.pi
        even = np.linspace(-angle, angle, cells + 1)
        return 0.5 * length * np.sin(even) / np.sin(angle)

    def magnetised_in(self, field: np.ndarray, cells: int = CELLS) -> np.ndarray:
        """Return the cells' magnetisations (cells, 3) [A/m], in its axes, in a field of the world.

        ``field`` (3,): uniform, without the body [T]. ``cells``: of a long bar.
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
        # What a unit of magnetisation along each axis, ending on each plane, makes in each cell.
        kernels = _kernels(_corners(size, side, planes), points.T)
        made = np.empty((3, cells, cells + 1, 3))
        for axis, row in enumerate(_tensor(kernels)):
            for component, ending in enumerate(row):
                means = ending.reshape(cells + 1, cells, len(weight)) @ weight
                made[axis, ..., component] = means.T / (4.0 * np.pi)
        own = np.moveaxis(made[:, :, 1:] - made[:, :, :-1], 0, -1)  # by, of, component, axis
        own = np.swapaxes(own, 1, 2).reshape(3 * cells, 3 * cells)
        equations = np.eye(3 * cells) - (self.permeability - 1.0) * own
        return np.linalg.solve(equations, np.tile(self.driven_by(field), cells)).reshape(cells, 3)

    def poles_in(
        self, field: np.ndarray, most: int = MAX_PLANES, cells: int = CELLS
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return planes [m] and how much magnetisation ends on each, (planes, 3) [A/m].

        Fewer than the cells have, at ``most``: what ends between two of them is shared so that it
        has the same sum and the same middle. ``field``, ``cells``: as for :meth:`magnetised_in`.
        """
        magnetisations = self.magnetised_in(field, cells)
        fine, coarse = self.planes(cells + 1), self.planes(most)
        ending = -np.diff(magnetisations, axis=0, prepend=0.0, append=0.0)
        place = np.interp(fine, coarse, np.arange(len(coarse)))
        share = np.maximum(0.0, 1.0 - np.abs(place - np.arange(len(coarse))[:, np.newaxis]))
        return coarse, share @ ending


class BarFields:
    """What several bars, at least one, add to a uniform field (3,) [T], outside of them.

    ``most``, ``cells``: planes of each, and cells to find what ends on them.
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
            planes, ending = bar.poles_in(field, most, cells)
            corners = _corners(np.array(bar.size), bar.long_side, planes)
            # What a kernel of each plane adds to the field, (6 planes, 3, 1).
            field_of_kernels = np.einsum("kmi,pm->kpi", _FIELD_OF_PARTS @ bar.rotation.T, ending)
            place, columns = np.array(bar.position)[:, np.newaxis], field_of_kernels
            self._bars.append((place, bar.rotation, corners, columns.reshape(-1, 3, 1)))

    def __call__(self, position: np.ndarray) -> np.ndarray:
        """Return their field (n, 3) [T] at places (n, 3) [m], both in the world's axes."""
        # By element, and sums row after row, so that the field at a place is the same to the bit
        # whatever other places are asked for: no product of matrices promises that.
        total = np.zeros((3, len(position)))
        for place, rotation, corners, field_of_kernels in self._bars:
            x, y, z = position.T - place
            own = np.array([a * x + b * y + c * z for a, b, c in rotation.T])
            kernels = _kernels(corners, own).reshape(-1, len(position))
            total += (field_of_kernels * kernels[:, np.newaxis]).sum(axis=0)
        return total.T


def _corners(size: np.ndarray, side: int, planes: np.ndarray) -> np.ndarray:
    """Corners (3, 4, planes) [m] of all cells; the first and the last of the four count as plus."""
    second, third = (side + 1) % 3, (side + 2) % 3
    corners = np.empty((3, 2, 2, len(planes)))
    ends = np.array([[-0.5], [0.5]])
    corners[side] = planes
    corners[second], corners[third] = size[second] * ends[:, np.newaxis], size[third] * ends
    return corners.reshape(3, 4, -1)


def _kernels(corners: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Four corners' s ln(R + w) along each axis, s arctan(v w / (u R)) about each: six.

    Corners (3, 4, planes) of which each plane has four, places (3, n); kernels (6, planes, n).
    """
    # One row for each axis, and the first two again, so that a view begins at each. What is not
    # needed any more is overwritten: memory that is asked for anew takes longer than a product.
    along = np.empty((5, *corners.shape[1:], places.shape[-1]))
    np.subtract(corners[..., np.newaxis], places[:, np.newaxis, np.newaxis], out=along[:3])
    along[3:] = along[:2]
    own, following, last = along[:3], along[1:4], along[2:]
    squares = along * along
    beside = squares[1:4] + squares[2:]
    distance = np.sqrt(squares[0] + beside[0])
    size = np.abs(own, out=squares[:3])
    near = distance + size
    np.maximum(near, _TINY, out=near)
    np.maximum(beside, _TINY, out=beside)
    # Without loss of digits where w is nearly -R; on the line through an edge it cancels.
    np.divide(beside, near, out=beside)
    np.copyto(near, beside, where=own < 0.0)
    kernels = np.empty((6, *along.shape[2:]))
    # The logarithm of all four, as it takes longer than a product; none of these overflows.
    ratio, other = kernels[:3], kernels[3:]
    np.divide(near[:, 0], near[:, 1], out=ratio)
    np.divide(near[:, 3], near[:, 2], out=other)
    ratio *= other
    np.log(ratio, out=ratio)
    # Two angles' difference is that of a complex number times another's conjugate. In a face's own
    # plane, where u is zero, those of its corners cancel.
    product = np.copysign(1.0, own, out=beside)
    product *= following
    product *= last
    size *= distance
    plus, minus = product[:, ::3], product[:, 1:3]
    to_plus, to_minus = size[:, ::3], size[:, 1:3]
    sine, cosine, some = near[:, :2], near[:, 2:], along[:3, :2]
    np.multiply(plus, to_minus, out=sine)
    sine -= np.multiply(minus, to_plus, out=some)
    np.multiply(to_plus, to_minus, out=cosine)
    cosine += np.multiply(plus, minus, out=some)
    np.arctan2(sine, cosine, out=sine)
    np.add(sine[:, 0], sine[:, 1], out=kernels[3:])
    return kernels


def _tensor(kernels: np.ndarray) -> np.ndarray:
    """Return the second derivatives of which kernels are parts, by row and column."""
    yz, zx, xy = kernels[:3]
    x, y, z = -kernels[3:]
    return np.array([(x, xy, zx), (xy, y, yz), (zx, yz, z)])


_FIELD_OF_PARTS = VACUUM_PERMEABILITY / (4.0 * np.pi) * _tensor(np.eye(6)).transpose(2, 0, 1)
"""What makes a field [T] (3) of kernels (6) times components of what ends (3), (6, 3, 3)."""


class Ellipsoid(FerrousBody):
    """An ellipsoid of iron; one number as its size makes it a sphere of that diameter."""

    def demagnetising_factors(self) -> np.ndarray:
        """Return N along its axes, (3,) [1]; their sum is one."""
        half = 0.5 * np.array(self.size)
        return _factors(half**2, np.prod(half))

    def magnetised_in(self, field: np.ndarray) -> np.ndarray:
        """Return its magnetisation (3,) [A/m], in its axes, in a field (3,) [T] of the world."""
        susceptibility = self.permeability - 1.0
        return self.driven_by(field) / (1.0 + susceptibility * self.demagnetising_factors())


class EllipsoidFields:
    """What several ellipsoids, at least one, add to a uniform field (3,) [T]."""

    def __init__(self, bodies: Sequence[Ellipsoid], field: np.ndarray) -> None:
        self._positions = np.array([body.position for body in bodies])
        self._rotations = np.array([body.rotation for body in bodies])
        self._magnetisations = np.array([body.magnetised_in(field) for body in bodies])
        halves = 0.5 * np.array([body.size for body in bodies])
        self._squares, self._volumes = halves**2, np.prod(halves, axis=-1)

    def __call__(self, position: np.ndarray) -> np.ndarray:
        """Return their field (n, 3) [T] at places (n, 3) [m], both in the world's axes."""
        # (n, bodies, 3), in the bodies' axes.
        offset = position[:, np.newaxis] - self._positions
        # By element: the field at a place is the same to the bit whatever others there are.
        turn = self._rotations
        own = sum(offset[..., j, np.newaxis] * turn[:, j] for j in range(3))
        fields = self._own_fields(own)
        return sum(fields[..., j, np.newaxis] * turn[..., j] for j in range(3)).sum(axis=1)

    def _own_fields(self, offset: np.ndarray) -> np.ndarray:
        magnetisation = self._magnetisations
        elongation = _confocal(offset**2, self._squares)
        inside = (elongation <= 0.0)[..., np.newaxis]
        confocal = self._squares + np.maximum(elongation, 0.0)[..., np.newaxis]
        ratio = offset / confocal
        # The derivatives of lambda by the place are 2 ratio / sum(ratio^2).
        steepness = np.where(inside, 1.0, np.sum(ratio**2, axis=-1, keepdims=True))
        change = (self._volumes / np.sqrt(np.prod(confocal, axis=-1)))[..., np.newaxis]
        along = np.sum(magnetisation * ratio, axis=-1, keepdims=True)
        beyond = np.where(inside, magnetisation, change * along * ratio / steepness)
        return VACUUM_PERMEABILITY * (beyond - magnetisation * _factors(confocal, self._volumes))


def _factors(squares: np.ndarray, volume: Any) -> np.ndarray:
    """N_i of confocal half axes whose squares are (..., 3); a_1 a_2 a_3 is ``volume``, (...)."""
    # Imported here, as few environments have ellipsoids.
    from scipy.special import elliprd

    x, y, z = np.moveaxis(squares, -1, 0)
    integrals = np.stack([elliprd(y, z, x), elliprd(z, x, y), elliprd(x, y, z)], axis=-1)
    return integrals * np.asarray(volume)[..., np.newaxis] / 3.0


def _confocal(x: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Find the largest root lambda of sum(x / (a + lambda)) = 1, squares (..., 3); negative inside.

    It is the largest eigenvalue of sqrt(x) sqrt(x)^T - diag(a) (Golub, SIAM Review 15, 318, 1973).
    """
    root = np.sqrt(x)
    matrix = root[..., :, np.newaxis] * root[..., np.newaxis, :]
    matrix[..., range(3), range(3)] -= a
    return np.linalg.eigvalsh(matrix)[..., -1]


@dataclass(frozen=True)
class Dipole(Settings):
    """A magnet that is small beside its distance, fixed in the world.

    ``position`` (3,) [m], and ``moment`` (3,) [A m^2], from its south to its north pole, in the
    world's axes. A neodymium magnet has about 1 A m^2 per cubic centimetre. ``name``: for whoever
    reads it.
    """

    position: Axes = declared(check=check_numbers, count=3)
    moment: Axes = declared(check=check_numbers, count=3)
    name: str = ""


def dipole_field(offset: np.ndarray, moment: np.ndarray) -> np.ndarray:
    """Return the field (..., 3) [T] of dipoles, in the axes of all three.

    ``offset`` (..., 3): from the dipole to who measures [m]. ``moment`` (..., 3): [A m^2].
    """
    # A dipole's field grows without end; nearer than a millimetre it is as there.
    square = np.maximum(np.sum(offset * offset, axis=-1, keepdims=True), 1e-3**2)
    along = np.sum(offset * moment, axis=-1, keepdims=True)
    scale = VACUUM_PERMEABILITY / (4.0 * np.pi)
    return scale * (3.0 * offset * (along / square) - moment) / (square * np.sqrt(square))


class DipoleFields:
    """The field of several dipoles together, at least one."""

    def __init__(self, dipoles: Sequence[Dipole]) -> None:
        self._positions = np.array([dipole.position for dipole in dipoles])
        self._moments = np.array([dipole.moment for dipole in dipoles])

    def __call__(self, position: np.ndarray) -> np.ndarray:
        """Return their field (n, 3) [T] at places (n, 3) [m], both in the world's axes."""
        offset = position[:, np.newaxis] - self._positions
        return dipole_field(offset, self._moments).sum(axis=1)


@dataclass(frozen=True)
class MotorField(Settings):
    """What the currents of the wheels' motors make where the magnetometer is.

    A direct-current motor's torque is proportional to its current, and the field of a current to
    it (Biot and Savart): what is measured once, a wheel held and the motor on, is true for every
    torque. The magnets within the motors do not change: they are hard iron of the magnetometer.

    ``left``, ``right`` (3,): field per torque of a wheel, in the magnetometer's axes [T/(N m)].
    """

    left: Axes = declared(_ZERO, check_numbers, count=3)
    right: Axes = declared(_ZERO, check_numbers, count=3)

    def field(self, torque: np.ndarray) -> np.ndarray:
        """Return the field (n, 3) [T] at wheels' torques (n, 2), left and right [N m]."""
        return torque[:, :1] * np.array(self.left) + torque[:, 1:] * np.array(self.right)

    def __bool__(self) -> bool:
        return self.left != _ZERO or self.right != _ZERO
