"""What arguments of several command lines are."""

from __future__ import annotations

import argparse


def whole_number(text: str) -> int:
    """Return a whole number, zero or positive, as seeds are; for argparse."""
    # Python reads other alphabets' digits, too.
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number, zero or positive")
    return int(text)
