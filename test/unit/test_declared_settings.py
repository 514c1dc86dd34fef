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
    keys_of,
    setting,
    setting_of_text,
)


@dataclass(frozen=True)
class Example(Settings):
    length: float = setting(1.0, unit="m", above=0.0, maximum=10.0)
    limit: float | None = setting(None, minimum=0.5)
    seed: int = setting(1, minimum=0, maximum=LARGEST_SEED)
    used: bool = setting(True)
    way: str = setting("", choices=("here", "there"), other_names={"yonder": "there"})
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
        ("way", "there", "yonder"),
        ("colours", ("green", "red"), "green, red"),
    ],
)
def test_what_is_declared_is_accepted_in_both_forms(key, value, text):
    assert getattr(Example(**{key: value}), key) == of_text(key, text) == value


@pytest.mark.parametrize(
    ("key", "value", "words", "of_a_text"),
    [
        ("length", 0.0, "must be positive", "expected more than 0.0"),
        ("length", 11.0, "must be at most 10", "expected at most 10.0"),
        ("length", math.nan, "must be a finite number", "expected a finite number"),
        ("length", "wide", "must be a finite number", "expected a number"),
        ("limit", 0.4, "must be at least 0.5", "expected at least 0.5"),
        ("seed", -1, "must be at least 0", "expected at least 0"),
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


def test_own_keys_come_before_those_of_what_is_set():
    assert [key.name for key in keys_of(Extended)][:2] == ["name", "length"]


def test_an_integer_for_a_measured_number_becomes_one():
    assert isinstance(Example(length=3).length, float)
