"""Samples of the simulated robot as they are published and recorded."""

from functools import lru_cache

import numpy as np
import pytest

from imu_simulation_framework.drive.configuration import load_configuration
from imu_simulation_framework.drive.results.record import ExperimentRecord
from imu_simulation_framework.drive.session.simulation import MEASURED_AT_ONCE, SimulatedRobot
from imu_simulation_framework.sensors.imu_models.plugins import PRESETS


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


def test_repeated_sensor_samples_are_recorded_once(tmp_path):
    once = robot(tmp_path, "rate: 200.0").tick(3.0, 3.0)
    twice = robot(tmp_path, "rate: 200.0, repeat_samples: true").tick(3.0, 3.0)
    (stamps, rows), (again, repeated) = once.imu_rows(), twice.imu_rows()
    np.testing.assert_array_equal(again, np.repeat(stamps, 2))
    np.testing.assert_array_equal(repeated, np.repeat(rows, 2, axis=0))
    record = ExperimentRecord()
    record.imu.append_rows(again, repeated)
    assert len(record.imu) == len(stamps)
    assert record.imu.backwards == 0


def test_simulated_gravity_matches_setting(tmp_path):
    samples = robot(tmp_path, "rate: 100.0", gravity=3.71).tick(0.0, 0.0)
    force = samples.reading.specific_force[-1]
    assert force[2] == pytest.approx(3.71, abs=1e-3)


NOISE = (
    "{white_noise: 1.0e-3, bias_instability: 1.0e-4, random_walk: 1.0e-4, quantisation: 1.0e-4, "
    "gauss_markov_sigma: 1.0e-4, gauss_markov_time: 5.0, temperature_bias: 1.0e-4%s}"
)
ALL = NOISE % ", bandwidth: 30.0"
MAGNETIC = (
    "magnetometer: {white_noise: 1.0e-7, bias_instability: 1.0e-8, hard_iron: [1.0e-6, 0.0, 0.0], "
    "resolution: 3.0e-7, bandwidth: 20.0}\n"
)
IMUS = {
    "everything": f"gyroscope: {ALL}\naccelerometer: {ALL}\n{MAGNETIC}",
    "magnetic heading": f"{MAGNETIC}output: {{orientation_reference: fusion, filter: mahony, "
    "magnetic_heading: true}",
    "slow and late": f"{MAGNETIC}output: {{rate: 50.0, start_offset: 0.33, drop_repeated: true}}",
    "compass": f"{MAGNETIC}output: {{orientation_reference: fusion, filter: compass, "
    "magnetic_heading: true}",
    "vqf": "output: {orientation_reference: fusion, filter: vqf}",
    "vibration": f"gyroscope: {NOISE % ''}\n{MAGNETIC}"
    "vibration: {spectrum: [[10.0, 0.1], [40.0, 0.1]]}\n",
}
HALL = (
    "dipoles: [{position: [1.0, 2.0, 0.0], moment: [0.0, 1.0, 0.0]}]\n"
    "ellipsoids: [{position: [-2.0, 1.0, 0.3], size: [0.3, 0.5, 1.0]}]\n"
    "bars: [{position: [3.0, -0.6, 0.1], size: [4.0, 0.1, 0.1], orientation: [0.1, 0.2, 0.3]}]\n"
    "motors: {left: [1.0e-6, 0.0, 0.0], right: [0.0, 2.0e-6, 0.0]}\n"
)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Drive for five seconds and evaluate the IMU in blocks of samples."""
    folder = tmp_path_factory.mktemp("imus")
    (folder / "hall.yaml").write_text(HALL)

    @lru_cache(maxsize=None)
    def drive(samples_at_once, name, control_rate=20):
        sections = {"imu": {"model": name}, "control": {"rate": control_rate}}
        if name in IMUS:
            path = folder / f"{name}.yaml"
            path.write_text(IMUS[name])
            sections["imu"]["model"] = "specification"
            sections["imu_specification"] = {"file": str(path)}
        sections["magnetic_environment"] = {"file": str(folder / "hall.yaml")}
        robot = SimulatedRobot(load_configuration(overrides=sections))
        record = [robot.last]
        for tick in range(5 * control_rate):
            robot.drive(3.0 + 0.01 * (tick % 50), 3.5 - 0.02 * (tick % 30))
            if robot.waiting >= samples_at_once:
                record.append(robot.measured())
        if robot.waiting:
            record.append(robot.measured())
        assert robot.waiting == 0
        rows = ("imu_rows", "bias_rows", "ground_truth_rows", "wheel_rows", "magnetic_rows")
        parts = [[getattr(samples, name)() or ((), ()) for samples in record] for name in rows]
        return [list(map(np.concatenate, zip(*part))) for part in parts]

    return drive


@pytest.mark.parametrize("name", [*IMUS, *sorted(PRESETS)])
@pytest.mark.parametrize(
    "samples_at_once", [7, pytest.param(MEASURED_AT_ONCE - 5, marks=pytest.mark.gate)]
)
def test_imu_signals_evaluated_in_blocks_are_bit_identical(measured, name, samples_at_once):
    if name == "vqf":
        pytest.importorskip("vqf")
    for (stamps, rows), (later, same) in zip(measured(1, name), measured(samples_at_once, name)):
        assert len(stamps) > 0 or "magnetometer" not in IMUS.get(name, "")
        np.testing.assert_array_equal(later, stamps)
        np.testing.assert_array_equal(same, rows)


def test_single_sample_has_same_rounding_as_block(measured):
    for single, block in zip(measured(1, "everything", 100), measured(300, "everything", 100)):
        np.testing.assert_array_equal(block[1], single[1])
