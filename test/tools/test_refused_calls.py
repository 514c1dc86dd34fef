"""Rejected calls of the programs: exit code 2, one message, and no file written."""

import dataclasses
import shlex
import shutil
import socket
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from ideal_recordings import curve, ideal_messages, poses
from recording_writers import write_bag
from tool_calls import assert_refused, call_tool
from written_results import make_tables, write_result

from imu_simulation_framework.core.tables import ACCEL, GYRO

# Each line is a call and, after a vertical bar, fragments of the error message, separated by
# ellipses.
REFUSED = """
allan_analysis.py short.csv | short.csv ... 5.0 s ... 60 s
allan_analysis.py moved.csv | moved.csv ... gyro_z
allan_analysis.py rates.csv --axis accel | rates.csv ... accel_x, accel_y, accel_z
allan_analysis.py static.csv --band 10 1 | --band is 10 1
allan_analysis.py static.csv --column gyro_x | --column is 'gyro_x'
allan_analysis.py static.csv --name a/b | name ... 'a/b'
allan_analysis.py static.csv --rate 0 | --rate: '0'
allan_analysis.py static.csv --axis gyro_x --out static.csv/below | static.csv
convert_imu_parameters.py mine.yaml --from specification | --to
convert_imu_parameters.py mine.yaml --from specification --to urdf | urdf
convert_imu_parameters.py mine.yaml --from specification --to sdf --rate 0 | --rate: '0'
convert_imu_parameters.py mine.yaml --from specification --to hector --yaw-drift 0.1 0 | drift: '0'
explore.py --no-browser --port 65536 | --port: '65536' ... 65535
explore.py --no-browser --imu hector | hector
explore.py --no-browser --setting nothing static.csv | 'nothing' ... SECTION/KEY=VALUE
heading_budget.py a | --imu ... --odometer ... --require
heading_budget.py a --odometer none.yaml | none.yaml
heading_budget.py a --imu mine.yaml --fuse | --fuse ... --imu ... --odometer
heading_budget.py a --odometer mine.yaml | mine.yaml: ... 'name'
heading_budget.py --imu bno055 | --straight, --rounds, --mowing or --flight
heading_budget.py a --imu bno055 --at 2h | 660 s ... 7200 s
heading_budget.py a --imu bno055 --radius 3 | --radius
heading_budget.py a --imu hector --inflate 3 --out . | --inflate ... hector
heading_budget.py a --imu hector --bias-instability-band 1s 2s --out . | band ... hector
heading_budget.py a --imu mine.yaml --bias-instability-band 9s 1s --out . | band: ... 9 s to 1 s
heading_budget.py a --require 5deg --probability 1.5 | --probability: '1.5'
heading_budget.py --flight f.csv --straight 60 --imu mine.yaml | --straight and --flight
heading_budget.py a --imu mine.yaml --magnetic-environment clean | magnetometer
position_budget.py a | --imu ... --odometer
position_budget.py a --imu mine.yaml --fuse | --fuse ... --imu ... --odometer
position_budget.py a --imu mine.yaml --within 0% | --within: '0%'
position_budget.py a --imu mine.yaml --within often | --within: 'often'
position_budget.py a --imu mine.yaml --fix 'every 60s' | --fix: ... 'every 60s to 5cm'
position_budget.py a --imu mine.yaml --fix 'at 2h to 5cm' --out . | fix at 7200 s ... outside
position_budget.py a --imu mine.yaml --corridor 0.1 --start-position 0.2 --out . | corridor of 0.1 m
position_budget.py --straight 60 --speed 0 --imu mine.yaml --out . | 0 m long
position_budget.py a --imu mine.yaml --fix 'closure at 10s since 20s to 5cm' | --fix: ... since
position_budget.py --flight c3104 --imu mine.yaml | --flight
heading_budget.py a --imu bno055 --stops often | stops is 'often'
identify_yaw_error.py idle.ini | [imu_recording] use
identify_yaw_error.py run --step 0 | --step: '0'
identify_yaw_error.py run --step 0.001 | run: ... step is 0.001 s
identify_yaw_error.py run --step 2 | run: ... 30
identify_yaw_error.py without | without/ ... recorded IMU
identify_odometer.py better.csv odo.csv --track 0.5 | better.csv: ... positions
identify_odometer.py odo.csv none.csv --track 0.5 | none.csv
identify_odometer.py odo.csv odo.csv | --track
identify_odometer.py odo.csv odo.csv --track -1 | --track: '-1'
identify_odometer.py odo.csv odo.csv --track 1 --step 30 | 30 steps of 30 s
imu_catalogue.py --straight 60 --at 61 | 60 s ... 61 s
judge_imu.py run --imu mine.yaml --runs 5 | 95 % ... 19
judge_imu.py run --imu identified.yaml --what sensor | identified ... --what linear
judge_imu.py run --imu mine.yaml --reference-noise mine.yaml | noise is 'mine.yaml'
judge_imu.py run --imu mine.yaml --what sensor --step 0.123456s | 0.123456 s ... 0.01 s
judge_imu.py without --imu mine.yaml | without/ ... recorded IMU
judge_imu.py one --imu mine.yaml | one: ... 1 yaw
monte_carlo.py --straight 20s --imu mine.yaml --runs 0 | --runs: '0'
monte_carlo.py --straight 0.5s --imu mine.yaml --runs 5 | 0.5 s ... 1 s
monte_carlo.py --straight 20s --imu mine.yaml --runs 5 --what experiment | experiment ... --straight
monte_carlo.py a --imu mine.yaml --runs 2 --heading gyroscope --what experiment | --heading
plot_multiple_errors.py gone | gone: ... gone_trajectory_data.csv
plot_multiple_errors.py gone/1 | gone/1:
plot_multiple_errors.py empty | empty: ... *_trajectory_data.csv
plot_multiple_errors.py one | one/ ... one sample
plot_multiple_errors.py panels | 9 drives ... 8 panels
plot_multiple_errors.py run --median-window 0 | median_window
plot_multiple_errors.py run --until nan | --until: 'nan'
plot_multiple_errors.py without --imu recorded | without: ... recorded IMU
report.py empty | empty: ... *_trajectory_data.csv
reproduce_thesis.py --figures 4.25 | '4.25' ... 4.24
reproduce_thesis.py --figures 4.3 | figure 4.3
reproduce_thesis.py --drive a | --drive is a,
reproduce_thesis.py --drive a absent.csv --drive A other.csv | --drive a
reproduce_thesis.py --drive a mine.ini imu.csv | mine.ini: ... imu.csv
simulate_flight.py c31o4 --imu ideal --out o | 'c31o4' ... c3104
simulate_flight.py gone.xml --imu ideal --out o | gone.xml:
simulate_flight.py c3104 --imu ideal --gimbal nothing --out o | nothing
simulate_flight.py c3104 --imu ideal --duration -1 --out o | duration
simulate_static.py none.yaml --hours 1 --out a.csv | none.yaml:
simulate_static.py bno055 --hours 0 --out a.csv | --hours is 0
simulate_static.py bno055 --hours 8784 --rate 100000 --out a.csv | a.csv: ... --hours or --rate
simulate_static.py bno055 --hours 1 --rate -5 --out a.csv | --rate is -5
simulate_static.py bno055 --hours 1 --out a.mat | a.mat: ... .bag ... .csv
validate_imu.py a.bag@/imu a.bag@/imu --limits moved.csv | moved.csv:
validate_imu.py a.bag@/imu a.bag@/imu --limits much.yaml | much.yaml: 'much' ... rate.x
validate_imu.py a.bag@/imu a.bag@/pose --limits force.yaml | a.bag@/pose: ... force x mean
validate_imu.py a.bag@/imu a.bag@/imu --limits long.yaml | rate x ... 1000 s
validate_imu.py a.bag@/imu a.bag@/imu --max-shift -1 | --max-shift: '-1'
which_imu.py a --for 2h | 660 s ... 7200 s
which_imu.py a --imu hector | hector ... --imu
which_imu.py a --imu empty.yaml | empty ... gyroscope
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with all files that the rejected calls mention."""
    folder = tmp_path_factory.mktemp("refused")
    texts = {
        "mine.yaml": "name: mine\ngyroscope: {white_noise: 1.0e-3, turn_on_bias_sigma: 1.0e-3}\n",
        "empty.yaml": "gyroscope: {}\n",
        "identified.yaml": "kind: yaw_error_model\nname: mine\ndrives: [monday]\nparameters:\n"
        "  angle_random_walk: {value: 2.0e-3, low: 1.0e-3, high: 3.0e-3}\n",
        "much.yaml": "rate: {x: {much: 1}}\n",
        "force.yaml": "force: {x: {mean: 1}}\n",
        "idle.ini": "[recording]\ndrive = a\n[imu_recording]\nuse = false\n",
        "long.yaml": "rate: {x: {allan_deviation: {1000: 1}}}\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    generator = np.random.default_rng(1)
    index = pd.Index(1.6e9 + np.arange(3500) / 50.0, name="time")
    values = generator.normal([0.0] * 5 + [9.81], 0.007, (len(index), 6))
    static = pd.DataFrame(values, index=index, columns=[*GYRO, *ACCEL])
    odometer = pd.DataFrame({"x": index - index[0], "y": 0.0, "yaw": 0.0}, index=index)
    for name, table in (
        ("static", static),
        ("short", static.iloc[:251]),
        ("rates", static[list(GYRO)]),
        ("moved", static.assign(gyro_z=np.sin(index))),
        ("odo", odometer),
        ("better", odometer[["yaw"]]),
    ):
        table.to_csv(folder / f"{name}.csv")
    motion = curve(5.0)
    write_bag(folder / "a.bag", {"/imu": ideal_messages(motion), "/pose": poses(motion)})
    whole = make_tables(40.0)
    cut = {name: getattr(whole, name).iloc[:1] for name in ("imu_simulated", "imu_real")}
    for name, tables in (
        ("run", whole),
        ("without", dataclasses.replace(whole, imu_real=None)),
        ("one", dataclasses.replace(whole, **cut, ground_truth=whole.ground_truth.iloc[:1])),
    ):
        shutil.move(str(write_result(folder / "made", tables=tables).folder), str(folder / name))
    for number in range(9):
        write_result(folder / "panels", f"d{number}", duration=5.0)
    shutil.rmtree(folder / "made")
    (folder / "empty").mkdir()
    return folder


@pytest.mark.parametrize("row", REFUSED.strip().splitlines())
def test_invalid_call_is_rejected_without_writing_files(folder, row, monkeypatch):
    monkeypatch.chdir(folder)
    call, words = row.split(" | ")
    if call.startswith("simulate_flight"):
        pytest.importorskip("jsbsim")
    files = sorted(Path().rglob("*"))
    assert_refused(call_tool(*shlex.split(call)), *words.split(" ... "))
    assert sorted(Path().rglob("*")) == files


def test_port_already_in_use_is_rejected():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        done = call_tool("explore.py", "--no-browser", "--port", port)
    assert_refused(done, f"port {port}", "--port")


def test_missing_dash_package_is_reported_with_extra_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "dash", None)
    done = call_tool("explore.py", "--no-browser", "--port", 0)
    assert_refused(done, "the page needs the Python library dash", 'pip install ".[explore]"')
