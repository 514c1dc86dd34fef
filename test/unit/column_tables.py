"""Tables of a simulated car with an IMU and a GNSS receiver, for tests of column maps."""

import numpy as np
import pytest

from imu_simulation_framework.core.tables import ACCEL, GYRO
from imu_simulation_framework.recordings.vocabulary.candidates import candidates_of
from imu_simulation_framework.recordings.vocabulary.choice import choose_columns

RATE, DURATION = 50.0, 60.0
TIME = np.arange(0.0, DURATION, 1.0 / RATE)
GRAVITY = 9.81


class Car:
    """Signals of a car that drives curves at about 8 m/s, in SI units."""

    def __init__(self):
        generator = np.random.default_rng(11)
        self.speed = 8.0 + 2.0 * np.sin(0.2 * TIME)
        yaw_rate = 0.4 * np.sin(0.3 * TIME) + 0.15
        self.yaw = np.cumsum(yaw_rate) / RATE
        self.east = np.cumsum(self.speed * np.cos(self.yaw)) / RATE
        self.north = np.cumsum(self.speed * np.sin(self.yaw)) / RATE
        self.rates = np.column_stack([np.zeros_like(yaw_rate), np.zeros_like(yaw_rate), yaw_rate])
        self.rates += 0.005 * generator.standard_normal(self.rates.shape)
        self.forces = np.array([0.1, 0.2, GRAVITY]) + 0.2 * generator.standard_normal(
            (len(TIME), 3)
        )
        self.latitude = 48.0 + np.degrees(self.north / 6.371e6)
        self.longitude = 11.0 + np.degrees(self.east / 6.371e6) / np.cos(np.radians(48.0))
        self.azimuth = np.mod(np.pi / 2.0 - self.yaw, 2.0 * np.pi)

    def inertial(self, gyro=1.0, accel=1.0):
        columns = {f"gyro_{a}": gyro * self.rates[:, k] for k, a in enumerate("xyz")}
        columns.update({f"acc_{a}": accel * self.forces[:, k] for k, a in enumerate("xyz")})
        return columns


def assert_inertial(table, car, rows=..., tolerance=1e-9):
    """Assert that the angular velocities and specific forces of a table match those of the car."""
    assert table[list(GYRO)].to_numpy() == pytest.approx(car.rates[rows], abs=tolerance)
    assert table[list(ACCEL)].to_numpy() == pytest.approx(car.forces[rows], abs=tolerance)


def choose(**columns):
    return choose_columns(candidates_of(list(columns), list(columns.values())))


def wrapped(angles):
    return np.angle(np.exp(1j * angles))
