"""From a configuration to what runs."""

import numpy as np
import pytest

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.drive.configuration import load_configuration
from imu_simulation_framework.drive.from_configuration import (
    imu_remarks,
    make_magnetic_environment,
    published_rate,
)


@pytest.mark.parametrize(("rate", "published"), [(50.0, 50.0), (100.0, 100.0), (400.0, 100.0)])
def test_an_imu_is_published_no_faster_than_it_is_simulated(tmp_path, rate, published):
    path = tmp_path / "imu.yaml"
    path.write_text(f"output: {{rate: {rate}, drop_repeated: true}}\n")
    sections = {
        "imu": {"model": "specification", "rate": 100},
        "imu_specification": {"file": str(path)},
    }
    assert published_rate(load_configuration(overrides=sections)) == published


def test_what_a_specification_leaves_out_is_remarked_on():
    def remarks(file, latitude=None, model="specification"):
        sections = {"imu": {"model": model}, "imu_specification": {"file": file}}
        return imu_remarks(
            load_configuration(overrides={**sections, "simulation": {"latitude": latitude}})
        )

    at_rest, earth = remarks("bno055")
    assert at_rest.startswith("bno055 holds what a sensor shows at rest")
    assert earth.startswith("the Earth's turning, 15 deg/h times the sine of the latitude, is left")
    assert remarks("bno055", latitude=50.0) == [at_rest]
    # A sensor with a bias far above the Earth's rate, and all its errors stated, needs neither.
    assert remarks("bno055_datasheet") == []
    assert remarks("bno055", model="hector") == []


def environment(model="specification", file="bno055_magnetometer", **keys):
    sections = {"imu": {"model": model}, "imu_specification": {"file": file}}
    return make_magnetic_environment(
        load_configuration(overrides={**sections, "magnetic_environment": keys})
    )


def test_a_magnetometer_is_on_clean_ground_unless_an_environment_is_named():
    assert environment().bars == ()
    assert environment(file="bno055") is None
    assert environment("hector") is None


def test_place_and_date_of_the_configuration_win_over_the_files():
    named = make_magnetic_environment(
        load_configuration(
            overrides={
                "magnetic_environment": {
                    "file": "steel_beam",
                    "latitude": -33.86,
                    "longitude": 151.21,
                    "height": 0.0,
                    "date": "2025-01-01",
                }
            }
        )
    )
    assert len(named.bars) == 1
    # The British Geological Survey's, as in test_earth_field.py.
    expected = np.array([5450.0, 24040.0, 51381.0]) * 1e-9
    np.testing.assert_allclose(named.undisturbed, expected, rtol=0.0, atol=1e-9)


def test_a_place_that_has_no_effect_is_refused(tmp_path):
    path = tmp_path / "hall.yaml"
    path.write_text("earth: [0.0, 2e-5, -4e-5]\n")
    sections = {"file": str(path), "latitude": 10.0}
    with pytest.raises(ConfigurationError, match="latitude has no effect"):
        make_magnetic_environment(load_configuration(overrides={"magnetic_environment": sections}))
    sections = {"file": "clean", "date": "2077-01-01"}
    with pytest.raises(ConfigurationError, match=r"\[magnetic_environment\] date is 2077-01-01"):
        make_magnetic_environment(load_configuration(overrides={"magnetic_environment": sections}))
