"""Coverage of calibration intervals over 200 simulated recordings per case.

* ``known`` and ``found``: a BNO055 with random biases, scale factors and misalignments in six
  positions, accurate to half a degree, and ten turns in both directions about each axis; the noise
  is known, or estimated from the recording.
* ``rest``: gyroscopes with low and with high specified flicker noise, at rest for five minutes; the
  noise is estimated.
* ``free``: fifteen arbitrary orientations; the noise is known.
* ``chamber``: six positions at each of three temperatures, with temperature coefficients of scale
  factors and biases; the noise is known.
* ``magnetometer``: one minute of tumbling with random hard and soft iron and white noise of 0.6 uT
  at 25 Hz; the noise is known or estimated. ``wandering`` adds flicker noise of 0.1 uT; known
  noise requires one minute, estimated noise three minutes.
* ``heading``: yaw error after ten minutes of drive A in MuJoCo, before and after the calibration,
  predicted by a budget, and simulated for forty individually calibrated sensors.

The accepted coverage of a 95 % interval is 90 to 99 %. With 200 recordings, the standard error of
the coverage is 1.5 %, so one in 150 correct quantities is outside this range by chance.

    coverage_calibration.py [RECORDINGS [CASE ...]]
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from _coverage import call_with_arguments, contains_truth, run_study

import imu_simulation_framework as isf
from imu_simulation_framework.characterisation.calibration.estimates import SlowNoise
from imu_simulation_framework.characterisation.calibration.inertial import (
    TemperatureFit,
    calibrate_accelerometer,
    calibrate_gyroscope,
    to_correction,
    to_slow_noise,
)
from imu_simulation_framework.characterisation.calibration.rest_times import (
    RestTime,
    find_rest,
    find_whole_turns,
)
from imu_simulation_framework.characterisation.calibration.sphere_fit import (
    calibrate_accelerometer_by_magnitude,
    fit_sphere,
)
from imu_simulation_framework.core.tables import ACCEL, GYRO
from imu_simulation_framework.core.units import WORLD_GRAVITY
from imu_simulation_framework.sensors.correction import specify_residual_errors

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


def calibrate_sensor(seed, is_noise_known):
    """Simulate a random sensor; return it with its gyroscope and accelerometer calibrations."""
    sensor, times, values = table_record(seed)
    rests = find_rest(times, values, [*GYRO, *ACCEL], "made")
    turns = find_whole_turns(times, values[:, :3], rests, 10)
    gyroscope = calibrate_gyroscope(
        times,
        values[:, :3],
        rests,
        turns,
        noise=to_slow_noise(sensor.gyroscope) if is_noise_known else None,
    )
    accelerometer = calibrate_accelerometer(
        times, values[:, 3:], rests, gravity=WORLD_GRAVITY,
        noise=to_slow_noise(sensor.accelerometer) if is_noise_known else None,
    )  # fmt: skip
    return sensor, gyroscope, accelerometer


def triad_contains_truth(calibration, bias, matrix):
    """Return for each of the 12 intervals of a triad whether it contains the true value."""
    elements = [element for row in calibration.matrix for element in row]
    return contains_truth([*calibration.bias, *elements], [*bias, *np.ravel(matrix)])


def study(seed, case):
    """Return for each interval from one recording whether it contains the true value."""
    kind, _, variant = case.partition(", ")
    if kind in ("known", "found"):
        sensor, *calibrations = calibrate_sensor(seed, kind == "known")
        parts = []
        for name, calibration in zip(TRIADS, calibrations):
            triad = getattr(sensor, name)
            parts += triad_contains_truth(
                calibration, triad.turn_on_bias, triad.scale_factor_and_misalignment
            )
        return parts
    if kind == "rest":
        times, values = rest_record(seed, variant)
        calibration = calibrate_gyroscope(times, values, [RestTime(0, len(times))])
        return contains_truth(calibration.bias, (0.0, 0.0, 0.0))
    if kind == "free":
        sensor, times, values = free_record(seed)
        rests = find_rest(times, values, [*GYRO, *ACCEL], "made")
        triad = sensor.accelerometer
        calibration = calibrate_accelerometer_by_magnitude(
            times, values[:, 3:], rests, noise=to_slow_noise(triad), gravity=WORLD_GRAVITY
        )
        intervals = triad_contains_truth(calibration, triad.turn_on_bias, symmetric_part(triad))
        return [intervals[k] for k in SYMMETRIC]
    if kind == "chamber":
        times, values, temperatures, triad, scale, bias = chamber_record(seed)
        calibration = calibrate_accelerometer(
            times, values, find_rest(times, values, ACCEL, "made"), gravity=WORLD_GRAVITY,
            noise=(SlowNoise(1e-4),) * 3, temperature=TemperatureFit(temperatures, 20.0, 1, 1),
        )  # fmt: skip
        temperature_estimates = [
            *calibration.temperature_bias[0],
            *calibration.temperature_scale[0],
        ]
        intervals = triad_contains_truth(
            calibration, triad.turn_on_bias, triad.scale_factor_and_misalignment
        )
        return intervals + contains_truth(temperature_estimates, [*bias, *scale])
    flicker = 0.1e-6 if kind == "wandering" else 0.0
    samples = 4500 if flicker and variant == "found" else 1500
    times, readings, hard, soft = magnetic_record(seed, samples, flicker)
    noise = (SlowNoise(0.6e-6 * np.sqrt(0.04), flicker),) * 3 if variant == "known" else None
    intervals = triad_contains_truth(
        fit_sphere(times, readings, noise=noise).calibration, hard, soft
    )
    return [intervals[k] for k in SYMMETRIC]


SYMMETRIC = (0, 1, 2, 3, 4, 5, 7, 8, 11)  # bias and independent elements of a symmetric matrix
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


def print_coverage(case, count):
    """Print the interval coverage for each calibrated quantity."""
    results = np.array(run_study(study, count, case))
    print(f"{case}: {count} recordings, coverage of 95 % intervals [%]")
    for name, part in zip(NAMES[case], np.split(100.0 * results.mean(axis=0), len(NAMES[case]))):
        shares = [f"{share:.1f}" for share in part]
        details = f", temperature coefficients {' '.join(shares[12:])}" if len(part) > 12 else ""
        if len(part) > 3:
            details = f", scale factors and misalignments {' '.join(shares[3:12])}{details}"
        print(f"  {name:13s} bias {' '.join(shares[:3])}{details}", flush=True)


def residual_errors(triad, correction):
    """Return the specification of the triad errors that remain after a correction."""
    inverse = np.linalg.inv(correction.matrix)
    whole = inverse @ (np.eye(3) + np.array(triad.scale_factor_and_misalignment))
    return replace(
        triad,
        turn_on_bias=tuple((inverse @ (np.array(triad.turn_on_bias) - correction.bias)).tolist()),
        scale_factor_and_misalignment=(whole - np.eye(3)).tolist(),
    )


def corrections(calibrations):
    """Return the corrections of gyroscope and accelerometer."""
    return {name: to_correction(calibration) for name, calibration in zip(TRIADS, calibrations)}


def final_yaw_errors(seed, motion):
    """Return the final yaw errors of a drive before and after the calibration [deg]."""
    sensor, *calibrations = calibrate_sensor(seed, True)
    residuals = {
        name: residual_errors(getattr(sensor, name), correction)
        for name, correction in corrections(calibrations).items()
    }
    return [
        np.degrees(isf.yaw_error(isf.simulate_imu(motion, imu, seed=seed), motion).iloc[-1])
        for imu in (sensor, replace(sensor, **residuals))
    ]


def budget_rms(population, motion):
    """Return the rms final yaw error of sensors with random scale factors and misalignments [deg].

    The scale factors and misalignments in the specification are standard deviations here, so the
    squares of their effects are added.
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
            model_of_element = isf.yaw_error_model(with_matrix(plain, name, place * matrix), motion)
            total += (model_of_element.mean()[-1] - mean) ** 2
    return np.degrees(np.sqrt(total))


def print_yaw_errors(sensors=40):
    """Print the predicted and the simulated rms yaw error before and after the calibration."""
    sensor, *calibrations = calibrate_sensor(1, True)
    correction = isf.characterisation.ImuCorrection("x", **corrections(calibrations))
    configuration = isf.load_configuration(overrides={"trajectory": {"stop": 600.0}})
    motion = isf.robot_motion(configuration)
    # These standard deviations are the same as in calibration_records.table_record.
    random_errors = {
        name: replace(
            getattr(sensor, name), turn_on_bias=0.0, turn_on_bias_sigma=sigma,
            scale_factor_and_misalignment=np.full((3, 3), 0.01).tolist(),
        )
        for name, sigma in zip(TRIADS, (0.01, 0.2))
    }  # fmt: skip
    residuals = specify_residual_errors(correction, sensor, "left")
    for name, population, errors in zip(
        ("before", "after"),
        (replace(sensor, **random_errors), residuals),
        np.transpose(run_study(final_yaw_errors, sensors, motion)),
    ):
        print(
            f"yaw error after 600 s of drive A, {name} calibration: budget "
            f"{budget_rms(population, motion):.2f} deg rms; experiment with {sensors} sensors: "
            f"{np.sqrt(np.mean(errors**2)):.2f} deg rms, the first five "
            f"{' '.join(f'{x:+.2f}' for x in errors[:5])} deg",
            flush=True,
        )


def main(count=200, *cases):
    """Run the selected cases, by default all of them."""
    for case in NAMES:
        if not cases or case.split(",")[0] in cases:
            print_coverage(case, count)
    if not cases or "heading" in cases:
        print_yaw_errors()


if __name__ == "__main__":
    call_with_arguments(main, int)
