"""Accuracy of the orientation filters on the BROAD data set with optical ground truth.

Laidig, Caruso, Cereatti, Seel: BROAD - a benchmark for robust inertial orientation estimation, Data
6(7), 2021, https://github.com/dlaidig/broad. The data set is not part of this package:

    broad_fusion.py FOLDER [TRIAL ...]

FOLDER is a clone of the repository; TRIAL is a prefix of trial names, by default all trials whose
file exists.

The program uses the error metric of the data set during movement. Without a magnetometer, north is
unknown, so the initial heading is set to the true heading at the start of the first movement. The
published results in example_code/out are from the filters of Mahony and Madgwick with the best
parameters for all 39 trials. The library vqf and this package must give the same results.
"""

import json
import sys
from pathlib import Path

import numpy as np
from scipy.io import loadmat
from scipy.spatial.transform import Rotation

from imu_simulation_framework.sensors.fusion.filters import fuse_run, make_filter
from imu_simulation_framework.sensors.imu_specification import OutputSpecification

MICROTESLA = 1e-6
NORTH = {"magnetic_heading": True}
REJECTING = {**NORTH, "magnetic_disturbance_rejection": True}
FILTERS = {
    "vqf 6D": {"filter": "vqf", "filter_rate_bias": True},
    "vqf 9D, rejecting": {"filter": "vqf", "filter_rate_bias": True, **REJECTING},
    "vqf 9D": {"filter": "vqf", "filter_rate_bias": True, **NORTH},
    "mahony 6D": {"filter_rate_bias": True},
    "mahony 9D, rejecting": {"filter_rate_bias": True, **REJECTING},
    "mahony 9D": {"filter_rate_bias": True, **NORTH},
    "mahony 9D, rejecting, no bias": REJECTING,
}
METRICS = ("total", "heading", "inclination")
PUBLISHED_FILTERS = ("mahony", "madgwick")


def rms_errors(quaternions, truth, moving, has_north):
    """Return the rms errors during movement: total, heading and inclination [deg]."""
    known = moving & np.all(np.isfinite(truth), axis=1)
    error = Rotation.from_quat(quaternions[known]) * Rotation.from_quat(truth[known]).inv()
    if not has_north:
        _, _, z, w = error[0].as_quat()
        error = Rotation.from_euler("z", -2.0 * np.arctan2(z, w)) * error
    _, _, z, w = error.as_quat().T
    angles = (
        2.0 * np.arccos(np.minimum(np.abs(w), 1.0)),
        2.0 * np.arctan(np.abs(z / w)),
        2.0 * np.arccos(np.minimum(np.hypot(w, z), 1.0)),
    )
    return [np.degrees(np.sqrt(np.mean(angle**2))) for angle in angles]


def fuse_by_vqf(period, rate, force, field):
    """Return the orientations estimated by the library vqf without and with the magnetometer."""
    from vqf import VQF

    fused = VQF(period).updateBatch(rate, force, field)
    return (np.roll(fused[name], -1, axis=1) for name in ("quat6D", "quat9D"))


def main(folder, beginnings):
    trials = json.loads((folder / "data_mat" / "trials.json").read_text())["trials"]
    published = {
        f"set's {name}": json.loads(
            (folder / "example_code" / "out" / f"results_{name}_average_rmse.json").read_text()
        )["trials"]
        for name in PUBLISHED_FILTERS
    }
    missing, table = [], {name: [] for name in (*FILTERS, "library 6D", "library 9D", *published)}
    done = []
    for trial in trials:
        if beginnings and not any(trial.startswith(start) for start in beginnings):
            continue
        path = folder / "data_mat" / f"{trial}.mat"
        if not path.is_file():
            missing.append(trial)
            continue
        done.append(trial)
        data = loadmat(path)
        period = 1.0 / float(data["sampling_rate"].item())
        rate, force, field = (
            np.ascontiguousarray(data[f"imu_{name}"], dtype=float) for name in ("gyr", "acc", "mag")
        )
        truth = np.roll(data["opt_quat"], -1, axis=1)
        moving = data["movement"].ravel().astype(bool)
        for name, settings in FILTERS.items():
            output = OutputSpecification(**settings)
            has_north = output.magnetic_heading
            signals = [rate, force] + ([MICROTESLA * field] if has_north else [])
            fused = fuse_run(make_filter(output, period), [0.0, 0.0, 0.0, 1.0], *signals)
            table[name].append(rms_errors(fused, truth, moving, has_north))
        for name, fused in zip("69", fuse_by_vqf(period, rate, force, field)):
            table[f"library {name}D"].append(rms_errors(fused, truth, moving, name == "9"))
        for name, results in published.items():
            trial_results = results[trial]["tagp_parameters"]
            table[name].append([trial_results[f"{metric}_rmse_deg"] for metric in METRICS])
        row = "  ".join(f"{table[name][-1][0]:6.2f}" for name in table)
        print(f"{trial:44} {row}", flush=True)
    print(f"{len(done)} trials; total error [deg] of {', '.join(table)}")
    print(f"missing files: {', '.join(missing) or 'none'}\n")
    kinds = {"all": "", "undisturbed": "_undisturbed_", "disturbed": "_disturbed_"}
    for kind, part in kinds.items():
        chosen = [index for index, trial in enumerate(done) if part in trial]
        print(f"{kind + ' ' + str(len(chosen)):32}" + "".join(f"{name:>13}" for name in METRICS))
        for name, rows in table.items():
            means = np.mean(np.array(rows)[chosen], axis=0) if chosen else []
            print(f"  {name:30}" + "".join(f"{value:13.3f}" for value in means))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        print("argument FOLDER is missing; no evaluation")
    else:
        main(Path(sys.argv[1]), sys.argv[2:])
