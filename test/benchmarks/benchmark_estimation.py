"""Duration of estimation from recordings, relative to minimal reference implementations.

* Allan analysis of 6 axes, 6 hours at 100 Hz: coefficients with intervals from samples in memory.
  The reference is allantools.oadev, which computes only the deviations, for the same averaging
  times.
* Trajectory from one hour of fixes at 10 Hz, with parameter estimation and outlier detection. The
  reference is one pass of a filter over both axes with known parameters. A smoother takes twice as
  long, and a parameter estimation a hundred times as long.
* Check of a bag of 100 MB with odometry and an IMU, unchanged and with mirrored yaw. For mirrored
  yaw, the check tries all other conventions. The reference deserialises every message once.
"""

import resource
import sys
import tempfile
from pathlib import Path

from _timing import Measurements, time_alternating

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit"))

import allantools
import drive_recordings as drives
import numpy as np
import pandas as pd
import pymap3d
import recording_writers as writers
from injected_faults import clockwise_from_north
from rosbags.rosbag1 import Reader

from imu_simulation_framework.characterisation.allan.analysis import AXES, identify
from imu_simulation_framework.characterisation.allan.model import averaging_factors
from imu_simulation_framework.characterisation.samples_at_rest import prepare_at_rest
from imu_simulation_framework.commands.check_recording import report_lines, write_check
from imu_simulation_framework.drive.feasibility import check_experiment
from imu_simulation_framework.drive.recorded_drive.setup import set_up
from imu_simulation_framework.motion.positioning import local_position, trajectory_from_fixes

ALLAN_RATE, ALLAN_HOURS = 100.0, 6.0
FIX_RATE, FIX_HOURS = 10.0, 1.0
DRIVE_DURATION = 1280.0  # [s]
DRIVE_RATES = (50.0, 100.0)  # odometry and IMU [Hz]


def compare(measurements, name, call, reference_name, reference, bound):
    """Measure the processor time of a function, and its ratio to that of a reference function."""
    calls = {name: call, reference_name: reference}
    durations = time_alternating(calls, measurements.options.repeats)
    measurements.add(name, durations[name], "s CPU")
    ratios = durations[name] / durations[reference_name]
    measurements.add(f"  of {reference_name}", ratios, bound=bound)


def benchmark_allan_analysis(measurements):
    """Measure the duration of the Allan analysis of white noise plus random walk on each axis."""
    generator = np.random.default_rng(1)
    shape = (int(ALLAN_HOURS * 3600.0 * ALLAN_RATE), len(AXES))
    values = np.cumsum(1e-6 * generator.standard_normal(shape), axis=0)
    values += 1e-3 * generator.standard_normal(shape)
    times = np.arange(len(values)) / ALLAN_RATE
    taus = averaging_factors(len(times)) / ALLAN_RATE

    def plain():
        for column in values.T:
            allantools.oadev(column, ALLAN_RATE, "freq", taus)

    compare(
        measurements, f"Allan analysis, 6 axes x {ALLAN_HOURS:g} h at {ALLAN_RATE:g} Hz",
        lambda: identify([prepare_at_rest(times, values, AXES, "made")]),
        "allantools.oadev with the same averaging times", plain, 1.2,
    )  # fmt: skip
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    measurements.add("Allan analysis, peak memory", [memory], "MB", bound=1000.0)


def fix_table(doppler):
    """Return the GNSS fixes of a drive, with receiver noise of 0.3 m and a few outliers."""
    generator = np.random.default_rng(1)
    time = np.arange(int(FIX_HOURS * 3600.0 * FIX_RATE)) / FIX_RATE
    yaw = np.cumsum(0.05 * np.sqrt(1.0 / FIX_RATE) * generator.standard_normal(len(time)))
    speeds = 8.0 + 4.0 * np.sin(time / 60.0)
    velocities = speeds[:, None] * np.column_stack([np.cos(yaw), np.sin(yaw)])
    positions = np.cumsum(velocities / FIX_RATE, axis=0)
    positions += 0.3 * generator.standard_normal(positions.shape)
    positions[::5000] += 40.0
    latitude, longitude, _ = pymap3d.enu2geodetic(*positions.T, 0.0, 48.0, 11.0, 500.0)
    columns = {"latitude": latitude, "longitude": longitude}
    columns.update(variance_east=1.0, variance_north=1.0)
    if doppler:
        noisy = velocities + 0.1 * generator.standard_normal(velocities.shape)
        columns["velocity_east"], columns["velocity_north"] = noisy.T
    return pd.DataFrame(columns, index=pd.Index(time, name="time"))


def run_textbook_filter(times, positions, density=0.5, variance=0.09):
    """Run a Kalman filter for the position and velocity along one axis."""
    state, covariance = np.array([positions[0], 0.0]), np.diag([1e3, 1e3])
    measured = np.array([1.0, 0.0])
    for step, position in zip(np.diff(times), positions[1:]):
        transition = np.array([[1.0, step], [0.0, 1.0]])
        noise = density**2 * np.array([[step**3 / 3.0, step**2 / 2.0], [step**2 / 2.0, step]])
        state = transition @ state
        covariance = transition @ covariance @ transition.T + noise
        gain = covariance @ measured / (measured @ covariance @ measured + variance)
        state = state + gain * (position - measured @ state)
        covariance = covariance - np.outer(gain, measured @ covariance)


def benchmark_positioning(measurements):
    for doppler in (False, True):
        table = fix_table(doppler)
        positions, times = local_position(table), table.index.to_numpy()
        kind = "with Doppler" if doppler else "positions alone"
        compare(
            measurements, f"trajectory from {len(table)} fixes, {kind}",
            lambda table=table: trajectory_from_fixes(table),
            f"one pass of a filter in numpy, {kind}",
            lambda times=times, positions=positions: [
                run_textbook_filter(times, x) for x in positions.T
            ],
            2.5,
        )  # fmt: skip


def benchmark_check(measurements):
    reference, imu = drives.drive(duration=DRIVE_DURATION, rates=DRIVE_RATES)
    for name, samples in (("unchanged", imu), ("mirrored", clockwise_from_north(imu))):
        with tempfile.TemporaryDirectory() as folder:
            path = drives.write_bag(Path(folder) / "drive.bag", reference, samples)
            config = Path(folder) / "config.ini"
            config.touch()

            def check(path=path, config=config):
                setup = set_up(config, str(path))
                result = check_experiment(setup.load())
                report_lines(setup, result)
                write_check(config.parent / "out", setup, result)

            def plain(path=path):
                with Reader(path) as reader:
                    for connection, _, data in reader.messages():
                        writers.STORE.deserialize_ros1(data, connection.msgtype)

            size = path.stat().st_size / 1e6
            compare(
                measurements, f"check of a bag of {size:.0f} MB, {name}",
                check, f"reading it, {name}", plain, None,
            )  # fmt: skip


def main():
    measurements = Measurements(__doc__)
    measurements.parse()
    benchmark_allan_analysis(measurements)
    benchmark_positioning(measurements)
    benchmark_check(measurements)
    measurements.save()


if __name__ == "__main__":
    main()
