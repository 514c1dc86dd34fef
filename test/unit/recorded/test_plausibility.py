"""Whether a recording can be what it seems to be: faults that were planted are found and named."""

from dataclasses import replace

import numpy as np
import pytest
from planted_faults import PLANTED, constant, scaled, shifted

from imu_simulation_framework.core import files
from imu_simulation_framework.core.columns import QUATERNION
from imu_simulation_framework.drive.check import Interpretation, RecordingCheck, judge, thinned
from imu_simulation_framework.recordings.bundled_drives import ensure_drive
from imu_simulation_framework.recordings.frames import ImuConventions, ReferenceConventions
from imu_simulation_framework.recordings.plausibility import findings as faults
from imu_simulation_framework.recordings.reading import read_imu_samples, read_reference_samples

DURATION = {"a": 110.0, "d": 300.0}
"""Rounds [s] of the bundled drives that have everything in them: bends; straights and turns."""


@pytest.fixture(scope="module", params=DURATION)
def any_drive(request):
    return beginning_of(request.param)


@pytest.fixture(scope="module")
def drive():
    return beginning_of("a")


def beginning_of(name):
    """Samples of a bundled drive's first rounds, orientations as quaternions."""
    reference, imu = ensure_drive(name, files.drive_folder())
    return (
        _beginning(read_reference_samples(reference), DURATION[name]),
        thinned(_beginning(read_imu_samples(imu), DURATION[name])),
    )


def _beginning(samples, duration):
    kept = samples.columns["stamp"] - samples.columns["stamp"][0] < duration
    columns = {name: values[kept] for name, values in samples.columns.items()}
    return replace(samples, columns=columns, places=samples.places[kept])


def check(reference, imu, reference_changes=None, imu_changes=None, offset=0.0):
    result = RecordingCheck()
    judge(
        result,
        Interpretation(
            reference,
            imu,
            ReferenceConventions(**(reference_changes or {})),
            ImuConventions(**(imu_changes or {})),
            (0.0, offset),
        ),
    )
    return result


def names(result):
    return [finding.fault for finding in result.findings]


def test_a_good_recording_gives_no_false_alarm(any_drive):
    assert names(check(*any_drive)) == []


@pytest.mark.parametrize("planted", PLANTED)
def test_planted_fault_is_named_and_its_settings_mend_it(any_drive, planted):
    plant, fault = PLANTED[planted]
    samples = plant(*any_drive)
    result = check(*samples)
    (finding,) = [finding for finding in result.findings if fault in finding.fault]
    assert finding.evidence
    # Others may go with it, but no grave one that a person could take for the cause.
    assert all(other is finding for other in result.grave)
    if finding.settings:
        again = check(*samples, *_changes(finding.settings))
        assert not [name for name in names(again) if name in finding.fault.split(" or ")]
        assert not again.grave


def _changes(settings):
    changes = {"reference": {}, "imu_recording": {}}
    offset = 0.0
    for section, key, value in settings:
        if key == "time_offset":
            offset = float(value)
        elif key.startswith("mounting_"):
            changes[section][key] = float(value)
        else:
            changes[section][key] = {"true": True, "false": False}.get(value, value)
    return changes["reference"], changes["imu_recording"], offset


def test_a_shifted_clock_is_measured(drive):
    reference, imu = drive
    for seconds in (0.5, -3.0):
        (finding,) = check(reference, shifted(imu, seconds)).findings
        ((section, key, value),) = finding.settings
        # A tenth of the grid that turns are compared on.
        assert abs(float(value) + seconds) < 0.02
        assert finding.grave == (abs(seconds) > 1.0)


def test_a_clock_of_another_epoch_is_found_by_the_turns(drive):
    (finding,) = check(drive[0], shifted(drive[1], -1e6)).findings
    ((section, key, value),) = finding.settings
    assert abs(float(value) - 1e6) < 0.15


def test_at_rest_nothing_is_named(drive):
    reference, imu = drive
    generator = np.random.default_rng(1)
    reference = constant(reference, ("x", "y", *QUATERNION), (1.0, 2.0, 0.0, 0.0, 0.0, 1.0))
    imu = constant(imu, QUATERNION, (0.0, 0.0, 0.0, 1.0))
    for name in ("gyro_x", "gyro_y", "gyro_z"):
        imu = replace(
            imu,
            columns={**imu.columns, name: 0.01 + 0.003 * generator.normal(size=len(imu))},
        )
    assert names(check(reference, imu)) == []


def test_an_imu_without_orientation_is_judged_by_its_gyroscope(drive):
    reference, imu = drive
    columns = {n: values for n, values in imu.columns.items() if n not in QUATERNION}
    bare = replace(imu, columns=columns)
    assert names(check(reference, bare)) == []
    result = check(reference, scaled(bare, ("gyro_x", "gyro_y", "gyro_z"), 180.0 / np.pi))
    assert names(result) == [faults.DEGREES]
    # The orientation is made of it.
    assert result.grave


def test_a_reference_alone_has_nothing_to_be_compared_with(drive):
    assert names(check(drive[0], None)) == []
