"""Tests of the command-line program simulate_static.py."""

from functools import partial

import numpy as np
import pytest
from tool_calls import assert_success, call_tool, run_as_process

from imu_simulation_framework.recordings.reading import read_imu

TOOL = "simulate_static.py"


run = partial(call_tool, TOOL)


def test_static_recording_of_bundled_imu_has_specified_white_noise(tmp_path):
    path = tmp_path / "static.bag"
    done = assert_success(
        run_as_process(TOOL, "bno055", "--hours", 0.05, "--rate", 100, "--out", path, "--seed", 3)
    )
    assert "18000 samples, 180 s" in done.stdout
    # Without a terminal, there is no progress bar.
    assert done.stderr == ""
    table = read_imu(path).table
    assert len(table) == 18_000
    for column, density in (
        ("gyro_x", 9.56150e-05),
        ("gyro_z", 4.89565e-05),
        ("accel_y", 1.06667e-04),
    ):
        # Successive differences have twice the variance of the white noise and almost no drift.
        white = np.sqrt(0.5 * np.diff(table[column]).var())
        assert white == pytest.approx(density * 10.0, rel=4.0 * np.sqrt(0.75 / 18_000) + 0.002)


def test_seed_and_rate_options_change_static_recording(tmp_path):
    specification = tmp_path / "imu.yaml"
    specification.write_text("gyroscope: {white_noise: 1e-3}\noutput: {rate: 50}\n")
    contents = []
    for name, *options in (
        ("a.csv",),
        ("b.csv", "--seed", 1),
        ("c.csv", "--seed", 2),
        ("d.csv", "--rate", 200),
    ):
        assert_success(run(specification, "--hours", 0.001, "--out", tmp_path / name, *options))
        contents.append((tmp_path / name).read_text())
    assert contents[0] == contents[1] != contents[2]
    assert [text.count("\n") - 1 for text in contents] == [180, 180, 180, 720]
