"""Recordings read in blocks have the same samples as recordings read at once."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest
import recording_writers as writers

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.recordings import messages
from imu_simulation_framework.recordings.formats import any_format, bag
from imu_simulation_framework.recordings.growing_arrays import GrowingArray
from imu_simulation_framework.recordings.text_table import parse_table

COUNT, AT_ONCE = 50, 7
STAMPS = [1_700_000_000 * 10**9 + 10_000_000 * k for k in range(COUNT)]
VECTORS = np.random.default_rng(3).standard_normal((COUNT, 3))
ORIENTATION = (0.0, 0.0, 0.0, 1.0)


def imu_topic():
    rows = zip(STAMPS, VECTORS)
    return {"/imu": [writers.imu(stamp, ORIENTATION, row, row) for stamp, row in rows]}


def write(storage, path):
    if storage == "mcap":
        return writers.write_mcap(path / "drive.mcap", imu_topic())
    if storage == "ros2":
        writers.write_ros2_bag(path / "drive", imu_topic())
        return path / "drive"
    return writers.write_bag(path / "drive.bag", imu_topic())


@pytest.mark.parametrize("storage", ["ros1", "ros2", "mcap"])
def test_bag_blocks_have_samples_of_whole_bag(tmp_path, monkeypatch, storage):
    path = write(storage, tmp_path)
    monkeypatch.setattr(any_format, "MESSAGES_AT_ONCE", AT_ONCE)
    whole = any_format.read_any_bag(path, "", messages.IMU_TYPES)
    blocks = list(any_format.any_bag_blocks(path, "", messages.IMU_TYPES))
    assert [len(block) for block in blocks] == [AT_ONCE] * (COUNT // AT_ONCE) + [COUNT % AT_ONCE]
    assert np.array_equal(np.concatenate([block.places for block in blocks]), whole.places)
    for name, values in whole.columns.items():
        joined = np.concatenate([block.columns[name] for block in blocks])
        assert np.array_equal(joined, values, equal_nan=True), name


def test_malformed_message_in_later_block_is_named_by_number(tmp_path, monkeypatch):
    path = write("ros2", tmp_path) / "drive.db3"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE messages SET data = substr(data, 1, 90) WHERE id = 31")
    monkeypatch.setattr(any_format, "MESSAGES_AT_ONCE", AT_ONCE)
    with pytest.raises(RecordingError, match="message 31 "):
        list(any_format.any_bag_blocks(path, "", messages.IMU_TYPES))


def test_consecutive_chunks_are_split_into_blocks():
    index = bag.MessageIndex(*[np.arange(COUNT)] * 4)
    assert [len(block.receipt) for block in index.split(20)] == [20, 20, 10]


def test_overlapping_chunks_are_indexed_as_one_block():
    chunk = np.tile([0, 1], COUNT // 2)
    index = bag.MessageIndex(np.arange(COUNT), np.zeros(2), chunk, np.arange(COUNT))
    assert [len(block.receipt) for block in index.split(AT_ONCE)] == [COUNT]


def test_growing_array_equals_concatenation_of_blocks():
    blocks = [np.arange(5), np.arange(4), np.linspace(0.0, 1.0, 1000)]
    array = GrowingArray()
    for block in blocks:
        array.extend(block)
    joined = array.finish()
    assert np.array_equal(joined, np.concatenate(blocks))
    assert joined.dtype == float


def test_growing_array_without_blocks_is_empty():
    assert len(GrowingArray().finish()) == 0


def test_table_parsed_in_blocks_keeps_integers_and_texts():
    text = "a,b,c\n" + "".join(f"{k},{k}.5,word{k}\n" for k in range(25))
    cells = parse_table("t.csv", text, rows_at_once=10).cells
    assert [kind.kind for kind in cells.dtypes] == ["i", "f", "O"]
    assert cells["c"].tolist() == [f"word{k}" for k in range(25)]
