"""Settings that are declared are checked alike in a program and as a person writes them."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import pytest

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.settings import (
    LARGEST_SEED,
    Settings,
    check_axes,
    check_number,
    keys_of,
    setting,
    setting_of_text,
)
from imu_simulation_framework.flight.gimbal import stabilisation as gimbal
from imu_simulation_framework.sensors.gnss import specification as gnss
from imu_simulation_framework.sensors.imu_models.base import checked_parameter
from imu_simulation_framework.sensors.imu_models.plugins import GenericParameters, HectorParameters
from imu_simulation_framework.sensors.imu_specification import PARTS
from imu_simulation_framework.sensors.magnetism.bodies import Bar


@dataclass(frozen=True)
class Example(Settings):
    length: float = setting(1.0, unit="m", above=0.0, maximum=10.0)
    limit: float | None = setting(None, minimum=0.5)
    seed: int = setting(1, minimum=0, maximum=LARGEST_SEED)
    used: bool = setting(True)
    way: str = setting("", choices=("here", "there"))
    colours: tuple = setting(("red",), choices=("red", "green"))


@dataclass(frozen=True)
class Extended(Example):
    name: str = setting("")


def of_text(key, text):
    fields = {field.name: field for field in dataclasses.fields(Example)}
    return setting_of_text(f"a.ini, [b] {key}", fields[key], text)


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("length", 2.5, "2.5"),
        ("limit", 0.5, "0.5"),
        ("seed", LARGEST_SEED, str(LARGEST_SEED)),
        ("used", False, "no"),
        ("way", "there", "there"),
        ("colours", ("green", "red"), "green, red"),
    ],
)
def test_what_is_declared_is_accepted_in_both_forms(key, value, text):
    assert getattr(Example(**{key: value}), key) == of_text(key, text) == value


@pytest.mark.parametrize(
    ("key", "value", "words", "of_a_text"),
    [
        ("length", 0.0, "must be positive", "expected more than 0.0"),
        ("length", math.nan, "must be a finite number", "expected a finite number"),
        ("limit", 0.4, "must be at least 0.5", "expected at least 0.5"),
        ("seed", 2**63, f"must be at most {LARGEST_SEED}", f"expected at most {LARGEST_SEED}"),
        ("seed", 1.5, "must be a whole number", "expected a whole number"),
        ("used", "maybe", "must be false or true", "expected true or false"),
        ("way", "up", "must be here or there", "expected one of here, there"),
        ("colours", "blue", "must be some of red, green", "expected some of red, green"),
    ],
)
def test_what_is_not_declared_is_refused_in_both_forms(key, value, words, of_a_text):
    with pytest.raises(ConfigurationError, match=f"^{key} is .*{words}"):
        Example(**{key: (value,) if key == "colours" else value})
    with pytest.raises(ConfigurationError, match=rf"^a.ini, \[b\] {key}: {of_a_text}"):
        of_text(key, str(value))


def test_own_keys_come_before_those_of_what_is_set_and_integers_become_numbers():
    assert [key.name for key in keys_of(Extended)][:2] == ["name", "length"]
    assert isinstance(Example(length=3).length, float)


KINDS = (*PARTS.values(), GenericParameters, HectorParameters, gnss.FixQuality, gnss.QualityChange)
KINDS += (gnss.GnssOutages, gnss.GnssHeading, gnss.GnssOrigin, gnss.GnssSpecification)
KINDS += (gimbal.HeldAttitude, gimbal.PointAhead, gimbal.PointOnEarth, gimbal.Stabilisation)
DECLARED: dict = {**{kind: {} for kind in KINDS}, Bar: {"position": (0.0, 0.0, 0.0), "size": 1.0}}
"""Settings -> what has to be given for them."""


@pytest.mark.parametrize("kind", DECLARED)
def test_no_declared_number_comes_into_being_beyond_its_bounds(kind):
    for key in dataclasses.fields(kind):
        check, bounds = key.metadata.get("check"), key.metadata.get("bounds", {})
        if check not in (check_number, check_axes, checked_parameter):
            continue
        wrong = ["much", True, math.nan, math.inf, 10**400, 1e200]
        wrong += [bounds["minimum"] - 1.0] if "minimum" in bounds else []
        wrong += [bounds["above"]] if "above" in bounds else []
        wrong += [2.0 * bounds["maximum"]] if "maximum" in bounds else []
        for value in wrong:
            with pytest.raises(ConfigurationError, match=f"^(The IMU's )?{key.name}.* is "):
                kind(**{**DECLARED[kind], key.name: value})
