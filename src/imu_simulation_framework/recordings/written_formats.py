"""Formats in which IMU recordings are written."""

from pathlib import Path

from ..core.errors import ConfigurationError
from ..core.sentences import quote

FORMATS = ("bag", "rostopic_csv", "csv")
"""Names of the formats in config.ini; the suffix ``.gz`` compresses both CSV formats."""


def format_of(path, format="") -> str:
    """Return the format in which a recording is written.

    Parameters
    ----------
    path : path-like
        Name of the recording.
    format : str
        One of :data:`FORMATS`; by default ``bag`` for names with ``.bag`` and ``csv`` for names
        with ``.csv`` or ``.csv.gz``.

    Returns
    -------
    str
        ``bag``, or one of the CSV formats.

    Raises
    ------
    ConfigurationError
        The name has another suffix, or contradicts the format.
    """
    name = Path(path).name.lower()
    named_format = "bag" if name.endswith(".bag") else ""
    if name.endswith((".csv", ".csv.gz")):
        named_format = "csv"
    if format and format not in FORMATS:
        raise ConfigurationError(f"format is {quote(format)}, expected one of {', '.join(FORMATS)}")
    if not named_format or (format and (format == "bag") != (named_format == "bag")):
        raise ConfigurationError(
            f"{path}: the suffix of the file is not known, expected .bag, or .csv or .csv.gz for a "
            "table."
        )
    return format or named_format
