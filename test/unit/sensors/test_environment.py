import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.magnetism.bodies import (
    BarFields,
    DipoleFields,
    EllipsoidFields,
)
from imu_simulation_framework.sensors.magnetism.environment import turned

PLACES = np.array([[0.0, 0.0, 0.2], [3.0, 1.0, 0.2], [-5.0, 2.0, 0.4]])
MEASURED = (2e-6, 19e-6, -44e-6)


def test_earths_field_is_the_same_everywhere_and_turns_with_the_worlds_axes():
    place = isf.Place(50.09, 14.42, 250.0, "2026-06-01")
    east, north, up = place.field()
    assert np.array_equal(isf.MagneticEnvironment(place).field(PLACES), [[east, north, up]] * 3)
    # x to the north, y to the west.
    turned = isf.MagneticEnvironment(place, turned=0.5 * np.pi).field(PLACES)
    assert np.allclose(turned, [[north, -east, up]] * 3, rtol=1e-12)


def test_all_that_disturbs_adds_up():
    dipole = isf.Dipole((1.0, 1.0, 0.0), (0.0, 1.0, 0.0))
    sphere, bar = isf.Ellipsoid((2.0, -1.0, 0.0), 0.3), isf.Bar((0.0, 3.0, 0.0), (2.0, 0.1, 0.1))
    environment = isf.MagneticEnvironment(
        earth=MEASURED, dipoles=[dipole], ellipsoids=[sphere], bars=[bar]
    )
    expected = MEASURED + DipoleFields([dipole])(PLACES)
    expected += EllipsoidFields([sphere], np.array(MEASURED))(PLACES)
    expected += BarFields([bar], np.array(MEASURED))(PLACES)
    assert np.allclose(environment.field(PLACES), expected, rtol=1e-12)


def test_it_is_felt_in_the_sensors_axes_and_motors_in_those_alone():
    environment = isf.MagneticEnvironment(
        earth=MEASURED, motors=isf.MotorField((1e-6, 0.0, 0.0), (0.0, 2e-6, 0.0))
    )
    turns = Rotation.random(3, random_state=1)
    own = turns.inv().apply(MEASURED)
    assert np.allclose(environment.felt(PLACES, turns.as_quat()), own, rtol=1e-12)
    torque = np.array([[1.0, 0.0], [0.0, 1.0], [-0.5, 0.25]])
    with_motors = environment.felt(PLACES, turns.as_quat(), torque)
    assert np.allclose(with_motors - own, [[1e-6, 0, 0], [0, 2e-6, 0], [-5e-7, 5e-7, 0]])


def _disturbed(bodies):
    dipoles = [isf.Dipole((1.0, k, 0.0), (0.0, 1.0, k)) for k in range(bodies)]
    ellipsoids = [
        isf.Ellipsoid((2.0, -3.0 * k, 0.0), (0.3, 1.0, 0.5), (0.1, k, 0.2)) for k in range(bodies)
    ]
    bars = [isf.Bar((-3.0, 3.0 * k, 0.0), (2.0, 0.1, 0.2), (0.3, k, 0.1)) for k in range(bodies)]
    motors = isf.MotorField((1e-6, 0.0, 0.0), (0.0, 2e-6, 0.0))
    return isf.MagneticEnvironment(dipoles=dipoles, ellipsoids=ellipsoids, bars=bars, motors=motors)


@pytest.mark.parametrize("bodies", [0, 1, 2, 5])
@pytest.mark.parametrize("at_once", [1, 2, 5, 11, 100])
def test_it_is_the_same_to_the_bit_in_how_many_parts_it_is_asked_for(bodies, at_once):
    hall, random = _disturbed(bodies), np.random.default_rng(1)
    places, torques = random.normal(scale=3.0, size=(403, 3)), random.normal(size=(403, 2))
    turns = Rotation.random(403, random_state=1).as_quat()
    expected = hall.felt(places, turns, torques)
    parts = [slice(first, first + at_once) for first in range(0, 403, at_once)]
    felt = [hall.felt(places[part], turns[part], torques[part]) for part in parts]
    np.testing.assert_array_equal(np.concatenate(felt), expected)


def test_turned_vectors_are_those_of_scipys_rotations():
    turns = Rotation.random(20, random_state=2)
    vectors = np.random.default_rng(2).normal(size=(20, 3))
    assert np.allclose(turned(turns.as_quat(), vectors), turns.apply(vectors), atol=1e-14)
    assert np.allclose(turned(turns.as_quat(), vectors[0]), turns.apply(vectors[0]), atol=1e-14)


def test_a_file_says_what_a_program_says(tmp_path):
    path = tmp_path / "hall.yaml"
    path.write_text(
        "place: {latitude: 50.09, longitude: 14.42, height: 250, date: 2026-06-01}\n"
        "turned: 0.1\n"
        "dipoles:\n  - {position: [1, 1, 0], moment: [0, 1, 0], name: loudspeaker}\n"
        "ellipsoids:\n  - {position: [2, -1, 0], size: 0.3, permeability: 1e3}\n"
        "bars:\n  - {position: [0, 3, 0], size: [2, 0.1, 0.1], magnetisation: [100, 0, 0]}\n"
        "motors: {left: [1e-6, 0, 0]}\n"
    )
    assert isf.read_magnetic_environment(path) == isf.MagneticEnvironment(
        isf.Place(50.09, 14.42, 250.0, "2026-06-01"),
        turned=0.1,
        dipoles=[isf.Dipole((1, 1, 0), (0, 1, 0), "loudspeaker")],
        ellipsoids=[isf.Ellipsoid((2, -1, 0), 0.3, permeability=1e3)],
        bars=[isf.Bar((0, 3, 0), (2, 0.1, 0.1), magnetisation=(100, 0, 0))],
        motors=isf.MotorField(left=(1e-6, 0, 0)),
    )


def test_bundled_environments_are_read_by_name():
    for name in ("clean", "steel_beam"):
        environment = isf.read_magnetic_environment(name)
        assert 45e-6 < np.linalg.norm(environment.undisturbed) < 55e-6
        assert bool(environment.bars) == (name == "steel_beam")
    with pytest.raises(ConfigurationError, match="nor a magnetic environment.* clean, steel_beam"):
        isf.read_magnetic_environment("tin_beam")


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("plaice: {}", "has the unknown key 'plaice'; did you mean place?"),
        ("place: {latitude: 99}", "place.latitude is 99"),
        ("place: {date: 2077-01-01}", "place.date is 2077-01-01, but the model"),
        ("bars: 3", "bars is 3, but it must be a list."),
        ("bars: [{position: [0, 0, 0]}]", r"bars\[0\] lacks the key size."),
        ("bars: [{position: [0, 0, 0], size: [1, 1]}]", r"bars\[0\].size has 2 numbers"),
        ("earth: [1, 2]", "earth is .*list of 3 numbers"),
        ("earth: [50, 0, 0]", "earth is 50, but it must be at most 1"),
        ("a: [", "not valid YAML"),
    ],
)
def test_what_is_no_environment_is_refused_with_its_file(tmp_path, text, sentence):
    path = tmp_path / "hall.yaml"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=sentence) as caught:
        isf.read_magnetic_environment(path)
    assert str(path) in str(caught.value)
