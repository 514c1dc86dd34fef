"""What arguments of several command lines are."""

from __future__ import annotations

import argparse


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
