"""A recording that gives no answer is refused before anything is started, unless it is wanted."""

import json

import drive_recordings as drives
import numpy as np
import pytest
from planted_faults import clockwise_from_north

SHORT = "trajectory: {stop: 4.0}"


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory):
    """A drive whose IMU counts its yaw clockwise."""
    reference, imu = drives.drive()
    path = tmp_path_factory.mktemp("mirrored") / "drive.bag"
    return drives.write_bag(path, reference, clockwise_from_north(imu))


def test_a_mirrored_yaw_starts_nothing_and_the_last_line_says_why(experiment, mirrored):
    ended = experiment.run(f"recording:={mirrored}", f"settings:={{{SHORT}}}", timeout=60.0)
    assert ended.code == 2, ended.output
    assert "process[" not in ended.output
    assert "Traceback" not in ended.output
    last = ended.lines[-1]
    assert last.startswith("run_experiment.py: ")
    for words in (
        str(mirrored),
        "mirrored yaw",
        "to mend it: [imu_recording] yaw_convention = cw_from_north",
        "[experiment] accept_implausible = true",
    ):
        assert words in last, last
    assert not (experiment.directory / "experiment_results").exists()


@pytest.mark.slow
def test_the_setting_that_the_refusal_names_mends_it(experiment, mirrored):
    settings = f"settings:={{{SHORT}, imu_recording: {{yaw_convention: cw_from_north}}}}"
    ended = experiment.run(f"recording:={mirrored}", settings)
    assert ended.code == 0, ended.output
    summary = json.loads(ended.result().read_text("summary.json"))
    assert summary["run"]["recording"]["findings"] == []
    # What is left of 4 s is the wander that the IMU's yaw was made with.
    wander = drives.WANDER * np.sin(0.1 * np.arange(0.0, 4.0, 1.0 / drives.IMU_RATE))
    expected = np.sqrt(np.mean(wander**2))
    assert summary["yaw_error"]["real"]["rms_rad"] == pytest.approx(expected, rel=0.1)


@pytest.mark.slow
def test_who_accepts_it_gets_it_with_the_finding(experiment, mirrored):
    settings = f"settings:={{{SHORT}, experiment: {{accept_implausible: true}}}}"
    ended = experiment.run(f"recording:={mirrored}", settings)
    assert ended.code == 0, ended.output
    # It is said on the way, too.
    assert "mirrored yaw" in ended.output
    summary = json.loads(ended.result().read_text("summary.json"))
    (finding,) = summary["run"]["recording"]["findings"]
    # Of a robot that stays level, a quaternion the other way round would look the same.
    assert finding["fault"].startswith("mirrored yaw")
    assert finding["grave"] is True
    assert finding["settings"] == [["imu_recording", "yaw_convention", "cw_from_north"]]
    assert finding["evidence"]
    # Nobody turned it in secret.
    assert summary["yaw_error"]["real"]["rms_rad"] > 0.1
