"""The answer of a heading budget: what holds to the end, and when the limit is passed."""

import math

import numpy as np
import pandas as pd
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.heading.answer import HeadingAnswer, Passage, heading_answer
from imu_simulation_framework.heading.model.of_imu import yaw_error_model
from imu_simulation_framework.sensors.imu_specification import ImuSpecification, TriadSpecification
from imu_simulation_framework.sensors.operation import Operation

LIMIT = math.radians(3.0)


@pytest.fixture(scope="module")
def model():
    """A rate bias only: what leaves the limit does not come back."""
    bias = TriadSpecification(turn_on_bias_sigma=[0.0, 0.0, math.radians(0.05)])
    motion = isf.straight(60.0)
    operation = Operation(standstill=0.0)
    return yaw_error_model(ImuSpecification(gyroscope=bias), motion, 1.0, operation=operation)


def test_share_that_stays_within_does_not_exceed_share_within_at_end(model):
    answers = [heading_answer(model, LIMIT, runs=200, seed=seed) for seed in range(8)]
    # Normal with a standard deviation of 60 s * 0.05 deg/s = 3 deg.
    assert answers[0].within == pytest.approx(math.erf(math.sqrt(0.5)), abs=1e-6)
    stays = np.array([answer.passage.stays[-1] for answer in answers])
    assert (stays <= answers[0].within).all()
    # Standard error of 200 runs: 0.033.
    assert (stays > answers[0].within - 5.0 * 0.033).all()
    for answer in answers:
        assert (np.diff(answer.passage.stays) <= 0.0).all()


def test_interval_of_passage_contains_true_time_of_constant_bias(model):
    passage = heading_answer(model, LIMIT, runs=2000).passage
    low, high = passage.interval(0.05)
    # 5 % of biases exceed 1.96 times 0.05 deg/s.
    true_time = 3.0 / (1.96 * 0.05)
    assert low <= passage.by(0.05) <= high
    assert low - 1.0 <= true_time <= high + 1.0


def answer(half, nearly_all, stays):
    time = np.array([0.0, 600.0, 1200.0])
    passage = Passage(time, np.array(stays), np.zeros(3))
    return HeadingAnswer(half, nearly_all, stays[-1], passage, pd.DataFrame(), ())


def test_sentence_says_in_how_many_drives_limit_is_kept():
    sentence = answer(0.01, 0.05, [1.0, 0.97, 0.92]).sentence("part", LIMIT)
    assert sentence.startswith("part: holds 3 deg for all 1200 s in 92 % of drives")
    assert "3 deg is passed in 5 % of them within 1200 s" in sentence


def test_heading_that_is_lost_is_not_called_within_half_a_turn():
    sentence = answer(0.5, 4.0, [1.0, 0.5, 0.1]).sentence("part", LIMIT)
    assert "off by half a turn or more in 5 %" in sentence
    assert "within half a turn" not in sentence


def test_limit_that_hardly_any_drive_passes_is_said_with_its_share():
    sentence = answer(0.01, 0.02, [1.0, 0.99, 0.98]).sentence("part", LIMIT)
    assert "3 deg is passed in fewer than 5 %" in sentence


def test_sentence_says_which_share_of_variance_rests_on_similar_parts():
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
        "most is rate random walk; 62 % of the variance is assumed from similar parts, 30 % "
        "measured on this part and weighed with similar ones, 5 % measured on this part, 3 % from "
        "the data sheet"
    ) in found.sentence("part", LIMIT, origins)
    assert "variance" not in found.sentence("part", LIMIT)
