"""What a magnetometer costs: nine axes beside drawing their numbers, and an experiment with it.

Absolute figures depend on the machine; the ratios, measured in turns in one process, hardly do. Of
the turns the quickest counts, as what else the machine does only adds to it. The thousand runs of
ten minutes are measured on a few of them: each costs the same.
"""

import time

import numpy as np

import imu_simulation_framework as isf
from imu_simulation_framework.drive.check import ensure_plausible
from imu_simulation_framework.drive.configuration import load_configuration
from imu_simulation_framework.drive.in_process import drive_in_process
from imu_simulation_framework.drive.preparation import prepare_drive
from imu_simulation_framework.sensors.imu_models.base import MAGNETIC_PARTS
from imu_simulation_framework.sensors.simulation import imu_model, imu_truth
from imu_simulation_framework.sensors.triad_errors import TriadNoise

DURATION, RATE = 600.0, 100.0
RUNS, TURNS = 3, 5
NINE_AXES = ("angular_velocity", "specific_force", *MAGNETIC_PARTS)
LIMIT = 2.0
"""Times drawing the numbers."""
SLOWER = 0.15
"""Of an experiment's real-time factor."""
EXPERIMENT = 120.0


def seconds(function):
    """Return the processor time that a call takes [s]."""
    begin = time.process_time()
    function()
    return time.process_time() - begin


def batches():
    """A batch of nine axes, in turns with drawing its random numbers alone."""
    hall = isf.read_magnetic_environment("steel_beam")
    truth = imu_truth(isf.straight(DURATION, rate=RATE), hall)
    imu = isf.read_imu_specification("bno055_magnetometer")
    model = imu_model(imu, 1.0 / RATE, 1)
    triads = (imu.gyroscope, imu.accelerometer, imu.magnetometer)
    numbers = sum(TriadNoise(triad, 1.0 / RATE, 0).numbers_per_sample for triad in triads)
    generator, block = np.random.default_rng(1), np.empty((4096, 3))
    blocks = round(RUNS * numbers * DURATION * RATE / len(block))

    def draw():
        for _ in range(blocks):
            generator.standard_normal(out=block)

    drawn, made = [], []
    for _ in range(TURNS):
        drawn.append(seconds(draw))
        made.append(seconds(lambda: model.batch(truth, RUNS, parts=NINE_AXES)))
    return numbers, min(made) / min(drawn)


def experiments():
    """An experiment in one process, in turns without and with a magnetometer, and past iron."""
    drives = {}
    for imu, hall in (
        ("bno055", ""),
        ("bno055_magnetometer", "clean"),
        ("bno055_magnetometer", "steel_beam"),
    ):
        configuration = load_configuration(
            overrides={
                "trajectory": {"stop": EXPERIMENT},
                "imu_recording": {"use": False},
                "imu": {"model": "specification"},
                "imu_specification": {"file": imu},
                "magnetic_environment": {"file": hall},
            }
        )
        reference = ensure_plausible(configuration).reference
        drives[imu, hall] = (configuration, prepare_drive(configuration, reference))
    taken = {key: [] for key in drives}
    for _ in range(TURNS):
        for key, drive in drives.items():
            taken[key].append(seconds(lambda drive=drive: drive_in_process(*drive)))
    return {key: min(times) for key, times in taken.items()}


def main():
    """Measure and compare with the limits."""
    numbers, ratio = batches()
    print(
        f"bno055_magnetometer, {DURATION:g} s x {RATE:g} Hz x 9 axes: {ratio:.2f} of drawing its "
        f"{numbers} x 3 normal numbers a sample (limit {LIMIT:g})"
    )
    times = experiments()
    without = times.pop(("bno055", ""))
    for (_, hall), taken in times.items():
        print(
            f"an experiment in one process, {hall}: {EXPERIMENT / taken:.0f} times real time, "
            f"{EXPERIMENT / without:.0f} without a magnetometer: {1.0 - without / taken:.0%} slower"
        )


if __name__ == "__main__":
    main()
