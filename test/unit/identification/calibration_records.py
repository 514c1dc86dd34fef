"""Simulated recordings of a calibration, of a sensor whose errors are drawn."""

from dataclasses import replace

import numpy as np

from imu_simulation_framework.columns import ACCEL, GYRO
from imu_simulation_framework.configuration.imu_specification_file import read_imu_specification
from imu_simulation_framework.motion.turntable import six_positions, turntable_motion
from imu_simulation_framework.sensors.simulation import simulate_imu

PLACEMENT = np.radians(0.5)


def drawn_sensor(generator):
    """The BNO055 with biases, scale factors and misalignments of 1 %."""
    bno055 = read_imu_specification("bno055")

    def drawn(triad, bias):
        return replace(
            triad,
            turn_on_bias=tuple(generator.normal(0.0, bias, 3)),
            scale_factor_and_misalignment=tuple(map(tuple, generator.normal(0.0, 0.01, (3, 3)))),
        )

    return replace(
        bno055,
        gyroscope=drawn(bno055.gyroscope, 0.01),
        accelerometer=drawn(bno055.accelerometer, 0.2),
    )


def table_record(seed, rest=30.0, turns=10):
    """Six positions, then whole turns about each axis, either way; placed within half a degree."""
    generator = np.random.default_rng(seed)
    sensor = drawn_sensor(generator)
    tilts = generator.normal(0.0, PLACEMENT, (6, 3))
    steps = six_positions(rest, 5.0, tilts)
    for axis in range(3):
        # A small tilt of the axis about which it is turned, and marks that are missed by a little.
        about = np.eye(3)[axis]
        about = about + np.cross(generator.normal(0.0, PLACEMENT, 3), about)
        about /= np.linalg.norm(about)
        for sense in (1.0, -1.0):
            angle = sense * 2.0 * np.pi * turns + generator.normal(0.0, PLACEMENT)
            steps += [(angle * about, 3.0 * turns), (np.zeros(3), 20.0)]
    motion = turntable_motion(steps, 100.0, start=tilts[0])
    table = simulate_imu(motion, sensor, seed=seed)
    return sensor, table.index.to_numpy(), table[[*GYRO, *ACCEL]].to_numpy()


def magnetic_record(seed, samples=1500, wandering=0.0):
    """Readings of a magnetometer that tumbles, hard iron [T], soft iron with a mean scale of 1."""
    from scipy.spatial.transform import Rotation

    from imu_simulation_framework.noise.processes import BiasInstability

    generator = np.random.default_rng(seed)
    soft = np.eye(3) + generator.normal(0.0, 0.05, (3, 3))
    soft = soft + soft.T
    soft *= 3.0 / np.trace(soft)
    hard = generator.normal(0.0, 20e-6, 3)
    times = np.arange(samples) * 0.04
    angles = np.column_stack([0.7 * times, 1.1 * times + 1.0, 0.37 * times])
    field = Rotation.from_euler("ZYX", angles).inv().apply([20e-6, 0.0, -44.7e-6])
    readings = field @ soft.T + hard + generator.normal(0.0, 0.6e-6, field.shape)
    if wandering:
        band = (0.1, 10_000.0)
        process = BiasInstability((wandering,) * 3, band, 0.04, generator)
        readings += process.batch(samples, 1)[0]
    return times, readings, hard, soft - np.eye(3)
