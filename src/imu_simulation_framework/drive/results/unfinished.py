"""What killed nodes leave: a bag without an end, and files that were being written."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

from imu_simulation_framework.drive.results.files import ResultFolder

BAG = "experiment.bag"

ACTIVE = ".active"
"""Ending of the bag's name while it is written."""


def tidy(folder: ResultFolder) -> None:
    """Complete the bag that a killed recorder has left, remove what was half written.

    To be called when nobody writes there any more.
    """
    bag = folder.path(BAG)
    active = Path(f"{bag}{ACTIVE}")
    if active.exists():
        if _has_been_completed(active):
            os.replace(active, bag)
        else:
            active.unlink()
    for path in folder.folder.glob(".*.part"):
        shutil.rmtree(path, ignore_errors=True)


def _has_been_completed(path) -> bool:
    """Return whether a bag could be given the index that it lacks, and holds any message."""
    # Imported late: hardly any experiment leaves such a bag.
    import rosbag

    with contextlib.suppress(rosbag.ROSBagException, OSError, ValueError, KeyError, IndexError):
        with rosbag.Bag(str(path), "a", allow_unindexed=True) as bag:
            for _ in bag.reindex():
                pass
        with rosbag.Bag(str(path)) as bag:
            return bag.get_message_count() > 0
    return False
