"""Check that each defect injected into the package violates a property."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sample_files
import test_hostile_parameters
import test_hostile_recordings
import test_hostile_results
import test_hostile_settings
from outcome_checker import OutcomeChecker
from program_result import Limits

from imu_simulation_framework.core import errors, programs, settings, whole_files
from imu_simulation_framework.recordings import quantities, reading
from imu_simulation_framework.recordings.formats import bag

pytestmark = pytest.mark.thorough


def traceback_on_damaged_text(monkeypatch):
    monkeypatch.setattr(quantities, "read_plain_csv", lambda *_: {}["stamp"])


def rejected_valid_bag(monkeypatch):
    """Raise a KeyError in the topic selection, which the reader converts to a rejection."""
    monkeypatch.setattr(bag, "topic_and_type", lambda *_: {}["topic"])


def success_code_after_rejection(monkeypatch):
    run = programs._exit_code
    monkeypatch.setattr(programs, "_exit_code", lambda *words, **more: run(*words, **more) and 0)


def rejection_without_file_name(monkeypatch):
    text = errors.FrameworkError.__str__

    def text_without_name(error):
        return re.sub(r"[^\s:,]*\.[a-z]\w+", "the file", text(error))

    monkeypatch.setattr(errors.FrameworkError, "__str__", text_without_name)


def table_cut_at_line_end(monkeypatch):
    """Truncate each table after half of its lines, so that it remains valid."""
    move = os.replace

    def cut_and_move(source, target):
        content = Path(source).read_bytes()
        if str(target).endswith((".csv", ".tum")):
            lines = content.splitlines(keepends=True)
            Path(source).write_bytes(b"".join(lines[: 1 + len(lines) // 2]))
        move(source, target)

    monkeypatch.setattr(os, "replace", cut_and_move)


def half_written_file(monkeypatch):
    monkeypatch.setattr(whole_files, "_remove", lambda folder: None)


def missing_file(monkeypatch):
    monkeypatch.setattr(os, "replace", lambda source, target: os.remove(source))


def dropped_samples(monkeypatch):
    read = reading.read_samples

    def read_most(*words, **more):
        samples = read(*words, **more)
        kept = np.arange(len(samples)) % 50 != 49
        columns = {name: values[kept] for name, values in samples.columns.items()}
        return replace(samples, columns=columns, places=samples.places[kept])

    monkeypatch.setattr(reading, "read_samples", read_most)


def accepted_infinity(monkeypatch):
    """Remove the validation of numbers."""
    monkeypatch.setitem(settings._CHECKS, "float", lambda name, value, **_: value)


def accepted_value_out_of_range(monkeypatch):
    for annotation in ("float", "int"):
        monkeypatch.setitem(settings._CHECKS, annotation, lambda name, value, **_: value)


def file_outside_of_output(monkeypatch):
    move = os.replace

    def move_and_copy(source, target):
        Path("..", "copy").write_text("a result\n")
        move(source, target)

    monkeypatch.setattr(os, "replace", move_and_copy)


def endless_loop(monkeypatch):
    def loop(*_):
        while True:
            pass

    monkeypatch.setattr(quantities, "read_plain_csv", loop)


WRITING = (
    test_hostile_results.test_simulate_static_writes_all_samples,
    test_hostile_results.test_program_that_reads_results_writes_complete_tables,
)
READING_TEXT = (
    test_hostile_recordings.test_damaged_text_recording_is_read_or_rejected,
    test_hostile_recordings.test_damaged_text_recording_is_checked_or_rejected,
)
REJECTING = (
    *READING_TEXT,
    test_hostile_recordings.test_damaged_bag_is_read_or_rejected,
    test_hostile_recordings.test_missing_empty_or_special_input_file_is_rejected,
    test_hostile_recordings.test_damaged_log_is_checked_or_rejected,
    test_hostile_settings.test_damaged_robot_file_is_loaded_or_rejected,
    test_hostile_settings.test_damaged_correction_file_is_loaded_or_rejected,
    test_hostile_settings.test_damaged_configuration_is_loaded_or_rejected,
    test_hostile_settings.test_arbitrary_configuration_value_is_loaded_or_rejected,
    test_hostile_parameters.test_damaged_imu_parameter_file_is_converted_or_rejected,
    test_hostile_parameters.test_damaged_imu_specification_is_simulated_or_rejected,
    test_hostile_results.test_damaged_result_is_evaluated_or_rejected,
)
# Defect -> properties that must be violated.
DEFECTS = {
    traceback_on_damaged_text: READING_TEXT,
    rejected_valid_bag: (test_hostile_recordings.test_intact_recording_is_read_with_all_samples,),
    success_code_after_rejection: REJECTING[:2],
    rejection_without_file_name: REJECTING,
    table_cut_at_line_end: (
        *WRITING,
        test_hostile_results.test_heading_budget_writes_complete_tables,
        test_hostile_settings.test_drive_with_arbitrary_configuration_value_succeeds_or_is_rejected,
    ),
    half_written_file: WRITING,
    missing_file: WRITING,
    dropped_samples: (
        test_hostile_recordings.test_intact_recording_is_read_with_all_samples,
        test_hostile_recordings.test_unusable_values_in_table_are_counted,
    ),
    accepted_infinity: (test_hostile_settings.test_non_finite_number_in_configuration_is_rejected,),
    accepted_value_out_of_range: (
        test_hostile_settings.test_out_of_range_number_in_configuration_is_rejected,
    ),
    file_outside_of_output: WRITING,
    endless_loop: (test_hostile_recordings.test_intact_recording_is_read_with_all_samples,),
}


@pytest.fixture(scope="module", autouse=True)
def sample_files_without_defects():
    """Create and cache the sample files before a defect is injected."""
    for make in (
        sample_files.recordings,
        sample_files.logs,
        sample_files.recordings_at_rest,
        sample_files.result,
    ):
        make()
    sample_files.parameters()


@pytest.mark.parametrize(
    "inject, test",
    [
        pytest.param(inject, test, id=f"{inject.__name__}-{test.__name__}")
        for inject, tests in DEFECTS.items()
        for test in tests
    ],
)
def test_injected_defect_violates_property(inject, test, monkeypatch, tmp_path):
    # A recording is normally read within a second of processor time.
    check_outcome = OutcomeChecker(
        tmp_path, Limits(cpu=1.0) if inject is endless_loop else Limits()
    )
    inject(monkeypatch)
    with pytest.raises(AssertionError):
        test(check_outcome=check_outcome)
