"""Statement of the memory that a large recording needs."""

import gzip

import numpy as np
import pytest
import recording_writers as writers

from imu_simulation_framework.recordings import memory
from imu_simulation_framework.recordings.messages import IMU_TYPES, REFERENCE_TYPES

COUNT = 2000
NEED = memory.MemoryNeed(0.2e9, 1e6, 0.0)  # 2.2 GB for 2000 samples


def write_csv(path):
    rows = np.column_stack([np.arange(COUNT) / 100.0, np.zeros((COUNT, 3))])
    lines = [",".join(f"{value:.6f}" for value in row) for row in rows]
    path.write_text("\n".join(["time,gyro_x,gyro_y,gyro_z", *lines]) + "\n")
    return path


def stated(path, need=NEED, topic=""):
    (message,) = memory.estimate_memory(path, need, [IMU_TYPES], topic)
    samples = message[len(f"{path}: ") :].split(" samples")[0]
    return int(samples.replace(" ", "")), float(message.split("about ")[1].split(" GB")[0])


def test_memory_of_csv_is_estimated_from_size_of_file(tmp_path):
    samples, gigabytes = stated(write_csv(tmp_path / "a.csv"))
    assert samples == pytest.approx(COUNT, rel=0.02)
    assert gigabytes == pytest.approx(2.2, abs=0.1)


def test_memory_of_csv_depends_on_number_of_columns(tmp_path):
    _, gigabytes = stated(write_csv(tmp_path / "a.csv"), memory.MemoryNeed(0.2e9, 0.0, 1e6))
    assert gigabytes == pytest.approx(8.2, abs=0.2)


def test_memory_of_compressed_csv_is_estimated_after_decompression(tmp_path):
    path = write_csv(tmp_path / "a.csv")
    packed = tmp_path / "a.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert stated(packed)[0] == pytest.approx(COUNT, rel=0.02)


@pytest.mark.parametrize("topic", ["", "/imu", "imu"])
def test_memory_of_bag_is_estimated_from_number_of_messages(tmp_path, topic):
    message = writers.imu(10**18, (0.0, 0.0, 0.0, 1.0), (0.0,) * 3, (0.0,) * 3)
    path = writers.write_bag(tmp_path / "a.bag", {"/imu": [message] * COUNT})
    assert stated(path, topic=topic)[0] == COUNT


def test_memory_of_small_recording_is_not_stated(tmp_path):
    path = write_csv(tmp_path / "a.csv")
    assert memory.estimate_memory(path, memory.MemoryNeed(0.2e9, 100.0, 8.0), [IMU_TYPES]) == []


def test_memory_of_unreadable_recording_is_not_stated(tmp_path):
    (tmp_path / "a.bag").write_text("no bag")
    for name in ("a.bag", "missing.csv"):
        assert memory.estimate_memory(tmp_path / name, NEED, [IMU_TYPES]) == []


def test_memory_of_bag_without_reference_includes_fields_of_other_topics(tmp_path):
    message = writers.imu(10**18, (0.0, 0.0, 0.0, 1.0), (0.0,) * 3, (0.0,) * 3)
    path = writers.write_bag(tmp_path / "a.bag", {"/imu": [message] * COUNT})
    need, gigabytes = memory.MemoryNeed(0.0, 0.0, 1e6), []
    for purposes in ([IMU_TYPES], [IMU_TYPES, REFERENCE_TYPES]):
        (text,) = memory.estimate_memory(path, need, purposes)
        gigabytes.append(float(text.split("about ")[1].split(" GB")[0]))
    assert gigabytes[1] > 2.0 * gigabytes[0]
