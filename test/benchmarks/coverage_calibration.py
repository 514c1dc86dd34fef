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

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from _coverage import held, studied, with_words

import imu_simulation_framework as isf
from imu_simulation_framework.characterisation.calibration.estimates import SlowNoise
from imu_simulation_framework.characterisation.calibration.inertial import (
    TemperatureFit,
    calibrate_accelerometer,
    calibrate_gyroscope,
    correction_of,
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
from imu_simulation_framework.core.tables import ACCEL, GYRO
from imu_simulation_framework.core.units import WORLD_GRAVITY
from imu_simulation_framework.sensors.correction import what_is_left

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit" / "characterisation"))
from calibration_records import (
    chamber_record,
    free_record,
    magnetic_record,
    rest_record,
    symmetric_part,
    table_record,
)

TRIADS = ("gyroscope", "accelerometer")


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


def triad_held(found, bias, matrix):
    """Whether each interval holds, 12 of a triad."""
    return held([*found.bias, *(one for row in found.matrix for one in row)],
                [*bias, *np.ravel(matrix)])  # fmt: skip


def study(seed, case):
    """Whether each interval of one recording holds."""
    kind, _, how = case.partition(", ")
    if kind in ("known", "found"):
        sensor, *found = calibrated(seed, kind == "known")
        parts = []
        for name, what in zip(TRIADS, found):
            triad = getattr(sensor, name)
            parts += triad_held(what, triad.turn_on_bias, triad.scale_factor_and_misalignment)
        return parts
    if kind == "rest":
        times, values = rest_record(seed, how)
        found = calibrate_gyroscope(times, values, [RestTime(0, len(times))])
        return held(found.bias, (0.0, 0.0, 0.0))
    if kind == "free":
        sensor, times, values = free_record(seed)
        rests = find_rest(times, values, [*GYRO, *ACCEL], "made")
        triad = sensor.accelerometer
        found = calibrate_accelerometer_freely(
            times, values[:, 3:], rests, noise=noise_of(triad), gravity=WORLD_GRAVITY
        )
        every = triad_held(found, triad.turn_on_bias, symmetric_part(triad))
        return [every[k] for k in SYMMETRIC]
    if kind == "chamber":
        times, values, temperatures, triad, scale, bias = chamber_record(seed)
        found = calibrate_accelerometer(
            times, values, find_rest(times, values, ACCEL, "made"), gravity=WORLD_GRAVITY,
            noise=(SlowNoise(1e-4),) * 3, temperature=TemperatureFit(temperatures, 20.0, 1, 1),
        )  # fmt: skip
        over = [*found.temperature_bias[0], *found.temperature_scale[0]]
        here = triad_held(found, triad.turn_on_bias, triad.scale_factor_and_misalignment)
        return here + held(over, [*bias, *scale])
    flicker = 0.1e-6 if kind == "wandering" else 0.0
    samples = 4500 if flicker and how == "found" else 1500
    times, readings, hard, soft = magnetic_record(seed, samples, flicker)
    noise = (SlowNoise(0.6e-6 * np.sqrt(0.04), flicker),) * 3 if how == "known" else None
    every = triad_held(fit_to_sphere(times, readings, noise=noise).calibration, hard, soft)
    return [every[k] for k in SYMMETRIC]


SYMMETRIC = (0, 1, 2, 3, 4, 5, 7, 8, 11)  # of bias and matrix, what is different
NAMES = {
    **dict.fromkeys(("known", "found"), TRIADS),
    **dict.fromkeys([f"rest, {name}" for name in ("bno055", "stim300", "adis16470")], TRIADS[:1]),
    **dict.fromkeys(("free", "chamber"), TRIADS[1:]),
    **{
        f"{kind}, {noise}": ("magnetometer",)
        for kind in ("magnetometer", "wandering")
        for noise in ("known", "found")
    },
}


def coverage(case, count):
    """Print the share of intervals that hold for each quantity."""
    found = np.array(studied(study, count, case))
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


def corrections(found):
    """The corrections of gyroscope and accelerometer."""
    return {name: correction_of(one) for name, one in zip(TRIADS, found)}


def ends(seed, motion):
    """The heading's error of a sensor after a drive, before and after its calibration [deg]."""
    sensor, *found = calibrated(seed, True)
    left = {
        name: residual(getattr(sensor, name), correction)
        for name, correction in corrections(found).items()
    }
    return [
        np.degrees(isf.yaw_error(isf.simulate_imu(motion, one, seed=seed), motion).iloc[-1])
        for one in (sensor, replace(sensor, **left))
    ]


def budget(population, motion):
    """The rms of the heading's error of sensors whose matrices are drawn, too [deg].

    A specification has one sensor's scale factors and misalignments. Here they stand for standard
    deviations, whose effects add as squares.
    """

    def with_matrix(sensor, name, matrix):
        triad = replace(getattr(sensor, name), scale_factor_and_misalignment=matrix.tolist())
        return replace(sensor, **{name: triad})

    plain = population
    for name in TRIADS:
        plain = with_matrix(plain, name, np.zeros((3, 3)))
    model = isf.yaw_error_model(plain, motion)
    mean = model.mean()[-1]
    total = mean**2 + model.variance()[-1]
    for name in TRIADS:
        matrix = np.array(getattr(population, name).scale_factor_and_misalignment)
        for place in np.eye(9).reshape(9, 3, 3):
            with_one = isf.yaw_error_model(with_matrix(plain, name, place * matrix), motion)
            total += (with_one.mean()[-1] - mean) ** 2
    return np.degrees(np.sqrt(total))


def heading(sensors=40):
    """Print the heading's error after ten minutes, budget and experiment, before and after."""
    sensor, *found = calibrated(1, True)
    correction = isf.characterisation.ImuCorrection("x", **corrections(found))
    configuration = isf.load_configuration(overrides={"trajectory": {"stop": 600.0}})
    motion = isf.robot_motion(configuration)
    # Before, what the sensors of calibration_records are drawn with.
    drawn = {
        name: replace(
            getattr(sensor, name), turn_on_bias=0.0, turn_on_bias_sigma=sigma,
            scale_factor_and_misalignment=np.full((3, 3), 0.01).tolist(),
        )
        for name, sigma in zip(TRIADS, (0.01, 0.2))
    }  # fmt: skip
    left = what_is_left(correction, sensor, "left")
    for name, population, errors in zip(
        ("before", "after"),
        (replace(sensor, **drawn), left),
        np.transpose(studied(ends, sensors, motion)),
    ):
        print(
            f"heading after 600 s of drive A, {name} calibration: budget "
            f"{budget(population, motion):.2f} deg rms; experiment with {sensors} sensors: "
            f"{np.sqrt(np.mean(errors**2)):.2f} deg rms, the first five "
            f"{' '.join(f'{x:+.2f}' for x in errors[:5])} deg",
            flush=True,
        )


def main(count=200, *cases):
    """Run the cases."""
    for case in NAMES:
        if not cases or case.split(",")[0] in cases:
            coverage(case, count)
    if not cases or "heading" in cases:
        heading()


if __name__ == "__main__":
    with_words(main, int)
