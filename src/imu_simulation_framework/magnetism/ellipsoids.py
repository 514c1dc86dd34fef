r"""Ellipsoids of iron, spheres among them.

In a uniform field they are magnetised uniformly: :math:`H_d = -N M` along each axis, with the
demagnetising factors N. Outside, the potential of an ellipsoid with half axes a is that of the
confocal one through the place x (Maxwell: A Treatise on Electricity and Magnetism, articles 437 and
438; Kellogg: Foundations of Potential Theory, chapter 7; Stoner, Philosophical Magazine 36, 803,
1945):

.. math::

    \varphi = \sum_i M_i x_i N_i(\lambda), \quad \sum_i \frac{x_i^2}{a_i^2 + \lambda} = 1, \quad
    N_i(\lambda) = \frac{a_1 a_2 a_3}{2} \int_\lambda^\infty
    \frac{ds}{(a_i^2 + s) \sqrt{(a_1^2 + s)(a_2^2 + s)(a_3^2 + s)}}

with the largest such :math:`\lambda`; :math:`N_i(0)` are the demagnetising factors. The integral is
Carlson's :math:`R_D` (Digital Library of Mathematical Functions, 19.16.5).
"""

from __future__ import annotations

from typing import Sequence

import numpy as np

from imu_simulation_framework.constants import VACUUM_PERMEABILITY
from imu_simulation_framework.magnetism.ferrous import FerrousBody


class Ellipsoid(FerrousBody):
    """An ellipsoid of iron; one number as its size makes it a sphere of that diameter."""

    def demagnetising_factors(self) -> np.ndarray:
        """Return N along its axes, (3,) [1]; their sum is one."""
        half = 0.5 * np.array(self.size)
        return _factors(half**2, np.prod(half))

    def magnetised_in(self, field: np.ndarray) -> np.ndarray:
        """Return its magnetisation (3,) [A/m], in its own axes, in a field (3,) [T] of the world.

        Parameters
        ----------
        field : ndarray, shape (3,)
            Without the body; uniform, in the world's axes [T].
        """
        susceptibility = self.permeability - 1.0
        return self.driven_by(field) / (1.0 + susceptibility * self.demagnetising_factors())


class EllipsoidFields:
    """What several ellipsoids add to a uniform field.

    Parameters
    ----------
    bodies : sequence of Ellipsoid
        At least one.
    field : ndarray, shape (3,)
        In the world's axes [T].
    """

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

    def _own_fields(self, offset):
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


def _factors(squares, volume):
    """N_i of confocal half axes whose squares are (..., 3); a_1 a_2 a_3 is ``volume``, (...)."""
    # Imported here, as few environments have ellipsoids.
    from scipy.special import elliprd

    x, y, z = np.moveaxis(squares, -1, 0)
    integrals = np.stack([elliprd(y, z, x), elliprd(z, x, y), elliprd(x, y, z)], axis=-1)
    return integrals * np.asarray(volume)[..., np.newaxis] / 3.0


def _confocal(x, a):
    """Find the largest root lambda of sum(x / (a + lambda)) = 1, squares (..., 3); negative inside.

    It is the largest eigenvalue of sqrt(x) sqrt(x)^T - diag(a) (Golub, SIAM Review 15, 318, 1973).
    """
    root = np.sqrt(x)
    matrix = root[..., :, np.newaxis] * root[..., np.newaxis, :]
    matrix[..., range(3), range(3)] -= a
    return np.linalg.eigvalsh(matrix)[..., -1]
