"""The kinds of triads."""

from dataclasses import fields

import pytest

from imu_simulation_framework.core.units import factor
from imu_simulation_framework.sensors.imu_specification import TriadSpecification
from imu_simulation_framework.sensors.triads import TRIADS


@pytest.mark.parametrize(
    ("parameter", "gyroscope", "accelerometer", "magnetometer"),
    [
        ("quantisation", "rad", "m/s", "T s"),
        ("white_noise", "rad/s/sqrt(Hz)", "m/s^2/sqrt(Hz)", "T/sqrt(Hz)"),
        ("bias_instability", "rad/s", "m/s^2", "T"),
        ("random_walk", "rad/s^2/sqrt(Hz)", "m/s^3/sqrt(Hz)", "T/s/sqrt(Hz)"),
        ("rate_ramp", "rad/s^2", "m/s^3", "T/s"),
        ("temperature_bias", "rad/s/K", "m/s^2/K", "T/K"),
        ("gauss_markov_time", "s", "s", "s"),
        ("g_sensitivity", "rad/s per m/s^2", "m/s^2 per m/s^2", "T per m/s^2"),
    ],
)
def test_units_follow_from_what_is_measured(parameter, gyroscope, accelerometer, magnetometer):
    expected = [gyroscope, accelerometer, magnetometer]
    assert [kind.unit_of(parameter) for kind in TRIADS.values()] == expected


def test_every_parameter_has_a_unit_and_some_another_in_data_sheets():
    for kind in TRIADS.values():
        assert all(kind.unit_of(field.name) for field in fields(TriadSpecification))
        for parameter, unit in kind.datasheet_units.items():
            assert kind.datasheet(parameter) == (unit, 1.0 / factor(unit))
    # An angle random walk of 1 deg/sqrt(h) is 2.909e-4 rad/s/sqrt(Hz) (IEEE Std 952, annex C).
    assert 2.909e-4 * TRIADS["gyroscope"].datasheet("white_noise")[1] == pytest.approx(
        1.0, rel=1e-3
    )
