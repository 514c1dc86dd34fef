"""Compare a simulator's IMU plug-in with this package's model of it, the robot at rest.

Runs an experiment in which the robot stands still for --minutes, once for each --imu, and sets
the statistics of what the plug-in says (standard deviation, innovation and lag-1 correlation of
its biases, white noise, orientation error) beside those of --runs realisations of the model.
With --results it evaluates experiments that were run before. Exit code 1: a statistic lies more
than three standard errors from the model's.

    compare_plugins.py --out comparison
    compare_plugins.py --out comparison --imu hector --parameters "{yaw_drift: 1.118}"
"""

from __future__ import annotations

import argparse
import functools
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from tqdm import tqdm

from imu_simulation_framework.errors import ConfigurationError, ResultError
from imu_simulation_framework.evaluation.statistics_at_rest import (
    DEVIATION_LIMIT,
    compare_with_model,
)
from imu_simulation_framework.evaluation.yaw_comparison import LONGEST_WINDOW
from imu_simulation_framework.files.csv_tables import text_cell
from imu_simulation_framework.files.plain_yaml import NOT_YAML, load_plain
from imu_simulation_framework.files.whole_files import write_whole
from imu_simulation_framework.results.folder import find_result
from imu_simulation_framework.sensors.imu_models import PRESETS, make_imu_model
from imu_simulation_framework.tools.arguments import whole_number
from imu_simulation_framework.tools.plugins.experiment_at_rest import load_experiment_at_rest

COMPARED = {
    # Every error that the plug-in has, the drifts fast enough to become stationary in minutes.
    "hector": {
        "rate_offset": 0.01,
        "rate_drift": 0.05,
        "rate_drift_frequency": 0.1,
        "rate_gaussian_noise": 0.001,
        "accel_offset": 0.05,
        "accel_drift": 0.5,
        "accel_drift_frequency": 0.2,
        "accel_gaussian_noise": 0.02,
        "yaw_offset": 0.02,
        "yaw_drift": 0.5,
        "yaw_drift_frequency": 0.05,
    },
    "generic": {"gaussian_noise": 0.00215},
}
"""Parameters of the plug-ins for this comparison."""

AT_REST = "at_rest"
"""Name of the experiment."""

STANDING_POSES = 100
"""Of the standing robot's trajectory, which readers would not take for one if it were shorter."""


def main(arguments):
    """Run and evaluate the experiments that the command line asks for."""
    options = _parser().parse_args(arguments)
    out = Path(options.out)
    folders = options.results or [_run_experiment(out, name, options) for name in options.imu]
    tables = {}
    for folder in folders:
        name, table = _compare(folder, options)
        print(_text(table), "", sep="\n", flush=True)
        tables[text_cell(name)] = table
    tables = pd.concat(tables, names=["experiment"])
    out.mkdir(parents=True, exist_ok=True)
    write_whole(out / "comparison.csv", tables.to_csv().encode())
    print(out / "comparison.csv")
    outside = tables[tables["deviation"].abs() > DEVIATION_LIMIT]
    for experiment, quantity, statistic in outside.index:
        print(
            f"{experiment}: {quantity}, {statistic}: more than {DEVIATION_LIMIT:g} standard errors "
            "from the model"
        )
    return 1 if len(outside) else 0


def _run_experiment(out, name, options) -> Path:
    """Let the robot stand still; return the results' folder."""
    folder = out / name
    if folder.exists():
        raise ResultError(f"{folder}: exists; give another --out, or --results {folder}")
    duration = 60.0 * options.minutes
    if not 0.0 < duration <= LONGEST_WINDOW:
        raise ConfigurationError(
            f"--minutes is {options.minutes:g}, but it must be above 0 and at most "
            f"{LONGEST_WINDOW / 60.0:g}"
        )
    parameters = options.parameters or COMPARED.get(PRESETS[name].model, {})
    standing = folder / f"{AT_REST}.tum"
    folder.mkdir(parents=True)
    poses = (f"{t:.2f} 0 0 0 0 0 0 1\n" for t in np.linspace(0.0, duration, STANDING_POSES))
    write_whole(standing, "".join(poses).encode())
    settings = {
        "experiment": {"name": AT_REST},
        f"imu_{PRESETS[name].model}": parameters,
        # The standing robot's pose serves as the recording, which has no IMU.
        "imu_recording": {"use": False},
        "reference": {"format": "tum"},
    }
    code = subprocess.call(
        [
            *("rosrun", "imu_simulation_framework", "run_experiment.py"),
            f"simulator:={options.simulator}",
            f"recording:={standing.resolve()}",
            f"imu:={name}",
            "controller:=open_loop",
            "record:=true",
            f"seed:={options.seed}",
            f"output:={folder.resolve()}",
            f"settings:={yaml.safe_dump(settings, default_flow_style=True, width=10**6).strip()}",
        ]
    )
    if code:
        raise ResultError(f"{folder}: the experiment ended with code {code}, see above")
    (result,) = folder.glob(f"{AT_REST}/*/1")
    return result


def _compare(folder, options):
    """Return a name for the experiment in this folder, and the table of its statistics."""
    folder = find_result(folder)
    experiment = load_experiment_at_rest(folder)
    # Other random numbers than those of the experiment itself.
    seed = options.seed + 1
    model = make_imu_model(experiment.model, experiment.parameters, experiment.period, seed)
    progress = functools.partial(tqdm, desc="model", unit=" runs", disable=None)
    table = compare_with_model(experiment.imu, model, options.runs, progress)
    lost = experiment.expected - experiment.received
    print(f"{folder.folder}: {experiment.simulator}, {experiment.received} messages, {lost} lost")
    return f"{experiment.simulator}, {experiment.model}", table


def _text(table) -> str:
    shown = table.reset_index()
    for column in ("recorded", "model"):
        shown[column] = shown[column].map("{:.6g}".format)
    shown["standard_error"] = shown["standard_error"].map("{:.2g}".format)
    shown["deviation"] = shown["deviation"].map("{:+.2f}".format, na_action="ignore").fillna("-")
    return shown.to_string(index=False)


def _parser():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="folder for all results")
    parser.add_argument(
        "--results",
        nargs="+",
        metavar="RESULT",
        help="evaluate these instead: results of experiments with record:=true, robot at rest",
    )
    parser.add_argument("--simulator", default="gazebo", choices=("gazebo", "mujoco"))
    parser.add_argument(
        "--imu",
        nargs="+",
        default=["hector", "generic"],
        choices=[name for name in PRESETS if name != "specification"],
    )
    parser.add_argument(
        "--parameters",
        type=_mapping,
        metavar="YAML",
        help="of the IMU models, instead of those with which every error shows",
    )
    parser.add_argument("--minutes", type=float, default=20.0, metavar="M", help="default: 20")
    parser.add_argument("--runs", type=_count, default=100, help="of the model (default: 100)")
    parser.add_argument("--seed", type=whole_number, default=1, metavar="S", help="default: 1")
    return parser


def _mapping(text):
    try:
        value = load_plain(text)
    except NOT_YAML:
        value = None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(f"'{text}' is no mapping {{key: value, ...}}")
    return value


def _count(text):
    if not text.isdecimal() or int(text) < 2:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of at least 2")
    return int(text)
