"""From a configuration to what runs."""

import pytest

from imu_simulation_framework.configuration.load import load_configuration
from imu_simulation_framework.experiment.from_configuration import imu_remarks, published_rate


@pytest.mark.parametrize(("rate", "published"), [(50.0, 50.0), (100.0, 100.0), (400.0, 100.0)])
def test_an_imu_is_published_no_faster_than_it_is_simulated(tmp_path, rate, published):
    path = tmp_path / "imu.yaml"
    path.write_text(f"output: {{rate: {rate}, drop_repeated: true}}\n")
    sections = {
        "imu": {"model": "specification", "rate": 100},
        "imu_specification": {"file": str(path)},
    }
    assert published_rate(load_configuration(overrides=sections)) == published


def test_a_specification_of_a_sensor_at_rest_is_remarked_on():
    def remarks(model, **sections):
        return imu_remarks(load_configuration(overrides={"imu": {"model": model}, **sections}))

    (sentence,) = remarks("specification", imu_specification={"file": "bno055"})
    assert sentence.startswith("bno055 holds what a sensor shows at rest")
    assert remarks("specification", imu_specification={"file": "bno055_datasheet"}) == []
    assert remarks("hector") == []
