"""Columns of a text file that a command line has to guess."""

from __future__ import annotations

from imu_simulation_framework.core.columns import ACCEL, GYRO
from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.recordings.formats.any_format import recording_format
from imu_simulation_framework.recordings.guessing.guess import guess_where_unknown


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
