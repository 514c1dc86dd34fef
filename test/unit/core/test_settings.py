"""Declarations of settings: checks of values and text, key order, and descriptions."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import pytest

from imu_simulation_framework.core.checks import LARGEST_SEED, check_axes, check_number
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.settings import (
    Settings,
    TextSettings,
    check_setting,
    describe_setting,
    describe_values,
    from_mapping,
    keys_of,
    read_setting,
    setting,
    setting_text,
    to_mapping,
)
from imu_simulation_framework.flight.gimbal import stabilisation as gimbal
from imu_simulation_framework.sensors.gnss import specification as gnss
from imu_simulation_framework.sensors.imu_models.base import checked_parameter
from imu_simulation_framework.sensors.imu_models.plugins import GenericParameters, HectorParameters
from imu_simulation_framework.sensors.imu_specification import PARTS
from imu_simulation_framework.sensors.magnetism.bodies import Bar


@dataclass(frozen=True)
class Example(TextSettings):
    length: float = setting(1.0, unit="m", above=0.0, maximum=10.0, about="length of a step")
    limit: float | None = setting(None, minimum=0.5)
    seed: int = setting(1, minimum=0, maximum=LARGEST_SEED)
    used: bool = setting(True)
    side: str = setting("", choices={"left": "", "right": "seen from behind"})
    colours: tuple = setting(("red",), choices=("red", "green"))
    offset: float = setting(0.0, unit="s")


@dataclass(frozen=True)
class Extended(Example):
    name: str = setting("")


@dataclass(frozen=True)
class Restricted(Extended):
    seed: int = setting(1, minimum=1)


@dataclass(frozen=True)
class Part(Settings):
    mass: float = setting(unit="kg", above=0.0)


@dataclass(frozen=True)
class Assembly(Settings):
    part: Part = setting(part=Part)
    others: tuple[Part, ...] = setting((), part=Part)
    factor: float = setting(1.0, always=True)


KEYS = {key.name: key for key in dataclasses.fields(Example)}


def read(key, text):
    return read_setting(Example, KEYS[key], text, f"a.ini, [b] {key}")


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("length", 2.5, "2.5"),
        ("limit", 0.5, "0.5"),
        ("seed", LARGEST_SEED, str(LARGEST_SEED)),
        ("used", False, "no"),
        ("side", "right", "right"),
        ("colours", ("green", "red"), "green, red"),
    ],
)
def test_setting_within_declared_range_is_accepted_as_value_and_as_text(key, value, text):
    assert getattr(Example(**{key: value}), key) == read(key, text) == value
    assert read(key, setting_text(value)) == value


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("length", 0.0, "0"),
        ("length", 10.5, "10.5"),
        ("length", math.nan, "nan"),
        ("length", True, "long"),
        ("limit", 0.4, "0.4"),
        ("offset", 2e10, "2e10"),
        ("offset", -2e10, "-2e10"),
        ("seed", 2**63, str(2**63)),
        ("seed", 1.5, "1.5"),
        ("used", "maybe", "maybe"),
        ("side", "up", "up"),
        ("colours", ("blue",), "blue"),
        ("colours", ("red", "red"), "red, red"),
        ("colours", (), ","),
    ],
)
def test_setting_outside_declared_range_is_rejected_with_setting_name(key, value, text):
    with pytest.raises(ConfigurationError, match=f"^{key} is .*, expected "):
        Example(**{key: value})
    with pytest.raises(ConfigurationError, match=rf"^a.ini, \[b\] {key}: is .*, expected "):
        read(key, text)


def test_setting_default_outside_choices_is_accepted():
    assert Example(side="").side == "" and Example(limit=None).limit is None


def test_number_without_declared_maximum_has_default_limit():
    assert Part(2e10).mass == 2e10
    with pytest.raises(ConfigurationError, match="^mass is "):
        Part(2e12)


def test_keys_of_subclass_precede_inherited_keys():
    assert [key.name for key in keys_of(Extended)][:2] == ["name", "length"]


def test_overridden_key_has_inherited_position_and_new_declaration():
    keys = keys_of(Restricted)
    assert [key.name for key in keys] == [key.name for key in dataclasses.fields(Extended)]
    assert next(key for key in keys if key.name == "seed").metadata["minimum"] == 1


def test_integer_becomes_float_for_declared_number():
    assert isinstance(Example(length=3).length, float)


def test_setting_description_has_meaning_unit_range_and_default():
    words = describe_setting(Example, KEYS["length"])
    assert words.startswith("length of a step") and words.endswith("default 1.0")
    assert "10 [m]" in words
    assert describe_values(Example, KEYS["used"]) == "true or false"
    assert "green" in describe_values(Example, KEYS["colours"])


def test_setting_description_contains_specified_default():
    words = describe_setting(Example, "length", "as recorded")
    assert words.startswith("length of a step") and words.endswith("default as recorded")


def test_setting_choices_are_described_with_their_meanings():
    assert describe_values(Example, KEYS["side"]).endswith("left, right (seen from behind)")


def test_largest_seed_is_described_as_power_of_two():
    assert describe_values(Example, KEYS["seed"]).endswith("to 2^63 - 1")


def test_nested_settings_round_trip_through_mapping():
    whole = Assembly(Part(2.0), (Part(3.0), Part(4.0)))
    content = {"part": {"mass": 2.0}, "others": [{"mass": 3.0}, {"mass": 4.0}], "factor": 1.0}
    assert to_mapping(whole) == content
    assert from_mapping(Assembly, content, "the whole") == whole


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ({}, "part"),
        ({"part": {}}, "mass"),
        ({"part": {"mass": 0}}, r"part\.mass is 0"),
        ({"part": {"mass": 1}, "others": {}}, "others is "),
        ({"part": {"mass": 1}, "others": [{"mass": -1}]}, r"others\[0\]\.mass is -1"),
        ({"part": {"mass": 1}, "mass": 2}, "'mass'; it is a key of part"),
        ({"part": {"mass": 1}, "factr": 2}, "'factr'; did you mean factor"),
        ([1], r"the whole is \[1\]"),
    ],
)
def test_invalid_settings_mapping_is_rejected_with_offending_key(content, place):
    with pytest.raises(ConfigurationError, match=place):
        from_mapping(Assembly, content, "the whole")


SETTINGS_CLASSES = (
    *PARTS.values(),
    GenericParameters,
    HectorParameters,
    gnss.FixQuality,
    gnss.QualityChange,
)
SETTINGS_CLASSES += (gnss.GnssOutages, gnss.GnssHeading, gnss.GnssOrigin, gnss.GnssSpecification)
SETTINGS_CLASSES += (
    gimbal.HeldAttitude,
    gimbal.PointAhead,
    gimbal.PointOnEarth,
    gimbal.Stabilisation,
)
REQUIRED_VALUES: dict = {
    **{kind: {} for kind in SETTINGS_CLASSES},
    Bar: {"position": (0.0, 0.0, 0.0), "size": 1.0},
}
"""Settings classes, with values of those keys that have no default."""


@pytest.mark.parametrize("kind", REQUIRED_VALUES)
def test_yaml_number_outside_bounds_is_rejected_with_setting_name(kind):
    for key in dataclasses.fields(kind):
        is_number = key.metadata and key.type.replace(" | None", "") == "float"
        if not is_number and key.metadata.get("check") not in (check_axes, checked_parameter):
            continue
        wrong = ["much", True, math.nan, math.inf, 10**400, 1e200]
        declared = key.metadata
        wrong += [declared["minimum"] - 1.0] if declared["minimum"] is not None else []
        wrong += [declared["above"]] if declared["above"] is not None else []
        wrong += [2.0 * declared["maximum"]] if declared["maximum"] is not None else []
        for value in wrong:
            with pytest.raises(ConfigurationError, match=f"^(The IMU's )?{key.name}.* is "):
                kind(**{**REQUIRED_VALUES[kind], key.name: value})


def test_setting_error_begins_with_setting_name():
    with pytest.raises(ConfigurationError, match="^the length is -1"):
        check_setting(Example, KEYS["length"], "the length", -1)


@pytest.mark.parametrize("value", [1e-13, 0.0, -1.0, 2e12, "1", None, True])
def test_positive_number_without_maximum_rejects_tiny_and_huge_values(value):
    with pytest.raises(ConfigurationError, match="^x is "):
        check_number("x", value, above=0.0)
