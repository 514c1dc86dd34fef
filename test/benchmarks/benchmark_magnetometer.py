"""What a magnetometer costs: nine axes beside drawing their numbers, and an experiment with it.

Of the turns the quickest counts, as what else the machine does only adds to it. The thousand runs
of ten minutes are measured on a few of them: each costs the same.
"""

from _timing import draw_numbers, in_turns, numbers_per_sample

import imu_simulation_framework as isf
from imu_simulation_framework.drive.check import ensure_plausible
from imu_simulation_framework.drive.in_process import drive_in_process
from imu_simulation_framework.drive.preparation import prepare_drive
from imu_simulation_framework.sensors.imu_models.base import MAGNETIC_PARTS
from imu_simulation_framework.sensors.simulation import imu_model, imu_truth
from imu_simulation_framework.sensors.triad_errors import TriadNoise

DURATION, RATE = 600.0, 100.0
RUNS, TURNS = 3, 5
NINE_AXES = ("angular_velocity", "specific_force", *MAGNETIC_PARTS)
LIMIT = 2.0  # times drawing the numbers
EXPERIMENT = 120.0


def batches():
    """A batch of nine axes, in turns with drawing its random numbers alone."""
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
    taken = in_turns(calls, TURNS)
    ratio = taken["made"].min() / taken["drawn"].min()
    print(
        f"bno055_magnetometer, {DURATION:g} s x {RATE:g} Hz x 9 axes: {ratio:.2f} of drawing its "
        f"{numbers} x 3 normal numbers a sample (limit {LIMIT:g})"
    )


def drive(imu, hall):
    """An experiment in one process."""
    settings = {"trajectory": {"stop": EXPERIMENT}, "imu_recording": {"use": False}}
    settings.update(imu={"model": "specification"}, imu_specification={"file": imu})
    settings["magnetic_environment"] = {"file": hall}
    configuration = isf.load_configuration(overrides=settings)
    prepared = prepare_drive(configuration, ensure_plausible(configuration).reference)
    return lambda: drive_in_process(configuration, prepared)


def main():
    """Measure and compare with the limits."""
    batches()
    halls = {hall: drive("bno055_magnetometer", hall) for hall in ("clean", "steel_beam")}
    times = in_turns({"": drive("bno055", ""), **halls}, TURNS)
    without = times[""].min()
    for hall in halls:
        taken = times[hall].min()
        print(
            f"an experiment in one process, {hall}: {EXPERIMENT / taken:.0f} times real time, "
            f"{EXPERIMENT / without:.0f} without a magnetometer: {1.0 - without / taken:.0%} slower"
        )


if __name__ == "__main__":
    main()
