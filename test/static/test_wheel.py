"""The library without ROS: a wheel in a virtual environment that has nothing else."""

import subprocess
import sys
import venv

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

FIVE_LINES = """
import imu_simulation_framework as isf

motion = isf.read_motion("drive.csv")
imu = isf.read_imu_specification("bno055")
samples = isf.simulate_imu(motion, imu, seed=1)
error = isf.yaw_error(samples, motion)
print(len(samples), list(samples), round(abs(error.iloc[-1]), 1))
"""
WITHOUT = """
import importlib.util
assert not any(map(importlib.util.find_spec, ("rospy", "roslib", "mujoco"))), "not bare"
"""


def run(*command, directory):
    done = subprocess.run(
        list(map(str, command)),
        cwd=directory,
        env={"PATH": "/usr/bin:/bin", "HOME": str(directory), "PYTHONNOUSERSITE": "1"},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def pip(python, *arguments):
    done = subprocess.run(
        [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", *map(str, arguments)],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def bare(tmp_path_factory, repository):
    """Folder with a virtual environment that has the wheel and what that asks for."""
    folder = tmp_path_factory.mktemp("bare")
    source = folder / "source"
    subprocess.run(["git", "clone", "-q", str(repository), str(source)], check=True)
    pip(sys.executable, "wheel", "--no-deps", "--wheel-dir", folder, source)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "venv", with_pip=True)
    # Of what the bounds allow, the versions that the other tests use: they are there already.
    pip(folder / "venv/bin/python", "install", *held(repository), wheel)
    return folder


def held(repository):
    """Options with which pip takes the versions that the other tests use."""
    return [f"-c{repository / name}" for name in ("requirements.txt", "constraints.txt")]


def test_the_five_lines_work(bare, repository):
    lines = ["time,x,y,yaw"]
    lines += [f"{0.2 * k:.1f},{0.1 * k:.2f},0.0,0.0" for k in range(100)]
    (bare / "drive.csv").write_text("\n".join(lines) + "\n")
    (bare / "five_lines.py").write_text(WITHOUT + FIVE_LINES)
    printed = run("venv/bin/python", "five_lines.py", directory=bare)
    assert printed.startswith("1981 ['roll', 'pitch', 'yaw', 'gyro_x',")
    assert printed.endswith(" 0.0\n")


@pytest.mark.parametrize(
    "example",
    [
        "heading_after_ten_minutes",
        "compare_sensors_on_a_drive",
        "imu_away_from_the_axle",
        "judge_a_model",
        "heading_by_gnss",
    ],
)
def test_examples_run(bare, repository, example):
    run("venv/bin/python", repository / f"examples/{example}.py", directory=bare)


def test_what_is_not_installed_is_said_by_its_name(bare):
    code = "import imu_simulation_framework as isf; isf.robot_motion"
    done = subprocess.run(
        [str(bare / "venv/bin/python"), "-c", code], text=True, capture_output=True, check=False
    )
    assert "No module named 'mujoco'" in done.stderr


def test_with_its_extra_the_robot_drives(bare, repository):
    (wheel,) = bare.glob("*.whl")
    pip(bare / "venv/bin/python", "install", *held(repository), f"{wheel}[simulator]")
    example = repository / "examples/drive_a_robot_in_mujoco.py"
    printed = run("venv/bin/python", example, directory=bare)
    assert printed.count("deg after 30 s") == 2
