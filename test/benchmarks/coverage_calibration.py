"""How often the intervals of a calibration hold the truth: 200 simulated recordings each.

* six positions and ten turns either way about each axis, of a BNO055 with drawn biases, scale
  factors and misalignments, placed within half a degree, its noise ``known`` and ``found``;
* ``rest``: five minutes at rest of gyroscopes whose specifications state flicker noise, of little
  and of much, its noise found;
* ``free``: fifteen positions of any kind, the noise known;
* ``chamber``: six positions at each of three temperatures, the noise known, scale factors and
  biases that change with the temperature;
* ``magnetometer``: tumbling for a minute with drawn hard and soft iron, white noise of 0.6 uT at
  25 Hz, its noise known and found; and ``wandering``, with flicker noise of 0.1 uT as well: a
  minute with its noise known, three minutes with its noise found;
* ``heading``: that after ten minutes of drive A in MuJoCo, before and after the calibration, as a
  budget and as an experiment with forty sensors, each calibrated by a recording of its own.

With 200 recordings a share of 95 % has a standard error of 1.5 %; wanted are 90 to 99 %. A random
share of 95 % leaves that band for one in 150 quantities.

    coverage_calibration.py [RECORDINGS [CASE ...]]
"""

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

import imu_simulation_framework as isf
from imu_simulation_framework.characterisation.calibration.correction import (
    ImuCorrection,
    correction_of,
    what_is_left,
)
from imu_simulation_framework.characterisation.calibration.estimates import SlowNoise
from imu_simulation_framework.characterisation.calibration.inertial import (
    TemperatureFit,
    calibrate_accelerometer,
    calibrate_gyroscope,
    noise_of,
)
from imu_simulation_framework.characterisation.calibration.rest_times import (
    RestTime,
    find_rest,
    whole_turns,
)
from imu_simulation_framework.characterisation.calibration.sphere_fit import (
    calibrate_accelerometer_freely,
    fit_to_sphere,
)
from imu_simulation_framework.core.columns import ACCEL, GYRO
from imu_simulation_framework.core.constants import WORLD_GRAVITY

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit" / "identification"))
from calibration_records import (
    chamber_record,
    free_record,
    magnetic_record,
    rest_record,
    symmetric_part,
    table_record,
)

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
    if case.startswith("rest"):
        times, values = rest_record(seed, case.split(", ")[1])
        found = calibrate_gyroscope(times, values, [RestTime(0, len(times))])
        return [one.low <= 0.0 <= one.high for one in found.bias]
    if case == "free":
        sensor, times, values = free_record(seed)
        rests = find_rest(times, values, [*GYRO, *ACCEL], "made")
        triad = sensor.accelerometer
        found = calibrate_accelerometer_freely(
            times, values[:, 3:], rests, noise=noise_of(triad), gravity=WORLD_GRAVITY
        )
        every = held(found, triad.turn_on_bias, symmetric_part(triad))
        return [every[k] for k in SYMMETRIC]
    if case == "chamber":
        times, values, temperatures, triad, scale, bias = chamber_record(seed)
        found = calibrate_accelerometer(
            times, values, find_rest(times, values, ACCEL, "made"), gravity=WORLD_GRAVITY,
            noise=(SlowNoise(1e-4),) * 3, temperature=TemperatureFit(temperatures, 20.0, 1, 1),
        )  # fmt: skip
        over = zip([*found.temperature_bias[0], *found.temperature_scale[0]], [*bias, *scale])
        here = held(found, triad.turn_on_bias, triad.scale_factor_and_misalignment)
        return here + [one.low <= truth <= one.high for one, truth in over]
    wanders, known = case.startswith("wandering"), case.endswith("known")
    flicker = 0.1e-6 if wanders else 0.0
    samples = 4500 if wanders and not known else 1500
    times, readings, hard, soft = magnetic_record(seed, samples, flicker)
    noise = (SlowNoise(0.6e-6 * np.sqrt(0.04), flicker),) * 3 if known else None
    every = held(fit_to_sphere(times, readings, noise=noise).calibration, hard, soft)
    return [every[k] for k in SYMMETRIC]


SYMMETRIC = (0, 1, 2, 3, 4, 5, 7, 8, 11)
"""Of bias and matrix, what is different."""
NAMES = {
    "known": ("gyroscope", "accelerometer"),
    "found": ("gyroscope", "accelerometer"),
    **{f"rest, {name}": ("gyroscope",) for name in ("bno055", "stim300", "adis16470")},
    "free": ("accelerometer",),
    "chamber": ("accelerometer",),
    "magnetometer, known": ("magnetometer",),
    "magnetometer, found": ("magnetometer",),
    "wandering, known": ("magnetometer",),
    "wandering, found": ("magnetometer",),
}


def coverage(pool, case, count):
    """Print the share of intervals that hold for each quantity."""
    found = np.array(list(pool.map(study, [(case, seed) for seed in range(count)])))
    print(f"{case}: {count} recordings, share of 95 % intervals that hold [%]")
    for name, part in zip(NAMES[case], np.split(100.0 * found.mean(axis=0), len(NAMES[case]))):
        listed = [f"{share:.1f}" for share in part]
        over = f", both over temperature {' '.join(listed[12:])}" if len(part) > 12 else ""
        if len(part) > 3:
            over = f", scale factors and misalignments {' '.join(listed[3:12])}{over}"
        print(f"  {name:13s} bias {' '.join(listed[:3])}{over}", flush=True)


def residual(triad, correction):
    """The errors of a triad whose readings are corrected."""
    inverse = np.linalg.inv(correction.matrix)
    whole = inverse @ (np.eye(3) + np.array(triad.scale_factor_and_misalignment))
    return replace(
        triad,
        turn_on_bias=tuple((inverse @ (np.array(triad.turn_on_bias) - correction.bias)).tolist()),
        scale_factor_and_misalignment=(whole - np.eye(3)).tolist(),
    )


def ends(task):
    """The heading's error of a sensor after a drive, before and after its calibration [deg]."""
    seed, motion = task
    sensor, gyroscope, accelerometer = calibrated(seed, True)
    correction = ImuCorrection("x", correction_of(gyroscope), correction_of(accelerometer))
    left = replace(
        sensor,
        gyroscope=residual(sensor.gyroscope, correction.gyroscope),
        accelerometer=residual(sensor.accelerometer, correction.accelerometer),
    )
    return [
        np.degrees(isf.yaw_error(isf.simulate_imu(motion, one, seed=seed), motion).iloc[-1])
        for one in (sensor, left)
    ]


def budget(population, motion):
    """The rms of the heading's error of sensors whose matrices are drawn, too [deg].

    A specification has one sensor's scale factors and misalignments. Here they stand for standard
    deviations, whose effects add as squares.
    """
    none = np.zeros((3, 3)).tolist()
    plain = population
    for name in ("gyroscope", "accelerometer"):
        triad = replace(getattr(plain, name), scale_factor_and_misalignment=none)
        plain = replace(plain, **{name: triad})
    model = isf.yaw_error_model(plain, motion)
    mean = model.mean()[-1]
    total = mean**2 + model.variance()[-1]
    for name in ("gyroscope", "accelerometer"):
        for i, j in PLACES:
            matrix = np.zeros((3, 3))
            matrix[i, j] = getattr(population, name).scale_factor_and_misalignment[i][j]
            triad = replace(getattr(plain, name), scale_factor_and_misalignment=matrix.tolist())
            with_one = isf.yaw_error_model(replace(plain, **{name: triad}), motion)
            total += (with_one.mean()[-1] - mean) ** 2
    return np.degrees(np.sqrt(total))


def heading(pool, sensors=40):
    """Print the heading's error after ten minutes, budget and experiment, before and after."""
    sensor, gyroscope, accelerometer = calibrated(1, True)
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
    found = np.array(list(pool.map(ends, [(seed, motion) for seed in range(sensors)])))
    for name, population, errors in (
        ("before", drawn, found[:, 0]),
        ("after", what_is_left(correction, sensor, "left"), found[:, 1]),
    ):
        size = budget(population, motion)
        print(
            f"heading after 600 s of drive A, {name} calibration: budget {size:.2f} deg rms; "
            f"experiment with {sensors} sensors: {np.sqrt(np.mean(errors**2)):.2f} deg rms, the "
            f"first five {' '.join(f'{x:+.2f}' for x in errors[:5])} deg",
            flush=True,
        )


def main(count=200, *cases):
    """Run the cases."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for case in NAMES:
            if not cases or case.split(",")[0] in cases:
                coverage(pool, case, count)
        if not cases or "heading" in cases:
            heading(pool)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
