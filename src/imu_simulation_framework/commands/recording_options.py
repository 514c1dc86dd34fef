"""Command-line options for reading recordings: settings, and the IMU output to compare."""

from __future__ import annotations

import argparse
from typing import Iterable

from ..core.errors import ConfigurationError


def add_setting_option(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--setting``, whose values :func:`parse_settings` parses.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Parser of a program.
    """
    parser.add_argument(
        "--setting", action="append", default=[], metavar="SECTION/KEY=VALUE",
        help="setting for reading recordings, such as reference/topic=/odom (see config.ini)",
    )  # fmt: skip


def parse_settings(texts: Iterable[str]) -> dict[str, dict[str, str]]:
    """Parse settings such as ``reference/topic=/odom``.

    Parameters
    ----------
    texts : iterable of str
        Settings of the command line.

    Returns
    -------
    dict of str to dict
        Values by section and key.

    Raises
    ------
    ConfigurationError
        A text does not have the form of a setting.
    """
    sections: dict[str, dict[str, str]] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        section, slash, key = name.partition("/")
        if not (equals and slash and section and key):
            raise ConfigurationError(
                f"--setting is '{text}', expected SECTION/KEY=VALUE, such as reference/topic=/odom"
            )
        sections.setdefault(section.strip(), {})[key.strip()] = value.strip()
    return sections


def add_of_option(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--of``, which selects the IMU output that is compared to the reference.

    :meth:`.ObservedDrive.select_output` lists the outputs.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Parser of a program.
    """
    parser.add_argument(
        "--of", choices=("yaw", "gyroscope"), default="yaw",
        help="output of the IMU that is compared with the reference: its yaw, or the integral of "
        "the gyroscope's yaw rate without corrections by a magnetometer or a filter; by default "
        "%(default)s",
    )  # fmt: skip
