"""How well a model identified on half of a town drive predicts the other half: ten drives.

A simulated car drives for a quarter of an hour along straight roads and round corners, and stops.
Its receiver gives a position a second, with white errors of 0.3 m and a wander of 1.5 m over a
minute, and velocities that are 0.35 s late; its IMU integrates a gyroscope with a scale factor
error of 0.5 %, an angle random walk of 0.1 deg/sqrt(h) and a bias. identify_yaw_error.py is given
the first half and judge_imu.py the second. Wanted: the scale factor within 2 % of the truth and
inside its interval, and p of the whole curve between 0.05 and 0.95 in 8 of 10 drives or more.

    coverage_town_drives.py [DRIVES]
"""

import contextlib
import io
import json
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from _coverage import studied, with_words

from imu_simulation_framework.commands import identify_yaw_error, judge_imu

DURATION, STEP = 900.0, 0.01
LAG, WANDER, WANDER_TIME = 0.35, 1.5, 60.0
SCALE_FACTOR, RANDOM_WALK, BIAS = 0.005, np.radians(0.1 / 60.0), np.radians(20.0 / 3600.0)


def car(random):
    """Speed [m/s] and yaw rate [rad/s] of a drive, at even steps."""
    count, speeds, rates = int(DURATION / STEP), [0.0] * 300, [0.0] * 300

    def go(distance, turn=0.0):
        steps = max(1, int(distance / speeds[-1] / STEP))
        bend = np.sqrt(np.sin(np.linspace(0.0, np.pi, steps)))
        speeds.extend([speeds[-1]] * steps)
        rates.extend(turn * bend / max(np.sum(bend) * STEP, 1e-9))

    def change_to(speed, acceleration):
        change = acceleration * STEP
        while abs(speed - speeds[-1]) > 1e-6:
            speeds.append(speeds[-1] + np.clip(speed - speeds[-1], -change, change))
            rates.append(0.0)

    while len(speeds) < count:
        change_to(random.uniform(8.0, 14.0), 1.5)
        go(random.uniform(80.0, 350.0), random.normal(0.0, 0.1))
        if random.random() < 0.4:
            change_to(0.0, 2.0)
            stop = int(random.uniform(5.0, 30.0) / STEP)
            speeds.extend([0.0] * stop)
            rates.extend([0.0] * stop)
        change_to(5.0, 1.5)
        corner = random.choice([-1.0, 1.0, 1.0, 0.0]) * random.uniform(0.45, 0.55) * np.pi
        go(max(5.0, abs(corner) * random.uniform(8.0, 14.0)), corner)
    return np.array(speeds[:count]), np.array(rates[:count])


def receiver(speed, yaw, random):
    """Positions and velocities that a receiver gives of a drive, once a second."""
    velocity = speed[:, np.newaxis] * np.column_stack([np.cos(yaw), np.sin(yaw)])
    time, fixes = STEP * np.arange(len(yaw)), np.arange(0, len(yaw), round(1.0 / STEP))
    late = np.maximum(fixes - round(LAG / STEP), 0)
    wander = WANDER * random.standard_normal((len(fixes), 2))
    kept = np.exp(-1.0 / WANDER_TIME)
    for sample in range(1, len(fixes)):
        wander[sample] = kept * wander[sample - 1] + np.sqrt(1.0 - kept**2) * wander[sample]
    white = random.standard_normal((2, len(fixes), 2))
    told = pd.DataFrame(
        STEP * np.cumsum(velocity, axis=0)[fixes] + wander + 0.3 * white[0],
        columns=["x", "y"],
        index=pd.Index(time[fixes], name="time"),
    ).assign(position_error=WANDER)
    told[["velocity_east", "velocity_north"]] = velocity[late] + 0.05 * white[1]
    return told


def write_halves(folder, number):
    """Write what receiver and IMU of a drive give, half by half; return the configurations."""
    random = np.random.default_rng(number)
    speed, rate = car(random)
    time, yaw = STEP * np.arange(len(rate)), STEP * np.cumsum(rate)
    told = receiver(speed, yaw, random)
    noise = RANDOM_WALK / np.sqrt(STEP) * random.standard_normal(len(time))
    gyroscope = (1.0 + SCALE_FACTOR) * rate + BIAS * random.standard_normal() + noise
    imu = pd.DataFrame(
        {"yaw [rad]": STEP * np.cumsum(gyroscope), "gyro_z [rad/s]": gyroscope},
        index=pd.Index(time, name="time [s]"),
    )[::2]
    configurations = []
    for half in range(2):
        begin, end = 0.5 * half * DURATION, 0.5 * (half + 1) * DURATION - STEP
        told.loc[begin:end].to_csv(folder / f"fixes_{half}.csv", float_format="%.5f")
        imu.loc[begin:end].to_csv(folder / f"imu_{half}.csv", float_format="%.7f")
        configurations.append(folder / f"half_{half}.ini")
        configurations[-1].write_text(
            f"[reference]\npath = fixes_{half}.csv\n[imu_recording]\npath = imu_{half}.csv\n"
        )
    return map(str, configurations)


def study(number):
    """Identify the first half of a drive: its scale factor, and p of the second half's curve."""
    with tempfile.TemporaryDirectory() as place, contextlib.redirect_stdout(io.StringIO()):
        folder = Path(place)
        first, second = write_halves(folder, number)
        model = folder / "identified" / "yaw_error_model.yaml"
        identify_yaw_error.main([first, "--out", str(model.parent)])
        judge_imu.main([second, "--imu", str(model), "--out", str(folder / "judged")])
        (judged,) = json.loads((folder / "judged" / "judgement.json").read_text())["imus"]
        scale = yaml.safe_load(model.read_text())["parameters"].get("scale_factor")
    return scale, judged


def main(drives=10):
    within = inside = predicted = 0
    for number, (scale, judged) in enumerate(studied(study, drives)):
        p = judged["looks"][0]["p_value"]  # of the whole curve
        predicted += 0.05 <= p <= 0.95
        said = "may be 0"
        if scale:
            within += abs(scale["value"] - SCALE_FACTOR) < 0.02
            inside += scale["low"] <= SCALE_FACTOR <= scale["high"]
            said = "{value:.4f} ({low:.4f} to {high:.4f})".format(**scale)
        print(f"drive {number}: scale factor {said}, p {p:.3f}, {judged['verdict']}")
    print(f"of {drives} drives: scale factor within 2 % {within}, inside its interval {inside}")
    print(f"second half predicted, p between 0.05 and 0.95: {predicted}")


if __name__ == "__main__":
    with_words(main, int)
