"""Columns of a text file that a command line names, or has to guess."""

from __future__ import annotations

from imu_simulation_framework.core.columns import ACCEL, GYRO
from imu_simulation_framework.core.errors import ConfigurationError, RecordingError
from imu_simulation_framework.core.sentences import shown
from imu_simulation_framework.recordings.formats.any_format import recording_format


def named_column(text) -> tuple[str, str]:
    """Return quantity and column of ``QUANTITY=NAME [UNIT]``; raises ConfigurationError."""
    quantity, separator, column = text.partition("=")
    if not separator or not quantity.strip() or not column.strip():
        raise ConfigurationError(
            f"--column {shown(text)} is not understood, expected for instance 'gyro_x=wx [deg/s]'"
        )
    return quantity.strip(), column.strip()


def guessed_columns(path, rate, sentences) -> dict | None:
    """Return gyroscope and accelerometer of a text file with names of its own, as they seem to be.

    None where nothing has to be guessed, or nothing can be. Raises RecordingError if no column is
    the time and no ``rate`` [Hz] is given; a sentence on what was guessed is added to
    ``sentences``.
    """
    if recording_format(path) != "csv":
        return None
    from imu_simulation_framework.recordings.guessing.guess import guess_where_unknown

    guessed, _ = guess_where_unknown(path, "imu_recording")
    columns = {name: column for name, column in guessed.items() if name in ("time", *GYRO, *ACCEL)}
    if columns and "time" not in columns and rate is None:
        raise RecordingError(f"{path}: no column is the time; state the rate with --rate HZ")
    if columns:
        listing = ", ".join(f"{name}={column}" for name, column in columns.items())
        sentences.append(f"{path}: columns are guessed, say it with --column if not so: {listing}")
    return columns or None
