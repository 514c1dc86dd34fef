"""The judge sees defects that are put into the product for it, in as many trials as the gate has.

Each is one that nobody would notice who only looks whether a program ends with 0 or 2.
"""

import os
from dataclasses import replace
from pathlib import Path

import fuzz
import numpy as np
import pytest
import targets

from imu_simulation_framework.core import errors, programs
from imu_simulation_framework.recordings import reading
from imu_simulation_framework.recordings.formats import any_format, bag

SEED, TRIALS = 1, 300


def success_after_an_error(monkeypatch):
    code = programs._code
    monkeypatch.setattr(programs, "_code", lambda *given, **more: code(*given, **more) and 0)


def bare_key_error_in_a_reader_of_text(monkeypatch):
    monkeypatch.setattr(any_format, "read_plain_csv", lambda *_: {}["stamp"])


def bare_key_error_in_a_reader_of_bags(monkeypatch):
    """There whatever a library raises becomes a sentence on a damaged file."""
    monkeypatch.setattr(bag, "topic_and_type", lambda *_: {}["topic"])


def every_50th_row_dropped(monkeypatch):
    read = reading.read_samples

    def some(*given, **more):
        samples = read(*given, **more)
        kept = np.arange(len(samples)) % 50 != 49
        columns = {name: values[kept] for name, values in samples.columns.items()}
        return replace(samples, columns=columns, places=samples.places[kept])

    monkeypatch.setattr(reading, "read_samples", some)


def file_name_missing(monkeypatch):
    text = errors.FrameworkError.__str__

    def without_name(error):
        name, colon, rest = text(error).partition(": ")
        return rest if colon and " " not in name else text(error)

    monkeypatch.setattr(errors.FrameworkError, "__str__", without_name)


def missing_result(monkeypatch):
    monkeypatch.setattr(os, "replace", lambda source, target: os.rename(source, f"{source}.x"))


def truncated_result(monkeypatch):
    move = os.replace

    def cut(source, target):
        if os.path.isfile(source):
            os.truncate(source, os.path.getsize(source) // 2)
        move(source, target)

    monkeypatch.setattr(os, "replace", cut)


def result_elsewhere_too(monkeypatch):
    move = os.replace

    def twice(source, target):
        Path("..", "copy").write_text("a result\n")
        move(source, target)

    monkeypatch.setattr(os, "replace", twice)


@pytest.mark.slow
@pytest.mark.timeout(1200)  # on a machine that is very busy
@pytest.mark.parametrize(
    "plant",
    [
        success_after_an_error,
        bare_key_error_in_a_reader_of_text,
        bare_key_error_in_a_reader_of_bags,
        every_50th_row_dropped,
        file_name_missing,
        missing_result,
        truncated_result,
        result_elsewhere_too,
    ],
)
def test_a_planted_defect_is_seen(plant, monkeypatch, tmp_path, record_property):
    targets.prepare()
    plant(monkeypatch)
    for number in range(TRIALS):
        judgement = fuzz.judge(SEED, number, fuzz.scratch(tmp_path, number))
        if judgement.verdict.short:
            break
    else:
        pytest.fail(f"not seen within {TRIALS} trials")
    monkeypatch.undo()
    well = fuzz.judge(SEED, number, fuzz.scratch(tmp_path / "without", number))
    assert not well.verdict.short, "it is short without the defect, too"
    record_property("trials", number + 1)
    print(f"{plant.__name__}: seen in trial {number}: {judgement.verdict.short[0][:200]}")
