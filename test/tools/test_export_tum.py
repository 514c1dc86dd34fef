"""Tests of the command-line program export_tum.py."""

import numpy as np
import pytest
from evo.core import metrics
from evo.tools import file_interface
from tool_calls import call_tool
from written_results import make_tables, write_result

from imu_simulation_framework.drive.summary import evaluate
from imu_simulation_framework.recordings.reading import read_reference


@pytest.fixture(scope="module")
def tables():
    return make_tables(60.0)


@pytest.fixture
def exported(tmp_path, tables):
    folder = write_result(tmp_path / "results", tables=tables)
    done = call_tool("export_tum.py", folder.folder, "--out", tmp_path / "tum")
    assert (done.returncode, done.stderr) == (0, "")
    return tmp_path / "tum"


@pytest.mark.parametrize("kind", ["simulated", "recorded"])
def test_rotation_error_computed_by_evo_matches_yaw_error(exported, tables, kind):
    _, comparison = evaluate(tables)
    difference = {"simulated": comparison.simulated, "recorded": comparison.real}[kind]
    pair = tuple(
        file_interface.read_tum_trajectory_file(str(exported / f"{kind}_{source}.tum"))
        for source in ("truth", "imu")
    )
    ape = metrics.APE(metrics.PoseRelation.rotation_angle_rad)
    ape.process_data(pair)
    # evo takes the arc cosine of the trace, which loses half of the digits near zero.
    np.testing.assert_allclose(ape.error, np.abs(difference.error), atol=1e-7)
    types = metrics.StatisticsType
    for statistic, attribute in ((types.rmse, "rms"), (types.max, "maximum_absolute")):
        assert ape.get_statistic(statistic) == pytest.approx(
            getattr(difference.statistics, attribute), rel=1e-6
        )
    # The poses differ only in heading.
    positions = metrics.APE(metrics.PoseRelation.translation_part)
    positions.process_data(pair)
    assert np.max(positions.error) == 0.0


def test_exported_tum_trajectory_round_trips(exported, tables):
    driven = read_reference(exported / "driven.tum").table
    np.testing.assert_array_equal(driven.index, tables.ground_truth.index)
    np.testing.assert_array_equal(driven["x"], tables.ground_truth["x"])
    np.testing.assert_allclose(
        np.unwrap(driven["yaw"]), np.unwrap(tables.ground_truth["yaw"]), atol=1e-12
    )


def test_export_without_recorded_imu_uses_simulated_imu(tmp_path):
    folder = write_result(tmp_path / "results", with_real_imu=False)
    done = call_tool("export_tum.py", folder.folder, "--out", tmp_path / "tum")
    assert done.returncode == 0
    assert "There is no recorded IMU" in done.stdout
    assert {path.name for path in (tmp_path / "tum").iterdir()} == {
        f"{name}.tum" for name in ("trajectory", "driven", "simulated_truth", "simulated_imu")
    }
