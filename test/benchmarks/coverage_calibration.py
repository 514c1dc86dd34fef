"""How often the intervals of a calibration hold the truth: 200 simulated recordings each.

* six positions and ten turns either way about each axis, of a BNO055 with drawn biases, scale
  factors and misalignments, placed within half a degree, its noise known and not known;
* 200 tumbling magnetometers with drawn hard and soft iron, with white noise and with a bias that
  wanders as well;
* the heading after ten minutes of drive A before and after, as a budget and as an experiment in
  MuJoCo with one sensor of each, the seed's.

With 200 recordings a share of 95 % has a standard error of 1.5 %; wanted are 90 to 99 %. A random
share of 95 % leaves that band for one in 150 quantities.

    coverage_calibration.py [RECORDINGS [CASE ...]]    cases: known found magnetometer heading
"""

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

import imu_simulation_framework as isf
from imu_simulation_framework.columns import ACCEL, GYRO
from imu_simulation_framework.constants import WORLD_GRAVITY
from imu_simulation_framework.identification.calibration.correction import (
    ImuCorrection,
    correction_of,
    what_is_left,
)
from imu_simulation_framework.identification.calibration.inertial import (
    calibrate_accelerometer,
    calibrate_gyroscope,
    noise_of,
)
from imu_simulation_framework.identification.calibration.rest_times import find_rest
from imu_simulation_framework.identification.calibration.sphere_fit import fit_to_sphere
from imu_simulation_framework.identification.calibration.turns import whole_turns

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit" / "identification"))
from calibration_records import magnetic_record, table_record

PLACES = [(i, j) for i in range(3) for j in range(3)]


def calibrated(seed, known):
    """The drawn sensor and what was found of its gyroscope and accelerometer."""
    sensor, times, values = table_record(seed)
    rests = find_rest(times, values, [*GYRO, *ACCEL], "made")
    turns = whole_turns(times, values[:, :3], rests, 10)
    gyroscope = calibrate_gyroscope(
        times, values[:, :3], rests, turns, noise=noise_of(sensor.gyroscope) if known else None
    )
    accelerometer = calibrate_accelerometer(
        times, values[:, 3:], rests, gravity=WORLD_GRAVITY,
        noise=noise_of(sensor.accelerometer) if known else None,
    )  # fmt: skip
    return sensor, gyroscope, accelerometer


def held(found, bias, matrix):
    """Whether each interval holds, 12 of a triad."""
    pairs = [*zip(found.bias, bias), *((found.matrix[i][j], matrix[i][j]) for i, j in PLACES)]
    return [one.low <= truth <= one.high for one, truth in pairs]


def study(task):
    """Whether each interval of one recording holds."""
    case, seed = task
    if case in ("known", "found"):
        sensor, *found = calibrated(seed, case == "known")
        triads = (sensor.gyroscope, sensor.accelerometer)
        return [
            one
            for what, triad in zip(found, triads)
            for one in held(what, triad.turn_on_bias, triad.scale_factor_and_misalignment)
        ]
    wandering = 0.1e-6 if case == "wandering magnetometer" else 0.0
    times, readings, hard, soft = magnetic_record(seed, wandering=wandering)
    every = held(fit_to_sphere(times, readings).calibration, hard, soft)
    # The matrix is symmetric.
    return [every[k] for k in (0, 1, 2, 3, 4, 5, 7, 8, 11)]


NAMES = {
    "known": ("gyroscope", "accelerometer"),
    "found": ("gyroscope", "accelerometer"),
    "magnetometer": ("magnetometer",),
    "wandering magnetometer": ("magnetometer",),
}


def coverage(pool, case, count):
    """Print the share of intervals that hold for each quantity."""
    found = np.array(list(pool.map(study, [(case, seed) for seed in range(count)])))
    print(f"{case}: {count} recordings, share of 95 % intervals that hold [%]")
    for name, part in zip(NAMES[case], np.split(100.0 * found.mean(axis=0), len(NAMES[case]))):
        bias, matrix = part[:3], part[3:]
        print(
            f"  {name:13s} bias {' '.join(f'{x:.1f}' for x in bias)}, scale factors and "
            f"misalignments {' '.join(f'{x:.1f}' for x in matrix)}",
            flush=True,
        )


def residual(triad, correction):
    """The errors of a triad whose readings are corrected."""
    inverse = np.linalg.inv(correction.matrix)
    whole = inverse @ (np.eye(3) + np.array(triad.scale_factor_and_misalignment))
    return replace(
        triad,
        turn_on_bias=tuple((inverse @ (np.array(triad.turn_on_bias) - correction.bias)).tolist()),
        scale_factor_and_misalignment=(whole - np.eye(3)).tolist(),
    )


def heading(seed=1):
    """Print the heading's error after ten minutes, budget and experiment, before and after."""
    sensor, gyroscope, accelerometer = calibrated(seed, True)
    correction = ImuCorrection("x", correction_of(gyroscope), correction_of(accelerometer))
    configuration = isf.load_configuration(overrides={"trajectory": {"stop": 600.0}})
    motion = isf.robot_motion(configuration)
    # Before, what the sensors of calibration_records are drawn with.
    one_percent = (np.full((3, 3), 0.01)).tolist()
    drawn = replace(
        sensor,
        gyroscope=replace(
            sensor.gyroscope, turn_on_bias=0.0, turn_on_bias_sigma=0.01,
            scale_factor_and_misalignment=one_percent,
        ),
        accelerometer=replace(
            sensor.accelerometer, turn_on_bias=0.0, turn_on_bias_sigma=0.2,
            scale_factor_and_misalignment=one_percent,
        ),
    )  # fmt: skip
    left = replace(
        sensor,
        gyroscope=residual(sensor.gyroscope, correction.gyroscope),
        accelerometer=residual(sensor.accelerometer, correction.accelerometer),
    )
    for name, population, one in (
        ("before", drawn, sensor),
        ("after", what_is_left(correction, sensor, "left"), left),
    ):
        model = isf.yaw_error_model(population, motion)
        size = np.degrees(np.hypot(model.mean()[-1], np.sqrt(model.variance()[-1])))
        ends = [
            np.degrees(isf.yaw_error(isf.simulate_imu(motion, one, seed=k), motion).iloc[-1])
            for k in range(5)
        ]
        print(
            f"heading after 600 s of drive A, {name} calibration: budget {size:.2f} deg rms; "
            f"experiment with sensor {seed}, five drives: {' '.join(f'{x:+.2f}' for x in ends)} deg"
        )


def main(count=200, *cases):
    """Run the cases."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for case in NAMES:
            if not cases or case in cases:
                coverage(pool, case, count)
    if not cases or "heading" in cases:
        heading()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
