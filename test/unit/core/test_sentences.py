"""Quoting of values in messages: short values in full, long values shortened."""

import numpy as np
import pytest

from imu_simulation_framework.core.errors import FrameworkError
from imu_simulation_framework.core.sentences import format_degrees, join_names, quote


@pytest.mark.parametrize(
    "value",
    [
        "x" * 190,
        "{reference: {topic: /odometry/filtered}, imu_recording: {topic: /imu/data_raw}}",
        5,
        None,
    ],
)
def test_short_value_is_quoted_in_full(value):
    assert quote(value) == repr(value)


def test_long_value_is_quoted_with_omitted_middle_and_length():
    text = quote("a" + 9000 * "x" + "b")
    assert text.startswith("'axxx")
    assert text.endswith("xxxb' (9002 characters)")
    assert len(text) < 220
    text = str(FrameworkError("a.csv: " + "x" * 5000 + "; expected y."))
    assert text.startswith("a.csv: xxx")
    assert text.endswith("x; expected y. (5020 characters)")
    assert len(text) < 1600
    assert str(FrameworkError("b" * 1500)) == "b" * 1500


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def shared(depth):
    """Return nested lists that share objects, like YAML aliases, and print as 9 ** depth values."""
    value = ["lol"]
    for _ in range(depth):
        value = [value] * 9
    return value


@pytest.mark.parametrize(
    "value",
    [nested(5000), shared(30), 10**9999, -(1 << 99999), {"a": nested(99)}, list(range(999))],
    ids=["nested", "shared", "digits", "bits", "within", "many"],
)
def test_quoted_nested_or_huge_value_stays_short(value):
    assert len(quote(value)) < 300


def test_long_list_of_names_is_shortened():
    names = [f"column_{k}" for k in range(40)]
    assert join_names(names) == ", ".join(names)
    assert join_names(names * 9).endswith("column_19 and 340 more")
    assert join_names(["a" * 9000]).endswith("(9000 characters)")


@pytest.mark.parametrize(
    ("angle", "words"), [(-0.001, "0 deg"), (0.0, "0 deg"), (-7.0, "-401 deg")]
)
def test_angle_rounded_to_zero_has_no_sign(angle, words):
    assert format_degrees(angle) == words
    assert format_degrees(np.float64(angle)) == words
