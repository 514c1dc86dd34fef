"""Names and places of files."""

import pytest

from imu_simulation_framework.core.files import name_of_recording


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("2024.05.16-drive.bag", "2024.05.16-drive"),
        ("some/where/gps.csv.gz", "gps"),
        ("drive.v2.BAG", "drive.v2"),
        ("run_1.db3.zst", "run_1"),
        ("rosbag2_2024.05.16", "rosbag2_2024.05.16"),
        (".bag", ".bag"),
        ("a.b.c", "a.b.c"),
    ],
)
def test_a_recording_keeps_what_is_no_ending(path, name):
    assert name_of_recording(path) == name
