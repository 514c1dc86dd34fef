"""Findings in a recording: faulty samples are omitted, counted and located."""

import json
import math

import numpy as np
import pytest
import recording_writers as writers

from imu_simulation_framework.motion.positioning import UNKNOWN_VARIANCE
from imu_simulation_framework.recordings.frames import ImuConventions
from imu_simulation_framework.recordings.reading import read_imu, read_reference

COUNT = 60
PERIOD = 100_000_000
STAMPS = [1_500_000_000 * 10**9 + PERIOD * k for k in range(COUNT)]
IDENTITY = (0.0, 0.0, 0.0, 1.0)
LEVEL = (0.0, 0.0, 9.8)


def odometry(stamps=STAMPS, positions=None, orientations=None):
    """Return a straight drive with the positions or orientations of single samples replaced."""
    positions, orientations = positions or {}, orientations or {}
    return [
        writers.odometry(
            stamp, positions.get(k, (0.1 * k, 0.0, 0.0)), orientations.get(k, IDENTITY)
        )
        for k, stamp in enumerate(stamps)
    ]


def imu(orientation=IDENTITY, accel=LEVEL, unknown=()):
    return [writers.imu(stamp, orientation, (0.0,) * 3, accel, unknown) for stamp in STAMPS]


def fixes(single=None, **every):
    """Return GNSS fixes of a receiver that moves north at 1.1 m/s."""
    rows = [{"latitude": 48.0 + 1e-6 * k, "longitude": 11.0, **every} for k in range(COUNT)]
    for k, changes in (single or {}).items():
        rows[k].update(changes)
    return [writers.fix(stamp, **row) for stamp, row in zip(STAMPS, rows)]


def written(tmp_path, messages, **options):
    """Write a bag whose messages are received in the order of the list."""
    receipt = [STAMPS[0] + 1000 + PERIOD * k for k in range(len(messages))]
    path = tmp_path / "a.bag"
    return writers.write_bag(path, {"/topic": messages}, receipt=receipt, **options)


def test_correct_recording_has_no_remark(tmp_path):
    (sentence,) = read_reference(written(tmp_path, odometry())).report.sentences()
    assert f"{COUNT} of {COUNT} samples" in sentence and "10.00 Hz" in sentence


def stamped(others):
    """Return the drive with changed stamps, given as {sample: stamp}."""
    return odometry([others.get(k, stamp) for k, stamp in enumerate(STAMPS)])


NAN, NO_FIX = math.nan, {"status": -1, "latitude": math.nan, "longitude": math.nan}
TWICE, SWAPPED = {10: STAMPS[9], 11: STAMPS[9]}, {20: STAMPS[21], 21: STAMPS[20]}
PAUSE = STAMPS[:20] + [stamp + 2 * 10**9 for stamp in STAMPS[20:]]
WITHOUT_NUMBERS = {"positions": {7: (0, NAN, 0)}, "orientations": {9: (0, 0, math.inf, 1)}}
HALF = (0.0, 0.0, math.sin(0.25), math.cos(0.25))
UNNORMALISED = "unnormalised_quaternions"
LONG = {4: tuple(1.01 * part for part in HALF), 6: tuple(1.0005 * part for part in HALF)}


@pytest.mark.parametrize(
    "messages, name, count, place, time, left, value",
    [
        (stamped(TWICE), "duplicates", 2, 11, 0.9, COUNT - 2, ("x", 9, 0.9)),
        (stamped(SWAPPED), "unordered", 1, 22, 2.0, COUNT, ("x", 20, 2.1)),
        (stamped({5: 0}), "missing", 1, 6, None, COUNT - 1, ("x", 5, 0.6)),
        (odometry(PAUSE), "gaps", 1, 21, 4.0, COUNT, ("x", 20, 2.0)),
        # Dropped samples leave a gap.
        (odometry(positions=dict.fromkeys(range(30, 40), (NAN, 0, 0))), "gaps", 1, 41, 4.0, 50, ()),
        (odometry(**WITHOUT_NUMBERS), "nan", 2, 8, 0.7, COUNT - 2, ()),
        # A missing height is not a fault.
        (odometry(positions={7: (0.7, 0.0, NAN)}), "nan", 0, None, None, COUNT, ()),
        (odometry(orientations=LONG), UNNORMALISED, 1, 5, 0.4, COUNT, ("yaw", 6, 0.5)),
        (odometry(orientations={4: (0,) * 4}), "zero_quaternions", 1, 5, 0.4, COUNT - 1, ()),
        (fixes(single={0: NO_FIX, 9: NO_FIX}), "no_fix", 2, 1, 0.0, COUNT - 2, ()),
        # A variance of zero is treated as unknown.
        (fixes(single={5: {"variance": 0.0}}), "unknown_variance", 1, 6, 0.5, COUNT, ()),
    ],
)
def test_faulty_samples_are_counted_and_reported_with_location(
    tmp_path, messages, name, count, place, time, left, value
):
    recorded = read_reference(written(tmp_path, messages))
    report, text = recorded.report, " ".join(recorded.report.sentences())
    found = getattr(report, name) if hasattr(report, name) else getattr(report.stamps, name)
    assert (found.count, found.first_place, report.usable) == (count, place, left)
    if time is not None:
        assert found.first_time == pytest.approx(time)
        assert f"the first is message {place} at {time:.3f} s" in text
    if value:
        assert recorded.table[value[0]].iloc[value[1]] == pytest.approx(value[2])
    assert np.isfinite(recorded.table.to_numpy()).all()
    assert (np.diff(recorded.table.index) > 0.0).all()


def test_receipt_time_replaces_unset_stamps(tmp_path):
    messages = odometry([0] * COUNT)
    recorded = read_reference(written(tmp_path, messages))
    assert recorded.report.time_source == "receipt time"
    assert recorded.table.index[0] == pytest.approx(STAMPS[0] / 1e9 + 1e-6, abs=3e-7)
    assert len(recorded.table) == COUNT
    assert any("header stamps are not set" in s for s in recorded.report.sentences())
    path = writers.write_rostopic_csv(tmp_path / "a.csv", messages)
    header, *lines = path.read_text().splitlines()
    lines = [f"{stamp},{line.split(',', 1)[1]}" for stamp, line in zip(STAMPS, lines)]
    path.write_text("\n".join([header, *lines]))
    recorded = read_reference(path)
    assert recorded.report.time_source == "receipt time"
    assert recorded.table.index[-1] == STAMPS[-1] / 1e9


def test_lines_with_empty_or_missing_cells_are_reported_with_line_number(tmp_path):
    path = writers.write_csv(
        tmp_path / "a.csv",
        {
            "time": [0.1 * k for k in range(COUNT)],
            "yaw": ["" if k == 3 else "nan" if k == 5 else "1.0" for k in range(COUNT)],
        },
    )
    report = read_imu(path).report
    assert (report.nan.count, report.nan.first_place) == (2, 5)
    assert any("first is line 5 at 0.300 s" in sentence for sentence in report.sentences())
    rows = [f"{0.1 * k},{k}" for k in range(COUNT)]
    rows[10] = "1.0,"
    path = tmp_path / "a.csv"
    path.write_text("# a drive\n\ntime,yaw\n" + "\n".join(rows[:5]) + "\n\n" + "\n".join(rows[5:]))
    # Three lines precede the first row, and an empty line follows the fifth.
    assert read_imu(path).report.nan.first_place == 15
    path = writers.write_rostopic_csv(tmp_path / "a.csv", odometry())
    text = path.read_text()
    path.write_text(text[: text.rindex("\n", 0, -1) + 60])
    report = read_reference(path).report
    assert (report.nan.count, report.nan.first_place) == (1, COUNT + 1)
    assert report.usable == COUNT - 1


@pytest.mark.parametrize("part", ["gyro", "accel"])
def test_quantity_marked_unknown_in_imu_message_is_absent(tmp_path, part):
    recorded = read_imu(written(tmp_path, imu(unknown=(part,))))
    assert recorded.report.absent == (part,)
    assert f"{part}_x" not in recorded.table
    assert len(recorded.table) == COUNT
    assert any(f"has no {part}" in sentence for sentence in recorded.report.sentences())


@pytest.mark.parametrize("orientation", [(0.0,) * 4, (math.nan,) * 4, (0.0, 0.0, math.nan, 1.0)])
def test_unset_orientation_is_absent(tmp_path, orientation):
    recorded = read_imu(written(tmp_path, imu(orientation)), require=("gyro",))
    assert recorded.report.absent == ("orientation",)
    assert recorded.table.columns[0] == "gyro_x"
    assert len(recorded.table) == COUNT


def test_rotated_mounting_is_reported(tmp_path):
    path = written(tmp_path, imu(accel=(0.0, 9.8, 0.1)))
    (remark,) = read_imu(path).report.remarks
    assert "the mean specific force is along +y" in remark
    assert "set [imu_recording] mounting_roll = 1.5708 to level it; gravity" in remark
    upright = read_imu(path, conventions=ImuConventions(mounting_roll=math.pi / 2.0))
    assert upright.report.remarks == ()
    assert upright.table["accel_z"].to_numpy() == pytest.approx(np.full(COUNT, 9.8))


def test_unknown_variance_is_assumed_and_reported(tmp_path):
    unknown = read_reference(written(tmp_path, fixes(covariance_type=0, variance=0.0)))
    assert unknown.report.unknown_variance.count == COUNT
    assert f"{UNKNOWN_VARIANCE:g} m^2" in " ".join(unknown.report.sentences())
    path = writers.write_bag(tmp_path / "b.bag", {"/fix": fixes(variance=UNKNOWN_VARIANCE)})
    assert unknown.table.equals(read_reference(path).table)


def test_report_is_serialisable_as_json(tmp_path):
    report = read_reference(written(tmp_path, stamped({5: 0}))).report
    values = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert values["samples"] == COUNT
    assert values["usable"] == COUNT - 1
    assert values["stamps"]["missing"] == {"count": 1, "first_place": 6, "first_time": None}
    assert values["message_type"] == "nav_msgs/Odometry"
