import os
from pathlib import Path

import pytest
from format_files import KALIBR
from tool_calls import call_tool, refused, run_as_process, succeeded

ROOT = Path(__file__).resolve().parents[2]
TOOL = "convert_imu_parameters.py"

FORMATS = ["specification", "kalibr", "sdf", "hector", "rotors", "unity", "datasheet"]
READ_ONLY = ["imu_utils", "vins", "orb_slam3"]


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
def test_what_is_printed_is_what_is_written(kalibr, tmp_path, target):
    arguments = [kalibr, "--from", "kalibr", "--to", target]
    printed = succeeded(run(*arguments))
    written = succeeded(run(*arguments, "--out", tmp_path / "out"))
    assert written.stdout == f"{tmp_path / 'out'}\n"
    assert (tmp_path / "out").read_text() == printed.stdout
    assert written.stderr == printed.stderr
    assert set(contents(tmp_path)) == {"imu.yaml", "out"}
    succeeded(run(tmp_path / "out", "--from", target, "--to", "specification", "--rate", 200))


def test_what_is_left_out_or_cannot_be_said_is_on_standard_error_and_in_the_file(kalibr):
    done = run(kalibr, "--from", "kalibr", "--to", "sdf")
    assert "sdf: gyroscope.random_walk = 4e-06 cannot be said" in done.stderr
    assert "gyroscope.random_walk = 4e-06 cannot be said" in done.stdout
    with_time = run(kalibr, "--from", "kalibr", "--to", "sdf", "--correlation-time", 1000)
    assert "<dynamic_bias_stddev>4e-06</dynamic_bias_stddev>" in with_time.stdout
    assert "1000 s" in with_time.stderr
    kalibr.write_text(KALIBR + "time_offset: 0.01\n")
    done = run(kalibr, "--from", "kalibr", "--to", "specification")
    assert done.returncode == 0
    assert done.stderr == f"{kalibr}: No noise parameters, and left out: time_offset.\n"


def test_where_the_numbers_come_from_is_in_the_output(tmp_path):
    (tmp_path / "model.sdf").write_text(
        "<sdf>\n<plugin filename='libgazebo_imu_plugin.so'>\n"
        "<gyroscopeNoiseDensity>1e-3</gyroscopeNoiseDensity></plugin></sdf>"
    )
    for target in ("specification", "sdf"):
        arguments = ("--from", "rotors", "--to", target, "--rate", 250)
        done = succeeded(run(tmp_path / "model.sdf", *arguments, "--out", tmp_path / "out"))
        text = (tmp_path / "out").read_text()
        assert "Converted from model.sdf (rotors)." in text
        for sentence in (
            "<accelerometerNoiseDensity> is not there: 0.00637 m/s^2/sqrt(Hz), the plug-in's",
            "before March 2025",
        ):
            assert sentence in text
            assert sentence in done.stderr


def test_the_rate_decides_hectors_numbers(kalibr):
    arguments = [kalibr, "--from", "kalibr", "--to", "hector", "--yaw-drift", "0.05", "200"]
    slow = run(*arguments, "--rate", 100)
    fast = run(*arguments, "--rate", 400)
    # drift * sqrt(dt) is what is wanted.
    assert "<yawDrift>0.4999" in slow.stdout
    assert "<yawDrift>0.99999" in fast.stdout
    assert "<updateRate>100.0<" in slow.stdout


def test_bad_input_ends_with_a_sentence_and_leaves_the_target_alone(kalibr, tmp_path):
    kalibr.write_text(KALIBR.replace("5e-3", "few"))
    (tmp_path / "out").write_text("as it was")
    before = contents(tmp_path)
    done = run(kalibr, "--from", "kalibr", "--to", "sdf", "--out", tmp_path / "out")
    refused(done, kalibr, "line 5", "gyroscope_noise_density", "'few'")
    assert contents(tmp_path) == before


def test_a_target_that_cannot_be_written_or_is_the_input_ends_with_a_sentence(kalibr, tmp_path):
    done = run(kalibr, "--from", "kalibr", "--to", "sdf", "--out", tmp_path / "gone" / "out")
    assert done.returncode == 2
    assert done.stderr.startswith("convert_imu_parameters.py: ")
    assert str(tmp_path / "gone" / "out") in done.stderr
    before = contents(tmp_path)
    (tmp_path / "link").symlink_to(kalibr)
    for name in ("imu.yaml", "link"):
        done = run(kalibr, "--from", "kalibr", "--to", "specification", "--out", tmp_path / name)
        assert done.returncode == 2
        assert "is the input" in done.stderr and len(done.stderr.splitlines()) == 1
    (tmp_path / "link").unlink()
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["--from", "kalibr"],
        ["--from", "kalibr", "--to", "urdf"],
        ["--from", "kalibr", "--to", "sdf", "--rate", "0"],
        ["--from", "kalibr", "--to", "sdf", "--rate", "inf"],
        ["--from", "kalibr", "--to", "sdf", "--correlation-time", "inf"],
        ["--from", "kalibr", "--to", "hector", "--yaw-drift", "0.1", "0"],
        ["--from", "kalibr", "--to", "sdf", "--yaw-drift", "0.1", "100"],
    ],
)
def test_options_that_make_no_sense_are_refused(kalibr, arguments):
    refused(run(kalibr, *arguments))


def test_a_name_in_any_script_is_written_whatever_the_locale(tmp_path):
    path = tmp_path / "imu.yaml"
    path.write_text("name: 慣性\noutput: {orientation_reference: truth}\n", encoding="utf-8")
    done = succeeded(
        run(path, "--from", "specification", "--to", "sdf", LC_ALL="C", PYTHONIOENCODING="latin-1")
    )
    assert "慣性" in done.stdout


def test_the_help_names_every_format():
    done = run("--help")
    assert done.returncode == 0
    for name in FORMATS + READ_ONLY:
        assert f"  {name} " in done.stdout


def documented_commands():
    text = (ROOT / "doc" / "imu_parameters.md").read_text(encoding="utf-8")
    prefix = "    ./run convert_imu_parameters.py "
    return [line[len(prefix) :].split() for line in text.splitlines() if line.startswith(prefix)]


def test_the_documented_commands_do_what_they_say(tmp_path):
    text = (ROOT / "doc" / "imu_parameters.md").read_text(encoding="utf-8")
    section = text.split("\n## From a datasheet\n")[1]
    sheet = section.split("```yaml\n")[1].split("```")[0]
    (tmp_path / "datasheet.yaml").write_text(sheet, encoding="utf-8")
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
    assert len(commands) == 8
    for arguments in commands:
        done = succeeded(call_tool(TOOL, *arguments))
        assert done.stdout
    assert {"imu.yaml", "kalibr_imu.yaml"} < set(os.listdir(tmp_path))


@pytest.mark.parametrize("name", ["/dev/null", "fifo"])
def test_what_is_no_regular_file_is_neither_read_nor_replaced(kalibr, tmp_path, name):
    path = tmp_path / name
    if name == "fifo":
        os.mkfifo(path)
    done = run(kalibr, "--from", "kalibr", "--to", "specification", "--out", path)
    assert done.returncode == 2 and "only a regular file is replaced" in done.stderr
    done = run(path, "--from", "kalibr", "--to", "specification")
    assert done.returncode == 2 and "not a regular file" in done.stderr
    assert not path.is_file()
