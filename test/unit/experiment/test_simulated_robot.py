"""The simulated robot's samples, as they are given away."""

import numpy as np
import pytest

from imu_simulation_framework.configuration.load import load_configuration
from imu_simulation_framework.experiment.session.simulation import SimulatedRobot
from imu_simulation_framework.results.record import ExperimentRecord


def robot(tmp_path, output, **simulation):
    path = tmp_path / "imu.yaml"
    path.write_text(f"gyroscope: {{white_noise: 1.0e-3}}\noutput: {{{output}}}\n")
    return SimulatedRobot(
        load_configuration(
            overrides={
                "imu": {"model": "specification"},
                "imu_specification": {"file": str(path)},
                "simulation": simulation,
            }
        )
    )


def test_a_faster_sensor_repeats_stamps_and_data_and_the_record_has_each_once(tmp_path):
    once = robot(tmp_path, "rate: 200.0").tick(3.0, 3.0)
    twice = robot(tmp_path, "rate: 200.0, repeat_samples: true").tick(3.0, 3.0)
    (stamps, rows), (again, repeated) = once.imu_rows(), twice.imu_rows()
    np.testing.assert_array_equal(again, np.repeat(stamps, 2))
    np.testing.assert_array_equal(repeated, np.repeat(rows, 2, axis=0))
    record = ExperimentRecord()
    record.imu.append_rows(again, repeated)
    assert len(record.imu) == len(stamps)
    assert record.imu.backwards == 0


def test_gravity_is_a_setting(tmp_path):
    samples = robot(tmp_path, "rate: 100.0", gravity=3.71).tick(0.0, 0.0)
    force = samples.state.specific_force[-1]
    assert force[2] == pytest.approx(3.71, abs=1e-3)
