"""Search for controller gains, and the command line of tune_tracking.py on a short drive."""

import math
from functools import partial

import pytest

from imu_simulation_framework.commands.start import run_program
from imu_simulation_framework.commands.tune_tracking import Tracking, tune
from imu_simulation_framework.core.errors import SimulatorError
from imu_simulation_framework.core.files import urdf_path
from imu_simulation_framework.core.programs import run_tool
from imu_simulation_framework.drive.configuration import load_configuration
from imu_simulation_framework.drive.recorded_drive.setup import set_up_named

PROGRAM = partial(run_program, "tune_tracking")


class Bowl:
    """Synthetic tracking error, smallest for gains of 3 and 0.5; the effort is the first gain."""

    def follow(self, gains):
        away = math.hypot(math.log(gains["a"] / 3.0), math.log(gains["b"] / 0.5))
        if gains["b"] > 6.0:
            raise SimulatorError("the physics became unstable")
        return {"distance": 0.1 + away, "yaw": 0.0, "effort": gains["a"]}


FIRST = {"a": 1.0, "b": 4.0, "off": 0.0}


def distance(driven):
    return driven["distance"]


def test_gain_search_finds_minimum_cost_and_does_not_change_zero_gains():
    gains = tune(Bowl(), FIRST, distance, effort=10.0, tries=100)
    assert gains["a"] == pytest.approx(3.0, rel=0.1)
    assert gains["b"] == pytest.approx(0.5, rel=0.1)
    assert gains["off"] == 0.0


def test_gain_search_stays_within_control_effort_limit():
    gains = tune(Bowl(), FIRST, distance, effort=1.5, tries=100)
    assert 1.3 < gains["a"] <= 1.5
    assert gains["b"] == pytest.approx(0.5, rel=0.2)


def test_tuning_reduces_cost_of_drive_and_writes_settings(tmp_path, capsys):
    arguments = ["a", "--seconds", "5s", "--tries", "10", "--setting", "trajectory/stop=12"]
    arguments += ["--controller", "yaw_pid", "--setting", "control/yaw_proportional=1"]
    assert run_tool(PROGRAM, [*arguments, "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    first_cost, tuned_cost = (
        float(line.split()[2])
        for line in printed.splitlines()
        if line.startswith(("before", "after"))
    )
    # Ten drives suffice to increase a gain that is far too small.
    assert tuned_cost < 0.7 * first_cost
    control = load_configuration(tmp_path / "config.ini").control
    assert control.controller == "yaw_pid"
    assert control.yaw_proportional > 1.0
    assert f"yaw_proportional = {control.yaw_proportional:.4g}" in printed


def test_configured_simulator_does_not_affect_tuning():
    def followed(simulator):
        setup = set_up_named("a")
        setup.set("robot", parameters=str(urdf_path("robot_four_wheels.yaml")))
        setup.set("simulation", simulator=simulator)
        setup.set("trajectory", start=10.0)  # start of the first turn
        return Tracking(setup, 3.0).follow({})

    assert followed("gazebo") == followed("mujoco")


NO_GAINS = [
    part
    for name in ("along", "cross", "yaw")
    for part in ("--setting", f"control/lq_{name}_weight=0")
]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a", "--setting", "control/controller=open_loop"], "open_loop"),
        (["a", "--setting", "trajectory/stop=8"], "two parts of at least 5 s"),
        (["a", "--seconds", "2s"], "--seconds is 2"),
        (
            ["a", "--controller", "lq", *NO_GAINS],
            "[control] lq_along_weight, lq_cross_weight, lq_yaw_weight are 0",
        ),
        (["a", "--effort", "nan"], "--effort"),
        (["a", "--robot", "nowhere.yaml"], "nowhere.yaml: "),
    ],
)
def test_invalid_tuning_call_is_rejected(arguments, words, tmp_path, capsys):
    try:
        code = run_tool(PROGRAM, [*arguments, "--out", str(tmp_path / "out")])
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
