"""What arguments of several command lines are."""

from __future__ import annotations

import argparse

from imu_simulation_framework.columns import ACCEL, GYRO
from imu_simulation_framework.errors import RecordingError
from imu_simulation_framework.experiment.preparation.setup import guess_where_unknown
from imu_simulation_framework.recordings.formats.listing import recording_format


def whole_number(text: str) -> int:
    """Return a whole number, zero or positive, as seeds are; for argparse."""
    # Python reads other alphabets' digits, too.
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number, zero or positive")
    return int(text)


def worker_count(text: str) -> int:
    """Return a number of processes, 1 to 1024, for ``argparse``."""
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text) <= 1024:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of workers from 1 to 1024")
    return int(text)


def guessed_columns(path, rate, sentences) -> dict | None:
    """Return gyroscope and accelerometer of a text file with names of its own, as they seem to be.

    Parameters
    ----------
    path : path-like
    rate : float or None
        Samples per second, for files without a time [Hz].
    sentences : list of str
        To which a sentence on what was guessed is added.

    Returns
    -------
    dict of str to str, or None
        Quantity -> column; None where nothing has to be guessed, or nothing can be.

    Raises
    ------
    RecordingError
        No column is the time, and no rate is given.
    """
    if recording_format(path) != "csv":
        return None
    guessed, _ = guess_where_unknown(path, "imu_recording")
    columns = {name: column for name, column in guessed.items() if name in ("time", *GYRO, *ACCEL)}
    if columns and "time" not in columns and rate is None:
        raise RecordingError(f"{path}: no column is the time; state the rate with --rate HZ")
    if columns:
        listing = ", ".join(f"{name}={column}" for name, column in columns.items())
        sentences.append(f"{path}: columns are guessed, say it with --column if not so: {listing}")
    return columns or None
