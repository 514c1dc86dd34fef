"""Samples that go to a file as they come: nothing of them is lost, and little is in memory."""

import errno
import os

import numpy as np
import pytest

from imu_simulation_framework.core.errors import ResultError
from imu_simulation_framework.drive.results import record
from imu_simulation_framework.drive.results.record import SampleStore

COLUMNS = ("a", "b")


def row(number):
    return 1.0 * number, -0.5 * number


def fill(store, numbers):
    for number in numbers:
        store.append(10 * number, row(number))


def check(store, count, first=0):
    stamps, values = store.rows(first, count)
    numbers = np.arange(first, count)
    np.testing.assert_array_equal(stamps, 10 * numbers)
    np.testing.assert_array_equal(values, np.column_stack(row(numbers)))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.samples"


@pytest.mark.parametrize("before", [0, 1, 50])
def test_samples_of_memory_and_of_the_file_are_one_table(path, before):
    store = SampleStore(COLUMNS)
    fill(store, range(before))
    store.keep_in(path)
    fill(store, range(before, 1000))
    assert len(store) == 1000
    assert store.newest == store.stamps[999] == 9990
    for first, last in ((0, 1000), (970, 1000), (985, 990), (3, 5), (7, 7)):
        check(store, last, first)
    assert [len(stamps) for stamps, _ in store.blocks(0, 1000)] == [1000]


@pytest.mark.parametrize("at_once", [1, 5, 30])
def test_rows_that_come_together_are_as_rows_that_come_alone(path, at_once):
    store = SampleStore(COLUMNS)
    store.keep_in(path)
    for begin in range(0, 300, at_once):
        numbers = np.arange(begin, begin + at_once)
        store.append_rows(10 * numbers, np.column_stack(row(numbers)))
    assert (len(store), store.newest) == (300, 2990)
    check(store, 300)
    store.flush()
    check(SampleStore.open(path), 300)


def test_blocks_follow_each_other(path, monkeypatch):
    monkeypatch.setattr(record, "_ROWS_PER_BLOCK", 7)
    store = SampleStore(COLUMNS)
    store.keep_in(path)
    fill(store, range(100))
    stamps = [stamps for stamps, _ in store.blocks(5, 96)]
    assert max(map(len, stamps)) == 7
    np.testing.assert_array_equal(np.concatenate(stamps), np.arange(50, 960, 10))


def test_an_equal_stamp_replaces_the_last_sample_whether_it_was_written_or_not(path):
    store = SampleStore(COLUMNS)
    store.append(0, (1.0, 1.0))
    store.append(0, row(0))
    store.keep_in(path)
    store.append(0, (2.0, 2.0))
    for number in range(100):
        store.append(10 * number, (7.0, 7.0))
        store.append(10 * number, row(number))
    check(store, 100)


def test_what_a_killed_process_leaves_can_be_read_but_for_the_last_few(path):
    store = SampleStore(COLUMNS)
    store.keep_in(path)
    fill(store, range(1000))
    # Killed here, in the middle of a row.
    with open(path, "ab") as file:
        file.write(b"half a row")
    left = SampleStore.open(path)
    assert 1000 - record._ROWS_IN_MEMORY <= len(left) < 1000
    assert left.columns == COLUMNS
    check(left, len(left))
    store.flush()
    check(SampleStore.open(path), 1000)


def test_while_the_disk_is_full_samples_stay_in_memory(path, monkeypatch):
    store = SampleStore(COLUMNS)
    store.keep_in(path)
    fill(store, range(100))
    write = os.pwrite

    def no_room(descriptor, content, place):
        if room:
            return write(descriptor, content[: room.pop()], place)
        raise OSError(errno.ENOSPC, "No space left on device")

    room = [10]
    monkeypatch.setattr(record.os, "pwrite", no_room)
    fill(store, range(100, 200))
    check(store, 200)
    monkeypatch.undo()
    fill(store, range(200, 300))
    check(store, 300)
    store.flush()
    check(SampleStore.open(path), 300)


def test_discarded_samples_leave_no_file(path):
    store = SampleStore(COLUMNS)
    store.discard()
    store.keep_in(path)
    fill(store, range(100))
    store.discard()
    assert not path.exists()
    assert len(store) == 0


def test_a_file_that_is_there_is_not_written_over(path):
    path.write_text("mine")
    with pytest.raises(ResultError, match="cannot be written"):
        SampleStore(COLUMNS).keep_in(path)
    assert path.read_text() == "mine"


@pytest.mark.parametrize("content", [b"", b"x\n", b"[]\n", b'{"columns": 3}\n', b"\xff\n"])
def test_another_file_is_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(ResultError, match="no file of recorded samples"):
        SampleStore.open(path)


def test_a_missing_file_is_refused(path):
    with pytest.raises(ResultError, match="No such file"):
        SampleStore.open(path)
