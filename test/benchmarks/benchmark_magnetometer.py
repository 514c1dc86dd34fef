"""Cost of simulating nine-axis IMUs, and of adding a magnetometer to a complete experiment.

A few runs of ten minutes are measured, since all runs have the same cost.
"""

from _timing import Measurements, draw_numbers, numbers_per_sample, time_alternating

import imu_simulation_framework as isf
from imu_simulation_framework.drive.in_process import drive_in_process
from imu_simulation_framework.drive.prepared_drive import prepare_drive
from imu_simulation_framework.drive.recorded_drive.check import ensure_plausible
from imu_simulation_framework.sensors.imu_models.base import MAGNETIC_PARTS
from imu_simulation_framework.sensors.simulation import imu_model, imu_truth
from imu_simulation_framework.sensors.triad_errors import TriadNoise

DURATION, RATE = 600.0, 100.0
RUNS = 3
NINE_AXES = ("angular_velocity", "specific_force", *MAGNETIC_PARTS)
EXPERIMENT_DURATION = 120.0  # [s]


def measure_batch(measurements):
    """Measure the cost of simulating nine axes, relative to generating the random numbers."""
    hall = isf.read_magnetic_environment("steel_beam")
    truth = imu_truth(isf.straight(DURATION, rate=RATE), hall)
    imu = isf.read_imu_specification("bno055_magnetometer")
    model = imu_model(imu, 1.0 / RATE, 1)
    triads = (imu.gyroscope, imu.accelerometer, imu.magnetometer)
    numbers = sum(numbers_per_sample(TriadNoise(triad, 1.0 / RATE, 0)) for triad in triads)
    calls = {
        "drawing": lambda: draw_numbers(3 * round(RUNS * numbers * DURATION * RATE)),
        "batch": lambda: model.batch(truth, RUNS, parts=NINE_AXES),
    }
    durations = time_alternating(calls, measurements.options.repeats)
    ratios = durations["batch"] / durations["drawing"]
    measurements.add("nine axes with magnetometer, of drawing their numbers", ratios, bound=1.4)


def make_experiment(imu, hall):
    """Return a function that runs an experiment in one process."""
    settings = {"trajectory": {"stop": EXPERIMENT_DURATION}, "imu_recording": {"use": False}}
    settings.update(imu={"model": "specification"}, imu_specification={"file": imu})
    settings["magnetic_environment"] = {"file": hall}
    configuration = isf.load_configuration(overrides=settings)
    prepared = prepare_drive(configuration, ensure_plausible(configuration).reference)
    return lambda: drive_in_process(configuration, prepared)


def main():
    measurements = Measurements(__doc__)
    options = measurements.parse()
    measure_batch(measurements)
    halls = {hall: make_experiment("bno055_magnetometer", hall) for hall in ("clean", "steel_beam")}
    durations = time_alternating({"": make_experiment("bno055", ""), **halls}, options.repeats)
    for hall in halls:
        ratios = durations[hall] / durations[""]
        measurements.add(f"experiment in {hall}, of the same without magnetometer", ratios)
    measurements.save()


if __name__ == "__main__":
    main()
