"""Results on the page of explore.py, compared with the commands and Python code shown there."""

import contextlib
import io
import math
import re
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import FrameworkError
from imu_simulation_framework.heading.explore.answers import (
    Answers,
    CommandTexts,
    question_from_address,
)

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from tool_calls import assert_success, call_tool

QUICK_ADDRESS = (
    "motion=circles&radius=3&speed=0.5&stops=given&every=20s&stop=4s&duration=1min&imu=mpu6050"
    "&unit=this&standstill=20s"
)
GATE_ADDRESSES = [
    "motion=mowing&duration=1min&imu=stim300,bmi088&unit=any&warm_up=5min",
    "motion=drive&drive=b&duration=1min&imu=bno055&standstill=0s",
]
RANKED_ADDRESSES = [
    "motion=mowing&duration=4min&imu=stim300,bmi088&unit=any&warm_up=5min",
    "stops=given&every=1min&stop=4s&duration=10min&imu=bmi270",
]
WITHIN = re.compile(
    r"(\S+): stays within .*; at the end within (\S+) deg in 50 % and (\S+) deg in 95 %[;,]"
)


@pytest.fixture(scope="module")
def answers():
    return Answers(None)


def agree(answers, question, printed):
    found = WITHIN.findall(printed)
    # Coarser motion steps affect the filter's tilt in curves; the page displays three digits.
    assert [name for name, *_ in found] == list(question.imu)
    for name, *sizes in found:
        part = answers.part(question, name)
        expected = np.degrees([part.percentile_50, part.percentile_95])
        np.testing.assert_allclose(np.float64(sizes), expected, rtol=0.01)


@pytest.mark.parametrize(
    "address",
    [QUICK_ADDRESS, *(pytest.param(address, marks=pytest.mark.gate) for address in GATE_ADDRESSES)],
)
def test_displayed_command_and_python_code_reproduce_results_of_page(
    answers, address, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    question = question_from_address(address)
    page_motion, step = answers.motion(question), answers.model(question, question.imu[0]).step
    program, *arguments = shlex.split(CommandTexts().budget_command(question, page_motion))
    agree(answers, question, assert_success(call_tool(program, *arguments)).stdout)
    lines = CommandTexts().python_lines(question, page_motion, step)
    assert len(lines.splitlines()) == (6 if len(question.imu) == 1 else 7)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(lines, {})
    agree(answers, question, printed.getvalue())


@pytest.mark.parametrize("address", RANKED_ADDRESSES)
def test_ranking_on_page_matches_ranking_of_displayed_command(answers, address):
    question = question_from_address(address)
    program, *arguments = shlex.split(
        CommandTexts().ranking_command(question, answers.motion(question))
    )
    printed = assert_success(call_tool(program, *arguments, "--table", "csv")).stdout
    rows = [line.split(",") for line in printed.splitlines() if line.startswith(question.imu)]
    for row in answers.ranked(question):
        (shown,) = (cells for cells in rows if cells[0] == row.index[0])
        assert float(shown[4]) == pytest.approx(
            math.degrees(row["required_percentile"].iloc[0]), rel=0.01, abs=0.006
        )
        assert shown[1] == ("yes" if row["passes"].iloc[0] else "no")
        assert shown[6] == row["largest_source"].iloc[0]
    assert len(rows) == len(question.imu)


def test_ranking_of_all_parts_covers_complete_catalogue(answers):
    question = question_from_address("ranked=all&duration=1min")
    names = [row.index[0] for row in answers.ranked(question)]
    assert sorted(names) == sorted(answers.parts) and len(names) > 15
    assert "--imu" not in CommandTexts().ranking_command(question, answers.motion(question))


def test_result_for_drive_shorter_than_requested_duration_applies_to_its_end(answers):
    page_motion = answers.motion(question_from_address("motion=drive&duration=8h"))
    assert page_motion.at == 660.0
    assert page_motion.remarks == ("drive a lasts 660 s: the answer applies to its end",)


def test_part_measured_only_while_stationary_has_remark(answers):
    question = question_from_address("imu=bno055,bno055_datasheet")
    measured, from_data_sheet = (answers.part(question, name) for name in question.imu)
    (remark,) = measured.remarks
    assert remark.startswith("bno055 has only stationary errors") and from_data_sheet.remarks == ()


def test_uploaded_recording_is_read_once(tmp_path):
    read = []

    def reader(path):
        read.append(path)
        return SimpleNamespace(motion=isf.straight(30.0, rate=20.0), remarks=("as guessed",))

    answers = Answers(reader)
    answers.add_recording("mine.bag", "/somewhere/mine.bag")
    question = question_from_address("motion=drive&drive=mine.bag&duration=20s&imu=bno055")
    page_motion = answers.motion(question)
    assert (page_motion.name, page_motion.at, page_motion.remarks) == (
        "mine.bag",
        20.0,
        ("as guessed",),
    )
    assert read == ["/somewhere/mine.bag"] and "mine.bag" in answers.drives
    words = CommandTexts({"mine.bag": "/somewhere/mine.bag"})
    assert words.budget_command(question, page_motion).startswith(
        "heading_budget.py /somewhere/mine.bag"
    )
    assert "isf.read_motion('/somewhere/mine.bag')" in words.python_lines(
        question, page_motion, 1.0
    )


@pytest.mark.parametrize(
    "address, words",
    [
        (
            "motion=drive&drive=gone.bag",
            "unknown drive gone.bag, expected one of a, b, c, d",
        ),
        ("stops=given&every=4s&stop=3s", "leave no time to drive"),
    ],
)
def test_page_settings_that_cannot_be_simulated_are_rejected(answers, address, words):
    question = question_from_address(address)
    with pytest.raises(FrameworkError) as refusal:
        answers.part(question, question.imu[0])
    assert words in str(refusal.value) and "\n" not in str(refusal.value)
