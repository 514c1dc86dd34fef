"""A folder on a small file system of its own, to see what happens when a disk is full."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

MOUNT = ("mount", "-t", "tmpfs", "-o")

IN_NAMESPACE = """
mount -t tmpfs -o "size=$1" tmpfs "$2" || exit 125
saved=$3
disk=$2
shift 3
"$@"
code=$?
cp -a "$disk/." "$saved"
exit $code
"""
"""Mounts for the command alone, and copies what it left, since nobody else sees that mount."""


@dataclass(frozen=True)
class SmallDisk:
    """Where to write to, how to run a program that sees it, and where to look afterwards."""

    folder: Path
    saved: Path
    wrapper: list[str] = field(default_factory=list)


@contextlib.contextmanager
def small_disk(directory: Path, size: str):
    """A tmpfs of ``size`` (``256k``), mounted as root, with sudo, or in a user namespace.

    Raises
    ------
    AssertionError
        Nothing of that is allowed here.
    """
    folder, saved = directory / "disk", directory / "saved"
    for made in (folder, saved):
        made.mkdir()
    for become in _ways_to_become_root():
        if _succeeds([*become, *MOUNT, f"size={size},mode=1777", "tmpfs", str(folder)]):
            try:
                yield SmallDisk(folder, folder)
            finally:
                subprocess.run([*become, "umount", str(folder)], check=True)
            return
    assert _succeeds(["unshare", "-Urm", *MOUNT, f"size={size}", "tmpfs", str(folder)]), (
        "a small file system could be mounted neither as root nor with sudo nor in a user "
        "namespace, so there is no disk that can be full"
    )
    shell = ["sh", "-c", IN_NAMESPACE, "sh", size, str(folder), str(saved)]
    yield SmallDisk(folder, saved, ["unshare", "-Urm", *shell])


def _ways_to_become_root():
    if os.geteuid() == 0:
        return [[]]
    return [["sudo", "-n"]] if shutil.which("sudo") else []


def _succeeds(command) -> bool:
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return done.returncode == 0
