"""Tests of the command-line program convert_imu_parameters.py."""

import os
from pathlib import Path

import pytest
from format_files import GOOD
from tool_calls import assert_refused, assert_success, call_tool, run_as_process

ROOT = Path(__file__).resolve().parents[2]
TOOL = "convert_imu_parameters.py"
KALIBR = GOOD["kalibr"]

FORMATS = ["specification", "kalibr", "sdf", "hector", "rotors", "unity", "datasheet"]


def run(*arguments, **environment):
    if environment:
        return run_as_process(TOOL, *arguments, environment=environment)
    return call_tool(TOOL, *arguments)


@pytest.fixture
def kalibr(tmp_path):
    path = tmp_path / "imu.yaml"
    path.write_text(KALIBR)
    return path


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("target", FORMATS)
def test_converted_parameters_on_standard_output_match_written_file(kalibr, tmp_path, target):
    arguments = [kalibr, "--from", "kalibr", "--to", target]
    printed = assert_success(run(*arguments))
    written = assert_success(run(*arguments, "--out", tmp_path / "out"))
    assert written.stdout == f"{tmp_path / 'out'}\n"
    assert (tmp_path / "out").read_text() == printed.stdout
    assert written.stderr == printed.stderr
    assert set(contents(tmp_path)) == {"imu.yaml", "out"}
    assert_success(run(tmp_path / "out", "--from", target, "--to", "specification", "--rate", 200))


def test_omitted_parameters_are_reported_on_standard_error_and_in_file(kalibr):
    done = run(kalibr, "--from", "kalibr", "--to", "sdf")
    assert "sdf: gyroscope.random_walk = 4e-06" in done.stderr
    assert "gyroscope.random_walk = 4e-06" in done.stdout
    with_time = run(kalibr, "--from", "kalibr", "--to", "sdf", "--correlation-time", 1000)
    assert "<dynamic_bias_stddev>4e-06</dynamic_bias_stddev>" in with_time.stdout
    assert "1000 s" in with_time.stderr
    kalibr.write_text(KALIBR + "time_offset: 0.01\n")
    done = run(kalibr, "--from", "kalibr", "--to", "specification")
    assert done.returncode == 0
    assert done.stderr.startswith(f"{kalibr}: ") and "time_offset" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_value_that_target_format_rejects_is_reported_with_source_file(tmp_path):
    specification = tmp_path / "quiet.yaml"
    specification.write_text("name: quiet\ngyroscope: {white_noise: 1.0e-4}\n")
    done = run(specification, "--from", "specification", "--to", "kalibr")
    assert_refused(done, f"{specification}: accelerometer.white_noise is 0")


def test_invalid_input_is_rejected_and_target_file_is_unchanged(kalibr, tmp_path):
    kalibr.write_text(KALIBR.replace("5e-3", "few"))
    (tmp_path / "out").write_text("earlier")
    files = contents(tmp_path)
    done = run(kalibr, "--from", "kalibr", "--to", "sdf", "--out", tmp_path / "out")
    assert_refused(done, kalibr, "line 5", "gyroscope_noise_density", "'few'")
    assert contents(tmp_path) == files


def test_non_latin_name_is_printed_in_any_locale(tmp_path):
    path = tmp_path / "imu.yaml"
    path.write_text("name: 慣性\noutput: {orientation_reference: truth}\n", encoding="utf-8")
    done = assert_success(
        run(path, "--from", "specification", "--to", "sdf", LC_ALL="C", PYTHONIOENCODING="latin-1")
    )
    assert "慣性" in done.stdout


def documented_commands():
    text = (ROOT / "doc/how_to/convert_imu_parameters.md").read_text(encoding="utf-8")
    prefix = "    ./run convert_imu_parameters.py "
    return [line[len(prefix) :].split() for line in text.splitlines() if line.startswith(prefix)]


def test_documented_conversion_commands_succeed(tmp_path):
    (tmp_path / "config").symlink_to(ROOT / "config")
    (tmp_path / "kalibr_imu_chain.yaml").write_text(f"%YAML:1.0\n{KALIBR}")
    (tmp_path / "iris_hitl.sdf").write_text(
        "<sdf><plugin filename='libgazebo_imu_plugin.so'></plugin></sdf>"
    )
    (tmp_path / "xsens_imu_param.yaml").write_text(
        "%YAML:1.0\n---\nGyr:\n   avg-axis:\n      gyr_n: 1e-3\n      gyr_w: 1e-5\n"
        "Acc:\n   avg-axis:\n      acc_n: 1e-2\n      acc_w: 1e-4\n"
    )
    commands = documented_commands()
    assert len(commands) == 7
    for arguments in commands:
        done = assert_success(call_tool(TOOL, *arguments))
        assert done.stdout
    assert "kalibr_imu.yaml" in os.listdir(tmp_path)


def test_bundled_imu_is_converted_by_name():
    output_of_name = assert_success(run("bno055", "--to", "kalibr", "--rate", 100))
    path = ROOT / "config" / "imus" / "bno055.yaml"
    output_of_path = assert_success(
        run(path, "--from", "specification", "--to", "kalibr", "--rate", 100)
    )
    assert output_of_name.stdout == output_of_path.stdout


def test_parameter_file_without_format_is_rejected(kalibr):
    assert_refused(run(kalibr, "--to", "sdf"), str(kalibr), "--from")
    assert_refused(run("bno05", "--to", "sdf"), "bno05", "--from")
