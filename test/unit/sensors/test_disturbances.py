"""Magnetic dipoles and iron bodies, compared with independent results."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.units import VACUUM_PERMEABILITY
from imu_simulation_framework.sensors.magnetism.bodies import (
    Bar,
    BarFields,
    Dipole,
    DipoleFields,
    Ellipsoid,
    EllipsoidFields,
    dipole_field,
)

EARTH = np.array([1e-6, 20e-6, -45e-6])
PLACES = np.array([[0.7, 0.5, 0.3], [-0.2, 1.1, 0.9], [1.6, -0.4, -0.8], [-3.0, 2.0, 0.1]])
TILTED = (0.3, -0.2, 1.1)

SOURCES = {
    "dipole": DipoleFields([Dipole((0.1, 0.0, -0.1), (1.0, -2.0, 3.0))]),
    "sphere": EllipsoidFields([Ellipsoid((0.0, 0.1, 0.0), 0.6)], EARTH),
    "ellipsoid": EllipsoidFields([Ellipsoid((0.0, 0.1, 0.0), (1.0, 0.3, 0.5), TILTED)], EARTH),
    "bar": BarFields([Bar((0.0, 0.1, 0.0), (1.0, 0.1, 0.2), TILTED)], EARTH),
    "cube": BarFields([Bar((0.0, 0.1, 0.0), 0.4, TILTED)], EARTH),
    "two": BarFields([Bar((0.0, 0.1, 0.0), 0.4), Bar((5.0, 0.1, 0.0), (3.0, 0.1, 0.1))], EARTH),
}


def _share(field, expected):
    return np.linalg.norm(field - expected, axis=1) / np.linalg.norm(expected, axis=1)


@pytest.mark.parametrize("source", SOURCES)
def test_magnetic_field_outside_bodies_has_zero_divergence_and_curl(source):
    field, step = SOURCES[source], 1e-4
    # gradient[j, n, i] = dB_i / dx_j by fourth-order central differences.
    near, far = (
        [field(PLACES + rolled * axis) - field(PLACES - rolled * axis) for axis in np.eye(3)]
        for rolled in (step, 2.0 * step)
    )
    gradient = (8.0 * np.array(near) - far) / (12.0 * step)
    size = np.linalg.norm(gradient, axis=(0, 2))
    # This is the rounding error of a sum over eight corners at 1000 A/m, divided by the step. The
    # truncation error of the differences is far smaller.
    rounding = 8.0 * np.finfo(float).eps * VACUUM_PERMEABILITY * 1000.0 / step
    allowed = rounding + 1e-9 * size
    assert np.all(np.abs(np.einsum("jnj->n", gradient)) <= allowed)
    for i, j in ((0, 1), (1, 2), (2, 0)):
        assert np.all(np.abs(gradient[i, :, j] - gradient[j, :, i]) <= allowed)


def test_dipole_field_is_twice_as_strong_on_axis():
    turn, distance, moment = Rotation.from_euler("xyz", TILTED), 0.7, 3.0
    places = turn.apply([[0.0, 0.0, distance], [distance, 0.0, 0.0]])
    size = VACUUM_PERMEABILITY * moment / (4.0 * np.pi * distance**3)
    expected = turn.apply([[0.0, 0.0, 2.0 * size], [0.0, 0.0, -size]])
    actual = dipole_field(places, turn.apply([0.0, 0.0, moment]))
    assert np.allclose(actual, expected, rtol=1e-12, atol=1e-12 * size)


@pytest.mark.parametrize("size", [0.6, (1.0, 0.3, 0.5), (0.1, 0.1, 2.0), (1.0, 1.0, 0.05)])
def test_ellipsoid_field_satisfies_boundary_conditions(size):
    body = Ellipsoid((0.2, 0.0, -0.1), size, TILTED, permeability=50.0)
    field = EllipsoidFields([body], EARTH)
    directions = np.random.default_rng(1).standard_normal((50, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    half = 0.5 * np.array(body.size)
    surface, normal = directions * half, directions / half
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    surface, normal = surface @ body.rotation.T + body.position, normal @ body.rotation.T
    step = 1e-9
    outside, inside = (EARTH + field(surface + side * step * normal) for side in (1.0, -1.0))
    largest = np.abs(inside).max()
    # The normal part of B and the tangential part of H = B / mu_r mu_0 are continuous.
    through, along = np.sum(inside * normal, axis=1), np.cross(inside, normal) / 50.0
    assert np.allclose(np.sum(outside * normal, axis=1), through, atol=1e-6 * largest)
    assert np.allclose(np.cross(outside, normal), along, atol=1e-6 * largest)
    # The field inside the ellipsoid is uniform.
    assert np.allclose(inside, inside[0], rtol=1e-9)


def test_cube_magnetised_as_single_cell_has_demagnetising_factor_one_third():
    permeability = 1.5
    bar = Bar((0.0, 0.0, 0.0), 1.0, permeability=permeability)
    (magnetisation,) = bar.magnetise(np.array([0.0, 0.0, 1.0]), cells=1)
    expected = 0.5 / VACUUM_PERMEABILITY / (1.0 + 0.5 / 3.0)
    # Quadrature with three points per direction yields the mean field of a cell to 6 %.
    assert magnetisation[2] == pytest.approx(expected, rel=0.06 * 0.5 / 3.0)


@pytest.mark.parametrize("size", [(6.0, 0.1, 0.2), (0.1, 0.1, 3.0), (0.3, 0.3, 0.9)])
def test_bar_magnetisation_is_close_to_that_of_ellipsoid_of_same_size(size):
    # There is no closed form for a bar. An ellipsoid of the same length and thickness is slightly
    # less demagnetised, because its ends are less blunt.
    bar, ellipsoid = Bar((0.0, 0.0, 0.0), size), Ellipsoid((0.0, 0.0, 0.0), size)
    field = np.zeros(3)
    field[bar.long_side] = 40e-6
    cells = bar.magnetise(field)[:, bar.long_side]
    mean = np.average(cells, weights=np.diff(bar.planes(len(cells) + 1)))
    assert 0.6 < mean / ellipsoid.magnetise(field)[bar.long_side] < 1.0
    # The magnetisation is symmetric and largest in the middle.
    assert np.argmax(cells) in ((len(cells) - 1) // 2, len(cells) // 2)
    assert np.allclose(cells, cells[::-1], rtol=1e-9)


def test_bar_field_converges_with_number_of_cells_and_approaches_dipole_field():
    bar = Bar((0.0, 0.0, 0.0), (6.0, 0.1, 0.2), TILTED)
    places = 5.0 * PLACES
    coarse, fine = BarFields([bar], EARTH)(places), BarFields([bar], EARTH, 61, 60)(places)
    assert np.all(_share(coarse, fine) < 0.03)
    bar = Bar((0.0, 0.0, 0.0), (1.0, 0.1, 0.2), TILTED, magnetisation=(300.0, 0.0, 100.0))
    cells = bar.magnetise(EARTH)
    lengths = np.diff(bar.planes(len(cells) + 1))
    moment = bar.rotation @ (lengths @ cells * 0.1 * 0.2)
    far = 30.0 * PLACES
    # The next term of the multipole expansion is smaller by (length / distance)^2.
    share = _share(BarFields([bar], EARTH)(far), dipole_field(far, moment))
    assert np.all(share < 3.0 / np.linalg.norm(far, axis=1) ** 2)
    field = BarFields([Bar((0.0, 0.0, 0.0), (1.0, 0.2, 0.2))], EARTH)
    special = np.array([[2.0, 0.1, 0.1], [0.5, 0.6, 0.1], [-2.0, 0.1, 0.1], [0.5, 0.5, 0.5]])
    with np.errstate(all="raise"):
        there = field(special)
    nearby = field(special + 1e-7)
    assert np.allclose(there, nearby, rtol=1e-5, atol=1e-12)


def test_uniformly_magnetised_bar_has_poles_at_its_ends():
    # The field is that of two charged rectangles, computed here by summing point poles.
    bar = Bar(
        (0.1, 0.2, 0.3), (1.0, 0.1, 0.2), TILTED, permeability=1.0, magnetisation=(500.0, 0, 0)
    )
    grid = (np.arange(40) + 0.5) / 40 - 0.5
    y, z = np.meshgrid(0.1 * grid, 0.2 * grid, indexing="ij")
    expected = np.zeros(PLACES.shape)
    for end in (-1.0, 1.0):
        points = np.stack([np.full(y.shape, 0.5 * end), y, z], -1).reshape(-1, 3)
        points = points @ bar.rotation.T + bar.position
        offset = PLACES[:, np.newaxis] - points
        pole = end * 500.0 * 0.1 * 0.2 / 1600
        distance = np.linalg.norm(offset, axis=-1, keepdims=True)
        scale = VACUUM_PERMEABILITY * pole / (4.0 * np.pi)
        expected += scale * (offset / distance**3).sum(axis=1)
    assert np.allclose(BarFields([bar], EARTH)(PLACES), expected, rtol=1e-4, atol=1e-12)


@pytest.mark.parametrize(
    "make, sentence",
    [
        (lambda: Dipole((0.0, 0.0), (0.0, 0.0, 1.0)), "position is .*list of 3 numbers"),
        (lambda: Ellipsoid((0.0, 0.0, 0.0), (1.0, 0.0, 1.0)), "size y is 0.0"),
    ],
)
def test_invalid_magnetic_body_is_rejected(make, sentence):
    with pytest.raises(ConfigurationError, match=sentence):
        make()
