"""Settings of the page of explore.py, as form fields and as the query string of its URL."""

import math

import pytest

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.heading.explore.answers import (
    Question,
    question_address,
    question_from_address,
    question_from_texts,
    question_texts,
    time_text,
)

QUESTIONS = [
    Question(),
    Question(motion="circles", radius=0.123456, speed=7.0, limit=0.3, unit="this"),
    Question(motion="mowing", length=33.0, width=0.5, imu=("stim300",), ranked="all"),
    Question(motion="drive", drive="a drive & more=#?.bag", stops="found", duration=5400.0),
    Question(stops="given", every=300.0, stop=4.5, standstill=0.0, warm_up=1234.5, duration=90.0),
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_page_settings_are_restored_from_form_fields_and_url(question):
    assert question_from_texts(question_texts(question)) == question
    assert question_from_address(f"?{question_address(question)}") == question


def test_url_contains_only_fields_that_differ_from_defaults():
    assert question_address(Question()) == ""
    question = Question(motion="circles", radius=3.0, imu=("mti3", "bno055"), duration=1800.0)
    assert question_address(question) == "motion=circles&radius=3&duration=30min&imu=mti3,bno055"


@pytest.mark.parametrize(
    "seconds, text",
    [(0.0, "0s"), (59.0, "59s"), (60.0, "1min"), (61.0, "61s"), (90.0, "1.5min"), (3600.0, "1h"),
     (9000.0, "2.5h"), (0.1, "0.1s"), (12345.678, "12345.678s")],
)  # fmt: skip
def test_duration_text_uses_unit_with_fewest_digits(seconds, text):
    assert time_text(seconds) == text
    if seconds >= 10.0:
        assert question_from_texts({"duration": text}).duration == pytest.approx(seconds, rel=1e-12)


def test_page_settings_define_operation_with_regular_stops():
    question = Question(stops="given", every=150.0, stop=4.0, standstill=20.0, warm_up=60.0)
    assert question.operation.stops == "every 2.5min for 4s"
    assert question.operation.given_stops == (150.0, 4.0)
    assert (question.operation.standstill, question.operation.warm_up) == (20.0, 60.0)
    assert question.limit_angle == math.radians(5.0)


@pytest.mark.parametrize(
    "texts, words",
    [
        ({"duration": "9h"}, "time: is 9h, expected"),
        ({"duration": "ten"}, "time: is 'ten', expected"),
        ({"radius": "wide"}, "radius: is 'wide', expected"),
        ({"motion": "flying"}, "motion: is 'flying', expected"),
        ({"imu": "a,b,c,d,e,f,g"}, "parts: is ("),
        ({"colour": "red"}, "no field colour; choose one of: motion, drive"),
    ],
)
def test_invalid_page_setting_is_rejected_with_field_name(texts, words):
    with pytest.raises(ConfigurationError) as refusal:
        question_from_texts(texts)
    assert words in str(refusal.value) and "\n" not in str(refusal.value)
