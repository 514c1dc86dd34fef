"""Result of a heading budget: percentiles at the end, and first passage of the limit."""

import math

import numpy as np
import pandas as pd
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.heading.answer import FirstPassage, HeadingAnswer, heading_answer
from imu_simulation_framework.heading.model.imu_error_sources import yaw_error_model
from imu_simulation_framework.motion.sources import planar
from imu_simulation_framework.sensors.imu_specification import ImuSpecification, TriadSpecification
from imu_simulation_framework.sensors.operation import Operation

LIMIT = math.radians(3.0)


@pytest.fixture(scope="module")
def model():
    """Return a yaw error model with only a bias, so that the error magnitude never decreases."""
    bias = TriadSpecification(turn_on_bias_sigma=[0.0, 0.0, math.radians(0.05)])
    motion = isf.straight(60.0)
    operation = Operation(standstill=0.0)
    return yaw_error_model(ImuSpecification(gyroscope=bias), motion, 1.0, operation=operation)


def test_share_of_drives_always_within_limit_is_at_most_share_within_limit_at_end(model):
    answers = [heading_answer(model, LIMIT, runs=200, seed=seed) for seed in range(8)]
    # The error at the end is normal with a standard deviation of 60 s * 0.05 deg/s = 3 deg.
    assert answers[0].within == pytest.approx(math.erf(math.sqrt(0.5)), abs=1e-6)
    stays = np.array([answer.first_passage.probability_within[-1] for answer in answers])
    assert (stays <= answers[0].within).all()
    # The standard error with 200 runs is 0.033.
    assert (stays > answers[0].within - 5.0 * 0.033).all()
    for answer in answers:
        assert (np.diff(answer.first_passage.probability_within) <= 0.0).all()


def test_first_passage_interval_contains_true_time_of_constant_bias(model):
    passage = heading_answer(model, LIMIT, runs=2000).first_passage
    low, high = passage.interval(0.05)
    # 5 % of biases exceed 1.96 times 0.05 deg/s in magnitude.
    true_time = 3.0 / (1.96 * 0.05)
    assert low <= passage.time_at(0.05) <= high
    assert low - 1.0 <= true_time <= high + 1.0


def turned_and_back(net_turn):
    """Return a yaw error model with only a scale factor error on a turn, which lasts 60 s."""
    time = np.arange(0.0, 60.5, 0.5)
    turn = np.interp(time, [0.0, 30.0, 60.0], [0.0, math.pi, net_turn])
    scale = TriadSpecification(scale_factor_and_misalignment=np.diag([0.0, 0.0, 0.01]).tolist())
    motion = planar(pd.DataFrame({"x": 0.1 * time, "y": 0.0, "yaw": turn}, index=time))
    operation = Operation(standstill=0.0)
    imu = ImuSpecification(gyroscope=scale)
    return yaw_error_model(imu, motion, 1.0, operation=operation)


def test_error_before_turning_back_is_reported_with_its_time():
    found = heading_answer(turned_and_back(0.0), LIMIT, runs=20)
    assert found.largest.time == pytest.approx(30.0, abs=1.0)
    # The error is 1 % of the net turn.
    assert found.largest.percentile_95 == pytest.approx(0.01 * math.pi, rel=0.05)
    assert found.percentile_95 < 0.05 * found.largest.percentile_95
    assert "but 1.8 deg in 95 % at 30 s" in found.sentence("part", LIMIT)


def test_error_that_is_largest_at_the_end_is_reported_once():
    found = heading_answer(turned_and_back(2.0 * math.pi), LIMIT, runs=20)
    assert found.largest.time == 60.0
    assert found.largest.percentile_95 == found.percentile_95
    assert "largest error" not in found.sentence("part", LIMIT)


def answer(percentile_50, percentile_95, stays):
    time = np.array([0.0, 600.0, 1200.0])
    passage = FirstPassage(time, np.array(stays), np.zeros(3))
    return HeadingAnswer(percentile_50, percentile_95, stays[-1], passage, pd.DataFrame(), ())


def test_heading_message_begins_with_share_of_drives_within_limit():
    sentence = answer(0.01, 0.05, [1.0, 0.97, 0.92]).sentence("part", LIMIT)
    assert sentence.startswith("part: stays within 3 deg for all 1200 s in 92 % of drives")
    assert "3 deg is exceeded in 5 % of them within 1200 s" in sentence


def test_message_for_lost_heading_does_not_report_180_degrees_as_limit():
    sentence = answer(0.5, 4.0, [1.0, 0.5, 0.1]).sentence("part", LIMIT)
    assert "off by half a turn or more in 5 %" in sentence
    assert "within half a turn" not in sentence


def test_message_for_rarely_exceeded_limit_reports_share_of_drives():
    sentence = answer(0.01, 0.02, [1.0, 0.99, 0.98]).sentence("part", LIMIT)
    assert "3 deg is exceeded in fewer than 5 %" in sentence


def test_heading_message_reports_variance_shares_by_origin_of_parameters():
    shares = {
        "rate random walk": 0.62,
        "bias instability": 0.3,
        "angle random walk": 0.05,
        "scale factor": 0.026,
        "misalignment": 0.004,
    }
    origins = {
        "random_walk": "class of part",
        "bias_instability": "measured (1 unit) and class",
        "white_noise": "measured (3 units)",
        "scale_factor": "data sheet",
        "misalignment": "data sheet",
    }
    causes = pd.DataFrame({"share": shares})
    found = answer(0.01, 0.05, [1.0, 0.97, 0.92])._replace(causes=causes)
    assert (
        "the largest source is rate random walk; 62 % of the variance is assumed from similar "
        "parts, 30 % measured on this part and weighted with similar ones, 5 % measured on this "
        "part, 3 % from the data sheet"
    ) in found.sentence("part", LIMIT, origins)
    assert "variance" not in found.sentence("part", LIMIT)


def test_deprecated_names_of_heading_answer_warn_and_return_new_values():
    result = answer(0.01, 0.05, [1.0, 0.97, 0.92])
    for old, new in (
        ("half", "percentile_50"),
        ("nearly_all", "percentile_95"),
        ("passage", "first_passage"),
        ("mendings", "improvements"),
    ):
        with pytest.warns(DeprecationWarning, match=new):
            assert getattr(result, old) is getattr(result, new)
    with pytest.warns(DeprecationWarning, match="time_at"):
        assert result.first_passage.by(0.05) == result.first_passage.time_at(0.05)
    with pytest.warns(DeprecationWarning, match="probability_within"):
        assert result.first_passage.stays is result.first_passage.probability_within


def test_deprecated_not_exceeded_warns_and_returns_absolute_quantile(model):
    with pytest.warns(DeprecationWarning, match="absolute_quantile"):
        assert model.not_exceeded(0.95) == model.absolute_quantile(0.95)
