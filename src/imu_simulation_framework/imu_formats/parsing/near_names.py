"""What a wrong name was perhaps meant to be, and of which format a file is instead."""

from __future__ import annotations

import difflib
import re
from typing import Iterable

# What stands in the files of one format and hardly in those of another.
_TELLING = {
    "kalibr": re.compile(rb"^\s*gyroscope_noise_density\s*:", re.MULTILINE),
    "imu_utils": re.compile(rb"^\s+(x|avg)-axis\s*:", re.MULTILINE),
    "orb_slam3": re.compile(rb"^IMU\.NoiseGyro\s*:", re.MULTILINE),
    "vins": re.compile(rb"^gyr_n\s*:", re.MULTILINE),
    "rotors": re.compile(rb"gazebo_imu_plugin\.so"),
    "hector": re.compile(rb"libhector_gazebo_ros_imu\.so"),
    "sdf": re.compile(rb"<angular_velocity>"),
}


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most like another one, None if none is much like it."""
    lower = {other.lower(): other for other in known}
    # Not less: gyroscope_random_walk and accelerometer_random_walk have 0.65 in common.
    found = difflib.get_close_matches(name.lower(), list(lower), n=1, cutoff=0.75)
    return lower[found[0]] if found else None


def unknown_tag(tag, known: Iterable[str], fault: str, meant: str | None = None) -> str:
    """Return a remark on a tag that says nothing here, with the known one that is most like it.

    Parameters
    ----------
    tag : Tag
    known : iterable of str
    fault : str
        With ``{}`` where the tag shall stand.
    meant : str, optional
        The known tag that it stands for, where likeness does not tell.
    """
    near = meant or nearest(tag.name, known)
    hint = "." if near is None else f"; did you mean <{near}>?"
    return f"Line {tag.line}: {fault.format(f'<{tag.name}>')}; left out{hint}"


def looks_like(content: bytes, claimed: str) -> str | None:
    """Return the format whose words stand in a file, None if that is the claimed one or none."""
    found = [name for name, pattern in _TELLING.items() if pattern.search(content)]
    return found[0] if found and claimed not in found else None
