"""Parsing of units and conversion to SI."""

import math

import pytest

from imu_simulation_framework.core.units import STANDARD_GRAVITY, factor, factors, multiply_by_time


@pytest.mark.parametrize(
    ("unit", "size"),
    [
        ("", 1.0),
        ("m/s^2", 1.0),
        ("m/s2", 1.0),
        ("km/h", 1.0 / 3.6),
        ("cm^2", 1e-4),
        ("mg", 9.80665e-3),
        # An angle random walk of half a degree per root hour.
        ("deg/sqrt(h)", math.pi / 180.0 / 60.0),
        ("ug/sqrt(Hz)", 1e-6 * STANDARD_GRAVITY),
        ("deg/h/sqrt(h)", math.pi / 180.0 / 3600.0 / 60.0),
    ],
)
def test_unit_has_conversion_factor_to_si(unit, size):
    assert factor(unit) == pytest.approx(size, rel=1e-15)
    assert factors(unit, "s") == {unit: factor(unit), "s": 1.0}


@pytest.mark.parametrize("unit", ["furlong", "m//s", "m/", "sqrt(m", "m^", "m/s^2 up"])
def test_invalid_unit_is_rejected(unit):
    with pytest.raises(ValueError, match="unit"):
        factor(unit)


def test_unit_times_power_of_second_is_simplified():
    assert multiply_by_time("rad/s", 1) == "rad"
    assert multiply_by_time("rad/s", -1) == "rad/s^2"
    assert multiply_by_time("m/s^2", 1) == "m/s"
    assert multiply_by_time("T", 1) == "T s"
    assert multiply_by_time("T", -1) == "T/s"
    assert multiply_by_time("s", -1) == "1"
    assert multiply_by_time("1", -1) == "1/s"
