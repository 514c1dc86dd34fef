"""Cost of a magnetometer: nine axes relative to their normal numbers, and a whole experiment.

The fastest of several turns counts, because other load only slows a call. A few of the thousand
runs of ten minutes are measured, since each run costs the same.
"""

from _timing import draw_numbers, numbers_per_sample, time_alternating

import imu_simulation_framework as isf
from imu_simulation_framework.drive.in_process import drive_in_process
from imu_simulation_framework.drive.prepared_drive import prepare_drive
from imu_simulation_framework.drive.recorded_drive.check import ensure_plausible
from imu_simulation_framework.sensors.imu_models.base import MAGNETIC_PARTS
from imu_simulation_framework.sensors.simulation import imu_model, imu_truth
from imu_simulation_framework.sensors.triad_errors import TriadNoise

DURATION, RATE = 600.0, 100.0
RUNS, TURNS = 3, 5
NINE_AXES = ("angular_velocity", "specific_force", *MAGNETIC_PARTS)
LIMIT = 2.0  # times drawing the numbers
EXPERIMENT_DURATION = 120.0  # [s]


def benchmark_batches():
    """Measure a batch of nine axes, alternating with drawing its random numbers alone."""
    hall = isf.read_magnetic_environment("steel_beam")
    truth = imu_truth(isf.straight(DURATION, rate=RATE), hall)
    imu = isf.read_imu_specification("bno055_magnetometer")
    model = imu_model(imu, 1.0 / RATE, 1)
    triads = (imu.gyroscope, imu.accelerometer, imu.magnetometer)
    numbers = sum(numbers_per_sample(TriadNoise(triad, 1.0 / RATE, 0)) for triad in triads)
    calls = {
        "drawn": lambda: draw_numbers(3 * round(RUNS * numbers * DURATION * RATE)),
        "made": lambda: model.batch(truth, RUNS, parts=NINE_AXES),
    }
    duration = time_alternating(calls, TURNS)
    ratio = duration["made"].min() / duration["drawn"].min()
    print(
        f"bno055_magnetometer, {DURATION:g} s x {RATE:g} Hz x 9 axes: {ratio:.2f} of drawing its "
        f"{numbers} x 3 normal numbers a sample (limit {LIMIT:g})"
    )


def make_experiment(imu, hall):
    """Return a function that runs an experiment in one process."""
    settings = {"trajectory": {"stop": EXPERIMENT_DURATION}, "imu_recording": {"use": False}}
    settings.update(imu={"model": "specification"}, imu_specification={"file": imu})
    settings["magnetic_environment"] = {"file": hall}
    configuration = isf.load_configuration(overrides=settings)
    prepared = prepare_drive(configuration, ensure_plausible(configuration).reference)
    return lambda: drive_in_process(configuration, prepared)


def main():
    """Measure batches and experiments, and print the limits."""
    benchmark_batches()
    halls = {hall: make_experiment("bno055_magnetometer", hall) for hall in ("clean", "steel_beam")}
    times = time_alternating({"": make_experiment("bno055", ""), **halls}, TURNS)
    plain_duration = times[""].min()
    for hall in halls:
        duration = times[hall].min()
        print(
            f"an experiment in one process, {hall}: {EXPERIMENT_DURATION / duration:.0f} times "
            f"real time, {EXPERIMENT_DURATION / plain_duration:.0f} without a magnetometer: "
            f"{1.0 - plain_duration / duration:.0%} slower"
        )


if __name__ == "__main__":
    main()
