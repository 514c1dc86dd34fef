"""The parser of arguments that all programs have, those of ROS as well."""

from __future__ import annotations

import argparse
import re
import sys
from typing import NoReturn

from imu_simulation_framework.core.sentences import as_written, printable

REFUSED = 2
"""Exit code of a program that cannot do its work."""


class ArgumentParser(argparse.ArgumentParser):
    """As argparse's, with the text as it is; an error is one line without endless words."""

    def __init__(self, description: str | None = None, **others) -> None:
        others.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(description=description, **others)

    def parse_known_args(self, args=None, namespace=None):
        """Parse as argparse does, but refuse ``--option=--``, of which Python 3.11 makes a list."""
        for word in sys.argv[1:] if args is None else args:
            if word == "--":
                break
            if re.fullmatch(r"-[^=]*=--", word):
                self.error(f"argument {word[:-3]}: expected one argument")
        return super().parse_known_args(args, namespace)

    def error(self, message) -> NoReturn:
        """Print usage and error to standard error, and end with code 2."""
        self.print_usage(sys.stderr)
        words = re.sub(r"\S{200,}", lambda word: as_written(word.group()), printable(message))
        self.exit(REFUSED, f"{self.prog}: error: {words}\n")
