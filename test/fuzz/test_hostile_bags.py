"""Bag files in a valid format with data that recorders do not write."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import recording_writers as writers
import sample_files
from cases import OUT, Case, samples_in_use
from hypothesis import given
from hypothesis import strategies as st
from program_result import REJECTED, SUCCESS_CODES, Expected
from strategies.settings import damaged_settings, damaged_trees

TOPICS = {"reference": "/odom", "imu": "/imu"}
COLUMNS = {
    "messages": ("id", "topic_id", "timestamp", "data"),
    "topics": ("id", "name", "type", "serialization_format"),
}


@st.composite
def edited_databases(draw):
    """Generate a ROS 2 bag whose SQLite database has arbitrary values in some cells."""
    sample_file, table = sample_files.recording("drive.db3"), draw(st.sampled_from(sorted(COLUMNS)))
    column = draw(st.sampled_from(COLUMNS[table]))
    integers = st.integers(-(2**63), 2**63 - 1)
    value = draw(st.one_of(st.none(), integers, st.floats(), st.text(max_size=9), st.binary()))
    places = draw(st.lists(st.integers(0, 99), min_size=1, max_size=4, unique=True))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / sample_file.name
        path.write_bytes(sample_file.content)
        with closing(sqlite3.connect(path)) as database:
            rows = [row for (row,) in database.execute(f"SELECT rowid FROM {table}")]
            # Columns of a copied table have no constraints, so they accept any value.
            database.executescript(
                f"CREATE TABLE copy AS SELECT * FROM {table}; DROP TABLE {table}; "
                f"ALTER TABLE copy RENAME TO {table}"
            )
            update = f"UPDATE {table} SET {column} = ? WHERE rowid = ?"
            database.executemany(update, [(value, rows[place % len(rows)]) for place in places])
            database.commit()
        files = {sample_file.name: path.read_bytes()}
    kind = draw(st.sampled_from(sorted(TOPICS)))
    return Case("read", (sample_file.name, kind), files, Expected(names=(sample_file.name,)))


@given(case=edited_databases())
def test_bag_database_with_arbitrary_values_is_read_or_rejected(check_outcome, case):
    assert not check_outcome(case).violations


WRITERS = {
    "drive.bag": writers.write_bag,
    "drive.mcap": writers.write_mcap,
    "drive": writers.write_ros2_bag,
}
# Topic names with terminal control characters, and invalid names.
UNUSUAL_TOPICS = (
    *("/imu\x1b[31m", "/imu\nsecond line: all is well", "/imu\x1b]0;title\x07", "/imu\u202eatad"),
    *("/imu\r", "/imu\x7f", "/imu\u2028x", "/imu\x9b31m", "/i\0mu", "", " ", "imu", "/" * 300),
    *("/é☃", "/$\\frac{", "/=1+1", "/'; DROP TABLE a; --"),
)


@st.composite
def bags_with_unusual_topics(draw):
    """Generate a bag whose IMU or reference has one or two unusual topic names."""
    topics = dict(sample_files.drive_topics())
    kind, name = draw(st.sampled_from(sorted(TOPICS))), draw(st.sampled_from(sorted(WRITERS)))
    renamed = topics.pop(TOPICS[kind])
    chosen = draw(st.lists(st.sampled_from(UNUSUAL_TOPICS), min_size=1, max_size=2, unique=True))
    topics.update(dict.fromkeys(chosen, renamed))
    files = sample_files.written_files(lambda path: WRITERS[name](path, topics), name)
    if len(chosen) == 2:
        return Case("read", (name, kind), files, Expected((REJECTED,), names=(name,)))
    output = (samples_in_use(sample_files.SampleFile(name, b""), kind),)
    words = draw(st.sampled_from((("read", name, kind), ("check", name))))
    expected = Expected((*SUCCESS_CODES, REJECTED), names=(name,), output=output)
    return Case(words[0], words[1:], files, expected)


@given(case=bags_with_unusual_topics())
def test_unusual_topic_name_is_printed_safely(check_outcome, case):
    assert not check_outcome(case).violations


@st.composite
def bags_with_damaged_metadata(draw):
    """Generate a ROS 2 bag with a damaged metadata.yaml."""
    storage = draw(st.booleans())
    files = {f"drive/{file.name}": file.content for file in sample_files.ros2_folder(mcap=storage)}
    text = files["drive/metadata.yaml"].decode()
    files["drive/metadata.yaml"] = draw(st.one_of(damaged_trees(text), damaged_settings(text)))
    words = ("drive", "--out", OUT, "--imu", "bno055")
    return Case("apply_imu_errors.py", words, files, Expected(names=("drive", "metadata.yaml")))


@given(case=bags_with_damaged_metadata())
def test_bag_with_damaged_metadata_is_read_or_rejected(check_outcome, case):
    assert not check_outcome(case).violations
