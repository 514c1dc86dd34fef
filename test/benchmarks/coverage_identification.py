"""Whether identify_yaw_error.py takes the reference's errors for the sensor's: drives from files.

A simulated car drives for seven and a half minutes; what its reference and its IMU say is written
to files, which are read and identified as the program does. No part of the package makes the truth.
The reference errs in one way each: white, correlated for ten seconds, late, slipping in turns; or
it is the course of a satellite receiver that wanders, whose velocities are late. Of white and
correlated errors a config.ini states the size and the time, of the late and the slipping reference
only a small white error. The gyroscope has an angle random walk, a bias and a scale factor, or no
error at all.

Wanted: each 95 % interval holds the truth in 90 to 99 % of the drives in which it is given, and
without a sensor's error no term of the sensor is claimed, as an interval without zero is, in more
than 5 %.

    coverage_identification.py [DRIVES [FIRST [KIND ...]]]
"""

import contextlib
import io
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from _coverage import standard_error, studied, with_words
from coverage_town_drives import DURATION as OF_TOWN
from coverage_town_drives import STEP, car, receiver

from imu_simulation_framework.drive.yaw_signals import read_drives
from imu_simulation_framework.heading.identification.identify import identify_yaw_error

DURATION = 0.5 * OF_TOWN
TRUTH = {
    "angle_random_walk": np.radians(2.0 / 60.0),
    "rate_bias": np.radians(40.0 / 3600.0),
    "scale_factor": 0.005,
}
"""Of the gyroscope; the others below are zero. The bias is a standard deviation."""
TERMS = (
    *("angle_random_walk", "rate_random_walk", "rate_drift_sigma", "yaw_drift_sigma"),
    *("rate_bias", "scale_factor", "scale_factor_of_absolute_turn"),
)
EVERY = 10  # samples of the truth from one pose of the reference to the next
WHITE, CORRELATED, CORRELATION_TIME = 0.02, 0.02, 10.0
SMALL, LAG, SLIP = 0.003, 0.15, 0.01  # white error [rad], lag [s], and slip [rad/sqrt(rad)]
STATED = {
    "white": f"yaw_deviation = {WHITE}\nyaw_error_time = 0.1",
    "correlated": f"yaw_deviation = {CORRELATED}\nyaw_error_time = {CORRELATION_TIME}",
    "late": f"yaw_deviation = {SMALL}\nyaw_error_time = 0.1",
    "slipping": f"yaw_deviation = {SMALL}\nyaw_error_time = 0.1",
    "course": "",
}


def heading(kind, yaw, random):
    """What a reference says of a heading (n,) at even steps."""
    white = random.standard_normal(len(yaw))
    if kind == "white":
        return yaw + WHITE * white
    if kind == "correlated":
        kept = np.exp(-EVERY * STEP / CORRELATION_TIME)
        error = [white[0]]
        for new in white[1:]:
            error.append(kept * error[-1] + np.sqrt(1.0 - kept**2) * new)
        return yaw + CORRELATED * np.array(error)
    if kind == "late":
        at = STEP * EVERY * np.arange(len(yaw))
        return np.interp(at - LAG * random.standard_normal(), at, yaw) + SMALL * white
    turned = np.abs(np.diff(yaw, prepend=yaw[:1]))
    slipped = np.cumsum(np.sqrt(turned) * random.standard_normal(len(yaw)))
    return yaw + SLIP * slipped + SMALL * white


def write_drive(folder, number, kind, errs):
    """Write what reference and IMU of a drive give; return its config.ini, and the truth."""
    random = np.random.default_rng([number, list(STATED).index(kind)])
    speed, rate = (curve[: round(DURATION / STEP)] for curve in car(random))
    at, yaw = STEP * np.arange(len(rate)), STEP * np.cumsum(rate)
    if kind == "course":
        table = receiver(speed, yaw, random)
    else:
        velocity = speed[:, np.newaxis] * np.column_stack([np.cos(yaw), np.sin(yaw)])
        table = pd.DataFrame(
            STEP * np.cumsum(velocity, axis=0)[::EVERY],
            columns=["x", "y"],
            index=pd.Index(at[::EVERY], name="time"),
        ).assign(yaw=heading(kind, yaw[::EVERY], random))
    table.to_csv(folder / "reference.csv", float_format="%.6f")
    truth = {name: value * errs for name, value in TRUTH.items()}
    truth["rate_bias"] *= random.standard_normal()
    gyroscope = (1.0 + truth["scale_factor"]) * rate + truth["rate_bias"]
    gyroscope += truth["angle_random_walk"] / np.sqrt(STEP) * random.standard_normal(len(at))
    imu = {"yaw [rad]": STEP * np.cumsum(gyroscope), "gyro_z [rad/s]": gyroscope}
    imu = pd.DataFrame(imu, index=pd.Index(at, name="time [s]"))[::2]
    imu.to_csv(folder / "imu.csv", float_format="%.7f")
    (folder / "drive.ini").write_text(
        f"[reference]\npath = reference.csv\n{STATED[kind]}\n[imu_recording]\npath = imu.csv\n"
    )
    return str(folder / "drive.ini"), truth


def study(number, kind, errs):
    """Identify one drive: of each term whether it is claimed and whether its interval holds."""
    begin = time.process_time()
    with tempfile.TemporaryDirectory() as place, contextlib.redirect_stdout(io.StringIO()):
        path, truth = write_drive(Path(place), number, kind, errs)
        (drive,), _ = read_drives([path])
    found = identify_yaw_error([drive.observed], drive.satellite)
    terms = {}
    for name in TERMS:
        if name in found.estimates:
            value, low, high, _ = found.estimates[name]
            claimed = low > 0.0 or high < 0.0
            terms[name] = claimed, low <= truth.get(name, 0.0) <= high, value, low, high
    return terms, found.accepted, time.process_time() - begin


def main(count=100, first=0, *kinds):
    """Print, for each kind of reference, how often terms are claimed and intervals hold."""
    for kind in kinds or STATED:
        for errs in (True, False):
            found = studied(study, count, kind, errs, first=first)
            terms, accepted, seconds = zip(*found)
            nothing = [not any(one[0] for one in of.values()) for of in terms]
            print(f"{kind} reference, {'a' if errs else 'no'} sensor's error: nothing claimed in "
                  f"{_share(nothing)}, all checks passed in {_share(accepted)}; "
                  f"{np.mean(seconds):.1f} s of CPU each")  # fmt: skip
            for name in TERMS:
                there = [of[name] for of in terms if name in of]
                if there:
                    claimed, holds, value, low, high = zip(*there)
                    claimed = [*claimed, *[False] * (count - len(there))]
                    middle = " .. ".join(f"{np.median(one):.2g}" for one in (low, value, high))
                    print(f"  {name:30s} claimed in {_share(claimed)}, holds in {_share(holds)} "
                          f"of {len(there)}; median {middle}", flush=True)  # fmt: skip
    print(standard_error(count))


def _share(these):
    return f"{100.0 * np.mean(these):.0f} %"


if __name__ == "__main__":
    with_words(main, int, int)
