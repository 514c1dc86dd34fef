"""Prediction of the second half of urban drives with a model identified from the first half.

A simulated car drives for 15 minutes along straight roads and round corners, with stops. The GNSS
receiver measures one position per second with white noise of 0.3 m and a Gauss-Markov error of
1.5 m over a minute, and velocities with a delay of 0.35 s. The IMU integrates a gyroscope with a
scale factor error of 0.5 %, an angle random walk of 0.1 deg/sqrt(h) and a bias.
identify_yaw_error.py reads the first half and judge_imu.py the second half. Expected: in at least 8
of 10 drives, the scale factor is within 2 % of the true value and inside its interval, and the
p-value of the whole curve is between 0.05 and 0.95.

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
from _coverage import call_with_arguments, run_study

from imu_simulation_framework.commands.start import run_program

DURATION, STEP = 900.0, 0.01
LAG, WANDER, WANDER_TIME = 0.35, 1.5, 60.0
SCALE_FACTOR, RANDOM_WALK, BIAS = 0.005, np.radians(0.1 / 60.0), np.radians(20.0 / 3600.0)


def simulate_car(random):
    """Return the speed [m/s] and yaw rate [rad/s] of an urban drive at regular times."""
    count, speeds, rates = int(DURATION / STEP), [0.0] * 300, [0.0] * 300

    def add_road(distance, turn=0.0):
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
        add_road(random.uniform(80.0, 350.0), random.normal(0.0, 0.1))
        if random.random() < 0.4:
            change_to(0.0, 2.0)
            stop = int(random.uniform(5.0, 30.0) / STEP)
            speeds.extend([0.0] * stop)
            rates.extend([0.0] * stop)
        change_to(5.0, 1.5)
        corner = random.choice([-1.0, 1.0, 1.0, 0.0]) * random.uniform(0.45, 0.55) * np.pi
        add_road(max(5.0, abs(corner) * random.uniform(8.0, 14.0)), corner)
    return np.array(speeds[:count]), np.array(rates[:count])


def simulate_receiver(speed, yaw, random):
    """Return the positions and velocities that a GNSS receiver measures once per second."""
    velocity = speed[:, np.newaxis] * np.column_stack([np.cos(yaw), np.sin(yaw)])
    time, fixes = STEP * np.arange(len(yaw)), np.arange(0, len(yaw), round(1.0 / STEP))
    late = np.maximum(fixes - round(LAG / STEP), 0)
    wander = WANDER * random.standard_normal((len(fixes), 2))
    kept = np.exp(-1.0 / WANDER_TIME)
    for sample in range(1, len(fixes)):
        wander[sample] = kept * wander[sample - 1] + np.sqrt(1.0 - kept**2) * wander[sample]
    white = random.standard_normal((2, len(fixes), 2))
    fixes_table = pd.DataFrame(
        STEP * np.cumsum(velocity, axis=0)[fixes] + wander + 0.3 * white[0],
        columns=["x", "y"],
        index=pd.Index(time[fixes], name="time"),
    ).assign(position_error=WANDER)
    fixes_table[["velocity_east", "velocity_north"]] = velocity[late] + 0.05 * white[1]
    return fixes_table


def write_halves(folder, number):
    """Write GNSS fixes, IMU and config.ini of each half of a drive; return the config.ini paths."""
    random = np.random.default_rng(number)
    speed, rate = simulate_car(random)
    time, yaw = STEP * np.arange(len(rate)), STEP * np.cumsum(rate)
    fixes_table = simulate_receiver(speed, yaw, random)
    noise = RANDOM_WALK / np.sqrt(STEP) * random.standard_normal(len(time))
    gyroscope = (1.0 + SCALE_FACTOR) * rate + BIAS * random.standard_normal() + noise
    imu = pd.DataFrame(
        {"yaw [rad]": STEP * np.cumsum(gyroscope), "gyro_z [rad/s]": gyroscope},
        index=pd.Index(time, name="time [s]"),
    )[::2]
    configurations = []
    for half in range(2):
        begin, end = 0.5 * half * DURATION, 0.5 * (half + 1) * DURATION - STEP
        fixes_table.loc[begin:end].to_csv(folder / f"fixes_{half}.csv", float_format="%.5f")
        imu.loc[begin:end].to_csv(folder / f"imu_{half}.csv", float_format="%.7f")
        configurations.append(folder / f"half_{half}.ini")
        configurations[-1].write_text(
            f"[reference]\npath = fixes_{half}.csv\n[imu_recording]\npath = imu_{half}.csv\n"
        )
    return map(str, configurations)


def study(number):
    """Return the scale factor from the first half of a drive, and the test on the second half."""
    with tempfile.TemporaryDirectory() as place, contextlib.redirect_stdout(io.StringIO()):
        folder = Path(place)
        first, second = write_halves(folder, number)
        model = folder / "identified" / "yaw_error_model.yaml"
        run_program("identify_yaw_error", [first, "--out", str(model.parent)])
        run_program("judge_imu", [second, "--imu", str(model), "--out", str(folder / "judged")])
        (judged,) = json.loads((folder / "judged" / "judgement.json").read_text())["imus"]
        scale = yaml.safe_load(model.read_text())["parameters"].get("scale_factor")
    return scale, judged


def main(drives=10):
    accurate_count = covered_count = predicted_count = 0
    for number, (scale, judged) in enumerate(run_study(study, drives)):
        p = judged["tests"][0]["p_value"]  # p-value for the complete yaw error curve
        predicted_count += 0.05 <= p <= 0.95
        estimate = "not significant"
        if scale:
            accurate_count += abs(scale["value"] - SCALE_FACTOR) < 0.02
            covered_count += scale["low"] <= SCALE_FACTOR <= scale["high"]
            estimate = "{value:.4f} ({low:.4f} to {high:.4f})".format(**scale)
        print(f"drive {number}: scale factor {estimate}, p {p:.3f}, {judged['verdict']}")
    print(
        f"{drives} drives: scale factor within 2 % in {accurate_count}, "
        f"inside its interval in {covered_count}"
    )
    print(f"p-value of the second half between 0.05 and 0.95 in {predicted_count}")


if __name__ == "__main__":
    call_with_arguments(main, int)
