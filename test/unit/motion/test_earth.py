import numpy as np
import pymap3d
import pytest

from imu_simulation_framework.motion import earth
from imu_simulation_framework.motion.earth_motion import enu_to_ecef

LATITUDES = np.radians(np.linspace(-90.0, 90.0, 181))
LONGITUDES = np.linspace(-np.pi, np.pi, 181)


def _local_gravity(height):
    gravity = earth.gravity_ecef(earth.ecef_of(LATITUDES, LONGITUDES, np.full(181, height)))
    return enu_to_ecef(LATITUDES, LONGITUDES).inv().apply(gravity)


def test_gravity_on_ellipsoid_matches_published_values_and_is_vertical():
    assert pytest.approx(9.7803253359, abs=5e-11) == earth.EQUATORIAL_GRAVITY
    assert pytest.approx(9.8321849378, abs=1e-10) == earth.POLAR_GRAVITY
    assert earth.normal_gravity(0.0) == pytest.approx(earth.EQUATORIAL_GRAVITY, rel=1e-15)
    assert earth.normal_gravity(-0.5 * np.pi) == pytest.approx(earth.POLAR_GRAVITY, rel=1e-15)
    assert earth.normal_gravity(np.radians(45.0)) == pytest.approx(9.806197769, abs=1e-9)
    local = _local_gravity(0.0)
    assert np.abs(local[:, :2]).max() < 2e-12
    assert np.abs(local[:, 2] + earth.normal_gravity(LATITUDES)).max() < 1e-13


@pytest.mark.parametrize("height, bound", [(-400.0, 1e-7), (1000.0, 2e-7), (10000.0, 1e-6)])
def test_gravity_above_ellipsoid_matches_series_and_deflects_towards_pole(height, bound):
    local = _local_gravity(height)
    size = np.linalg.norm(local, axis=1)
    assert np.abs(size - earth.normal_gravity(LATITUDES, height)).max() < bound
    assert np.abs(local[:, 0]).max() < 1e-13
    # Groves, equation 2.140.
    bent = -8.08e-9 * height * np.sin(2.0 * LATITUDES)
    assert np.abs(local[:, 1] - bent).max() < 0.01 * np.abs(bent).max()


def test_gravitation_has_zero_curl_and_divergence():
    place = earth.ecef_of(0.8, 0.3, 5000.0)
    step = 10.0
    ahead, lower = (
        earth.gravitation_ecef(place + distance * np.eye(3)) for distance in (step, -step)
    )
    gradient = (ahead - lower) / (2.0 * step)
    assert np.abs(gradient - gradient.T).max() < 1e-6 * np.abs(gradient).max()
    assert abs(np.trace(gradient)) < 1e-6 * np.abs(gradient).max()
    place = earth.ecef_of(LATITUDES, LONGITUDES, 300.0)
    axis = np.array([0.0, 0.0, earth.EARTH_RATE])
    centripetal = np.cross(axis, np.cross(axis, place))
    expected = earth.gravitation_ecef(place) - centripetal
    assert earth.gravity_ecef(place) == pytest.approx(expected, abs=1e-14)


def test_geodetic_coordinates_round_trip_at_poles_and_date_line():
    random = np.random.default_rng(1)
    latitude = np.arcsin(random.uniform(-1.0, 1.0, 2000))
    longitude = random.uniform(-np.pi, np.pi, 2000)
    latitude[:4] = 0.5 * np.pi * np.array([1.0, -1.0, 0.999999999, 0.0])
    longitude[4:7] = np.pi * np.array([1.0, -1.0, 0.999999999])
    height = random.uniform(-500.0, 20000.0, 2000)
    position = earth.ecef_of(latitude, longitude, height)
    back = earth.geodetic_of(position)
    assert np.linalg.norm(earth.ecef_of(*back.T) - position, axis=1).max() < 1e-8
    assert np.abs(back[:, 2] - height).max() < 1e-8
    assert earth.geodetic_of(position[7]) == pytest.approx(back[7], rel=1e-15)
    reference = pymap3d.geodetic2ecef(latitude, longitude, height, deg=False)
    assert position == pytest.approx(np.column_stack(reference), abs=1e-8)
