"""Separation of reference errors and sensor errors by identify_yaw_error.py.

A car drives for seven and a half minutes in a simulation that is independent of the package. The
reference and the IMU are written to files, read and identified as by the program. Each reference
has one kind of error: white noise, noise with a correlation time of ten seconds, a delay, or slip
in turns. A further reference is the course over ground of a GNSS receiver with position drift and
delayed velocities. The config.ini specifies standard deviation and correlation time of white and
correlated errors; for delay and slip, it specifies only a small white error. The gyroscope has an
angle random walk, a bias and a scale factor error, or no error.

Expected: the coverage of each 95 % interval is 90 to 99 %. Without sensor errors, an interval
excludes zero in at most 5 % of the drives.

    coverage_identification.py [DRIVES [FIRST [KIND ...]]]
"""

import contextlib
import io
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from _coverage import call_with_arguments, run_study, standard_error
from coverage_town_drives import DURATION as TOWN_DURATION
from coverage_town_drives import STEP, simulate_car, simulate_receiver

from imu_simulation_framework.drive.observed_drives import read_drives
from imu_simulation_framework.heading.identification.identify import identify_yaw_error

DURATION = 0.5 * TOWN_DURATION
# True gyroscope errors; other terms are zero. The bias is a standard deviation.
TRUTH = {
    "angle_random_walk": np.radians(2.0 / 60.0),
    "rate_bias": np.radians(40.0 / 3600.0),
    "scale_factor": 0.005,
}
TERMS = (
    *("angle_random_walk", "rate_random_walk", "rate_drift_sigma", "yaw_drift_sigma"),
    *("rate_bias", "scale_factor", "scale_factor_of_absolute_turn"),
)
SAMPLES_PER_POSE = 10
WHITE, CORRELATED, CORRELATION_TIME = 0.02, 0.02, 10.0
SMALL, LAG, SLIP = 0.003, 0.15, 0.01  # white error [rad], delay [s], and slip [rad/sqrt(rad)]
STATED = {
    "white": f"yaw_deviation = {WHITE}\nyaw_error_time = 0.1",
    "correlated": f"yaw_deviation = {CORRELATED}\nyaw_error_time = {CORRELATION_TIME}",
    "late": f"yaw_deviation = {SMALL}\nyaw_error_time = 0.1",
    "slipping": f"yaw_deviation = {SMALL}\nyaw_error_time = 0.1",
    "course": "",
}


def measure_yaw(kind, yaw, random):
    """Return the yaw that a reference measures at regular times, shape (n,)."""
    white = random.standard_normal(len(yaw))
    if kind == "white":
        return yaw + WHITE * white
    if kind == "correlated":
        decay = np.exp(-SAMPLES_PER_POSE * STEP / CORRELATION_TIME)
        error = [white[0]]
        for new in white[1:]:
            error.append(decay * error[-1] + np.sqrt(1.0 - decay**2) * new)
        return yaw + CORRELATED * np.array(error)
    if kind == "late":
        times = STEP * SAMPLES_PER_POSE * np.arange(len(yaw))
        return np.interp(times - LAG * random.standard_normal(), times, yaw) + SMALL * white
    turns = np.abs(np.diff(yaw, prepend=yaw[:1]))
    slip = np.cumsum(np.sqrt(turns) * random.standard_normal(len(yaw)))
    return yaw + SLIP * slip + SMALL * white


def write_drive(folder, number, kind, has_sensor_error):
    """Write a drive's reference, IMU and config.ini; return its path and the true sensor errors."""
    random = np.random.default_rng([number, list(STATED).index(kind)])
    speed, rate = (curve[: round(DURATION / STEP)] for curve in simulate_car(random))
    times, yaw = STEP * np.arange(len(rate)), STEP * np.cumsum(rate)
    if kind == "course":
        table = simulate_receiver(speed, yaw, random)
    else:
        velocity = speed[:, np.newaxis] * np.column_stack([np.cos(yaw), np.sin(yaw)])
        table = pd.DataFrame(
            STEP * np.cumsum(velocity, axis=0)[::SAMPLES_PER_POSE],
            columns=["x", "y"],
            index=pd.Index(times[::SAMPLES_PER_POSE], name="time"),
        ).assign(yaw=measure_yaw(kind, yaw[::SAMPLES_PER_POSE], random))
    table.to_csv(folder / "reference.csv", float_format="%.6f")
    truth = {name: value * has_sensor_error for name, value in TRUTH.items()}
    truth["rate_bias"] *= random.standard_normal()
    gyroscope = (1.0 + truth["scale_factor"]) * rate + truth["rate_bias"]
    gyroscope += truth["angle_random_walk"] / np.sqrt(STEP) * random.standard_normal(len(times))
    imu = {"yaw [rad]": STEP * np.cumsum(gyroscope), "gyro_z [rad/s]": gyroscope}
    imu = pd.DataFrame(imu, index=pd.Index(times, name="time [s]"))[::2]
    imu.to_csv(folder / "imu.csv", float_format="%.7f")
    (folder / "drive.ini").write_text(
        f"[reference]\npath = reference.csv\n{STATED[kind]}\n[imu_recording]\npath = imu.csv\n"
    )
    return str(folder / "drive.ini"), truth


def study(number, kind, has_sensor_error):
    """Identify the model of one drive; return its terms, whether it was accepted, and CPU time."""
    begin = time.process_time()
    with tempfile.TemporaryDirectory() as place, contextlib.redirect_stdout(io.StringIO()):
        path, truth = write_drive(Path(place), number, kind, has_sensor_error)
        (drive,), _ = read_drives([path])
    result = identify_yaw_error([drive.observed], drive.satellite)
    terms = {}
    for name in TERMS:
        if name in result.estimates:
            value, low, high, _ = result.estimates[name]
            claimed = low > 0.0 or high < 0.0
            terms[name] = claimed, low <= truth.get(name, 0.0) <= high, value, low, high
    return terms, result.accepted, time.process_time() - begin


def main(count=100, first=0, *kinds):
    """Print for each type of reference how often terms are significant, and their coverage."""
    for kind in kinds or STATED:
        for has_sensor_error in (True, False):
            results = run_study(study, count, kind, has_sensor_error, first=first)
            terms, accepted, seconds = zip(*results)
            claims_nothing = [not any(term[0] for term in row.values()) for row in terms]
            sensor = "a sensor error" if has_sensor_error else "no sensor error"
            print(f"{kind} reference, {sensor}: no significant term in "
                  f"{_share(claims_nothing)}, all checks passed in {_share(accepted)}; "
                  f"{np.mean(seconds):.1f} s of CPU each")  # fmt: skip
            for name in TERMS:
                present = [row[name] for row in terms if name in row]
                if present:
                    claimed, covered, value, low, high = zip(*present)
                    claimed = [*claimed, *[False] * (count - len(present))]
                    medians = " .. ".join(
                        f"{np.median(column):.2g}" for column in (low, value, high)
                    )
                    print(f"  {name:30s} significant in {_share(claimed)}, coverage "
                          f"{_share(covered)} of {len(present)}; median {medians}")  # fmt: skip
    print(standard_error(count))


def _share(flags):
    return f"{100.0 * np.mean(flags):.0f} %"


if __name__ == "__main__":
    call_with_arguments(main, int, int)
