import datetime
from dataclasses import replace

import numpy as np
import pytest
import yaml
from refusals import require_refused
from scipy.spatial.transform import Rotation

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.settings import to_mapping
from imu_simulation_framework.sensors.magnetism.bodies import (
    BarFields,
    DipoleFields,
    EllipsoidFields,
)
from imu_simulation_framework.sensors.magnetism.environment import earth_field, model_dates

PLACES = np.array([[0.0, 0.0, 0.2], [3.0, 1.0, 0.2], [-5.0, 2.0, 0.4]])
MEASURED = (2e-6, 19e-6, -44e-6)


def test_earth_field_rotates_with_world_axes_and_disturbances_are_superposed():
    place = isf.Place(50.09, 14.42, 250.0, "2026-06-01")
    east, north, up = place.field()
    assert np.array_equal(isf.MagneticEnvironment(place).field(PLACES), [[east, north, up]] * 3)
    # x points north, y points west.
    turned = isf.MagneticEnvironment(place, turned=0.5 * np.pi).field(PLACES)
    assert np.allclose(turned, [[north, -east, up]] * 3, rtol=1e-12)
    dipole = isf.Dipole((1.0, 1.0, 0.0), (0.0, 1.0, 0.0))
    sphere, bar = isf.Ellipsoid((2.0, -1.0, 0.0), 0.3), isf.Bar((0.0, 3.0, 0.0), (2.0, 0.1, 0.1))
    environment = isf.MagneticEnvironment(
        earth=MEASURED, dipoles=[dipole], ellipsoids=[sphere], bars=[bar]
    )
    expected = MEASURED + DipoleFields([dipole])(PLACES)
    expected += EllipsoidFields([sphere], np.array(MEASURED))(PLACES)
    expected += BarFields([bar], np.array(MEASURED))(PLACES)
    assert np.allclose(environment.field(PLACES), expected, rtol=1e-12)


def test_measured_magnetic_field_is_in_sensor_axes():
    motors = isf.MotorField((1e-6, 0.0, 0.0), (0.0, 2e-6, 0.0))
    environment = isf.MagneticEnvironment(earth=MEASURED, motors=motors)
    turns = Rotation.random(3, random_state=1)
    sensor_field = turns.inv().apply(MEASURED)
    assert np.allclose(
        environment.measured_field(PLACES, turns.as_quat()), sensor_field, rtol=1e-12
    )
    torque = np.array([[1.0, 0.0], [0.0, 1.0], [-0.5, 0.25]])
    with_motors = environment.measured_field(PLACES, turns.as_quat(), torque)
    assert np.allclose(with_motors - sensor_field, [[1e-6, 0, 0], [0, 2e-6, 0], [-5e-7, 5e-7, 0]])


def _disturbed(bodies):
    dipoles = [isf.Dipole((1.0, k, 0.0), (0.0, 1.0, k)) for k in range(bodies)]
    ellipsoids = [
        isf.Ellipsoid((2.0, -3.0 * k, 0.0), (0.3, 1.0, 0.5), (0.1, k, 0.2)) for k in range(bodies)
    ]
    bars = [isf.Bar((-3.0, 3.0 * k, 0.0), (2.0, 0.1, 0.2), (0.3, k, 0.1)) for k in range(bodies)]
    motors = isf.MotorField((1e-6, 0.0, 0.0), (0.0, 2e-6, 0.0))
    return isf.MagneticEnvironment(dipoles=dipoles, ellipsoids=ellipsoids, bars=bars, motors=motors)


@pytest.mark.parametrize("bodies", [0, 1, 2, 5])
@pytest.mark.parametrize("block_size", [1, 2, 5, 11, 100])
def test_magnetic_field_does_not_depend_on_block_size(bodies, block_size):
    hall, random = _disturbed(bodies), np.random.default_rng(1)
    places, torques = random.normal(scale=3.0, size=(403, 3)), random.normal(size=(403, 2))
    turns = Rotation.random(403, random_state=1).as_quat()
    expected = hall.measured_field(places, turns, torques)
    parts = [slice(first, first + block_size) for first in range(0, 403, block_size)]
    measured = [hall.measured_field(places[part], turns[part], torques[part]) for part in parts]
    np.testing.assert_array_equal(np.concatenate(measured), expected)


def test_magnetic_environment_file_matches_constructed_environment(tmp_path):
    path = tmp_path / "hall.yaml"
    hall = replace(_disturbed(2), place=isf.Place(50.0, 14.0, 250.0, "2026-06-01"), turned=0.1)
    path.write_text(yaml.safe_dump(to_mapping(hall)))
    assert isf.read_magnetic_environment(path) == hall


def test_bundled_magnetic_environments_are_read_by_name():
    for name in ("clean", "steel_beam"):
        environment = isf.read_magnetic_environment(name)
        assert 45e-6 < np.linalg.norm(environment.undisturbed) < 55e-6
        assert bool(environment.bars) == (name == "steel_beam")
    with pytest.raises(
        ConfigurationError, match="nor the name of a magnetic environment.* clean, steel_beam"
    ):
        isf.read_magnetic_environment("tin_beam")


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("place: {latitude: 99}", "place.latitude is 99"),
        ("place: {date: 2077-01-01}", "place.date is 2077-01-01"),
        ("bars: [{position: [0, 0, 0]}]", r"bars\[0\] lacks the key size."),
        ("earth: [50, 0, 0]", "earth is 50, expected"),
    ],
)
def test_invalid_magnetic_environment_is_rejected_with_file_name(tmp_path, text, sentence):
    require_refused(isf.read_magnetic_environment, tmp_path / "hall.yaml", text, sentence)


NANO = 1e-9

# British Geological Survey calculator of IGRF-14, geomag.bgs.ac.uk, rounded to nanoteslas.
# Date, latitude and longitude [deg], height [m]; north, east, down [nT].
BGS = [
    ("1965-01-01", 51.5, -0.1, 0, (18641, -2466, 43623)),
    ("2000-01-01", -33.9, 151.2, 0, (24176, 5399, -51887)),
    ("2010-01-01", -75, 120, 0, (-7454, -7472, -61587)),
    ("2015-07-02", 64.8, -147.7, 0, (11915, 4010, 55393)),
    ("2025-01-01", 45, 10, 0, (22843, 1451, 41825)),
    ("2026-09-06", 40.14, -105.24, 400_000, (16978, 2051, 38536)),
    ("2026-09-06", -65, 140, 0, (-573, 1406, -66510)),
    ("2027-07-02", 35, 139, 100_000, (29021, -3810, 33474)),
]


@pytest.mark.parametrize("date, latitude, longitude, height, published", BGS)
def test_earth_field_matches_british_geological_survey(
    date, latitude, longitude, height, published
):
    east, north, up = earth_field(latitude, longitude, height, date) / NANO
    # Rounding is half a nanotesla; a fraction of a day matters, at up to 150 nT per year.
    assert np.allclose((north, east, -up), published, rtol=0.0, atol=0.5 + 150.0 / 366.0)


def test_geomagnetic_model_accepts_dates_and_strings_and_is_defined_at_poles():
    text = earth_field(50.0, 14.0, 200.0, "2026-06-01")
    assert np.array_equal(text, earth_field(50.0, 14.0, 200.0, datetime.date(2026, 6, 1)))
    zone = datetime.timezone(datetime.timedelta(hours=2))
    time = datetime.datetime(2026, 6, 1, 2, tzinfo=zone)
    assert np.array_equal(earth_field(50.0, 14.0, 200.0, time), text)
    at = earth_field(90.0, 0.0, 0.0, "2025-01-01")
    near = earth_field(89.99999, 120.0, 0.0, "2025-01-01")
    assert np.linalg.norm(at) == pytest.approx(np.linalg.norm(near), rel=1e-6)


@pytest.mark.parametrize(
    "place, sentence",
    [
        ((91.0, 0.0, 0.0, "2025-01-01"), "latitude is 91.0, expected"),
        ((0.0, 0.0, 1e6, "2025-01-01"), "height is 1000000.0"),
        ((0.0, 0.0, 0.0, "1899-12-31"), "date is 1899-12-31"),
        ((0.0, 0.0, 0.0, "2030-01-02"), "1900-01-01 to 2030-01-01"),
        ((0.0, 0.0, 0.0, "yesterday"), "expected a date such as 2026-11-22"),
    ],
)
def test_location_outside_geomagnetic_model_is_rejected(place, sentence):
    assert model_dates()[1].year == 2030
    with pytest.raises(ConfigurationError, match=sentence):
        earth_field(*place)
