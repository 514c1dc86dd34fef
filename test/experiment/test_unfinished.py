"""Completion or removal of incomplete files that a killed node has left."""

import shutil

import pytest
import rosbag
from std_msgs.msg import String

from imu_simulation_framework.drive.results.files import ACTIVE, BAG, ResultFolder, tidy
from imu_simulation_framework.ros1.nodes.experiment_recorder import CHUNK_SIZE


@pytest.fixture
def folder(tmp_path):
    return ResultFolder(tmp_path, "run")


def write_active(folder, count):
    """Write a bag like that of a killed recorder; 100 messages fill a chunk."""
    active = f"{folder.path(BAG)}{ACTIVE}"
    with rosbag.Bag(f"{active}.whole", "w", chunk_threshold=CHUNK_SIZE) as bag:
        for number in range(count):
            bag.write("/words", String(data=f"{number:5d}" + "x" * (CHUNK_SIZE // 100)))
        bag._file.flush()
        shutil.copy(f"{active}.whole", active)
    folder.folder.joinpath(f"{active}.whole").unlink()


def test_unfinished_bag_is_closed_with_its_complete_chunks(folder):
    write_active(folder, 1050)
    tidy(folder)
    assert [path.name for path in folder.folder.iterdir()] == [f"run_{BAG}"]
    with rosbag.Bag(str(folder.path(BAG))) as bag:
        numbers = [int(message.data[:5]) for _, message, _ in bag.read_messages()]
    assert numbers == list(range(len(numbers)))
    assert len(numbers) > 900


@pytest.mark.parametrize("content", [b"", b"#ROSBAG V2.0\n", b"anything else"])
def test_unfinished_bag_without_messages_is_removed(folder, content):
    folder.folder.joinpath(f"run_{BAG}{ACTIVE}").write_bytes(content)
    tidy(folder)
    assert not list(folder.folder.iterdir())


def test_only_incomplete_files_are_removed(folder):
    folder.write_text("config.ini", "whole")
    part = folder.folder / ".0123.part"
    part.mkdir()
    (part / "whole").write_text("half")
    tidy(folder)
    assert [path.name for path in folder.folder.iterdir()] == ["run_config.ini"]
