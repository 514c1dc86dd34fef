"""Simulated calibration recordings of sensors with random biases and scale factor errors."""

from dataclasses import replace

import numpy as np
from turntable import six_positions, turntable_motion

from imu_simulation_framework.core.tables import ACCEL, GYRO
from imu_simulation_framework.sensors.files import read_imu_specification
from imu_simulation_framework.sensors.simulation import simulate_imu

PLACEMENT = np.radians(0.5)


def drawn_sensor(generator):
    """Return a BNO055 with random biases and with 1 % scale factor and misalignment errors."""
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
    """Simulate six orientations within 0.5 deg, and turns about each axis in both directions."""
    generator = np.random.default_rng(seed)
    sensor = drawn_sensor(generator)
    tilts = generator.normal(0.0, PLACEMENT, (6, 3))
    steps = six_positions(rest, 5.0, tilts)
    for axis in range(3):
        # The axis of each turn is slightly tilted, and its angle has a small error.
        about = np.eye(3)[axis]
        about = about + np.cross(generator.normal(0.0, PLACEMENT, 3), about)
        about /= np.linalg.norm(about)
        for sense in (1.0, -1.0):
            angle = sense * 2.0 * np.pi * turns + generator.normal(0.0, PLACEMENT)
            steps += [(angle * about, 3.0 * turns), (np.zeros(3), 20.0)]
    motion = turntable_motion(steps, 100.0, start=tilts[0])
    table = simulate_imu(motion, sensor, seed=seed)
    return sensor, table.index.to_numpy(), table[[*GYRO, *ACCEL]].to_numpy()


def free_record(seed, positions=15, rest=20.0):
    """Return a sensor and its recording, with stationary periods in arbitrary orientations."""
    generator = np.random.default_rng(seed)
    sensor = drawn_sensor(generator)
    # In sensor axes, the vertical follows a spiral from pole to pole, randomly off by about 10 deg.
    height = 1.0 - (2.0 * np.arange(positions) + 1.0) / positions
    angle = 2.4 * np.arange(positions)
    level = np.sqrt(1.0 - height**2)
    up = np.column_stack([level * np.cos(angle), level * np.sin(angle), height])
    up += generator.normal(0.0, 0.15, up.shape)
    up /= np.linalg.norm(up, axis=1)[:, None]
    start = _shortest_rotation(up[0], np.array([0.0, 0.0, 1.0]))
    steps = [(np.zeros(3), rest)]
    for before, after in zip(up, up[1:]):
        steps += [(_shortest_rotation(after, before), 4.0), (np.zeros(3), rest)]
    motion = turntable_motion(steps, 100.0, start=start)
    table = simulate_imu(motion, sensor, seed=seed)
    return sensor, table.index.to_numpy(), table[[*GYRO, *ACCEL]].to_numpy()


def rest_record(seed, name, seconds=300.0):
    """Simulate the noise of a stationary gyroscope with all specified terms except the bias."""
    from imu_simulation_framework.sensors.noise.processes import BiasInstability, RandomWalk

    triad = read_imu_specification(name).gyroscope
    period = 0.04
    count = round(seconds / period)
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(count, 3)) * np.array(triad.white_noise) / np.sqrt(period)
    band = triad.bias_instability_band
    values += BiasInstability(triad.bias_instability, band, period, generator).batch(count, 1)[0]
    values += RandomWalk(triad.random_walk, period, generator).batch(count, 1)[0]
    return np.arange(count) * period, values


def chamber_record(seed, temperatures=(0.0, 20.0, 40.0), rest=20.0):
    """Simulate six orientations at each temperature, in a fixture with constant placement errors.

    Returns sample times, specific forces, sample temperatures, the accelerometer, and its
    scale factors and biases per degree of difference from 20 degC.
    """
    generator = np.random.default_rng(seed)
    sensor = drawn_sensor(generator)
    tilts = generator.normal(0.0, PLACEMENT, (6, 3))
    motion = turntable_motion(six_positions(rest, 5.0, tilts), 50.0, start=tilts[0])
    still = replace(sensor.accelerometer, white_noise=0.0, bias_instability=0.0, random_walk=0.0)
    readings_at_rest = simulate_imu(motion, replace(sensor, accelerometer=still), seed=seed)[
        [*ACCEL]
    ].to_numpy()
    scale, bias = generator.normal(0.0, 1e-4, 3), generator.normal(0.0, 1e-3, 3)
    parts, sample_temperatures = [], []
    for temperature in temperatures:
        away = temperature - 20.0
        parts.append(readings_at_rest + motion.specific_force * scale * away + bias * away)
        sample_temperatures.append(np.full(len(readings_at_rest), temperature))
    values = np.concatenate(parts)
    values += generator.normal(0.0, 1e-4 * np.sqrt(50.0), values.shape)
    times = np.arange(len(values)) / 50.0
    return times, values, np.concatenate(sample_temperatures), sensor.accelerometer, scale, bias


def _shortest_rotation(first, second):
    """Return the rotation vector of the shortest rotation from one direction to another."""
    normal = np.cross(first, second)
    return normal / np.linalg.norm(normal) * np.arccos(first @ second)


def symmetric_part(triad):
    """Return the symmetric part of a triad's error matrix, which a sphere fit determines."""
    whole = np.eye(3) + np.array(triad.scale_factor_and_misalignment)
    values, vectors = np.linalg.eigh(whole @ whole.T)
    return vectors @ np.diag(np.sqrt(values)) @ vectors.T - np.eye(3)


def magnetic_record(seed, samples=1500, wandering=0.0):
    """Simulate a tumbling magnetometer with hard iron [T] and a soft iron matrix of trace 3."""
    from scipy.spatial.transform import Rotation

    from imu_simulation_framework.sensors.noise.processes import BiasInstability

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
