"""What a person sees of an experiment: roslaunch's own lines, if they are wanted, and a bar."""

from __future__ import annotations

import contextlib
import os
import re
import sys

from tqdm import tqdm

_ESCAPE = re.compile(r"\x1b(\[[\d;]*m|\][^\a]*\a)")
"""Colours, bold type and the title of a terminal's window."""


class Plain:
    """A stream without the codes that only a terminal understands."""

    def __init__(self, stream) -> None:
        self._stream = stream

    def write(self, text) -> int:
        self._stream.write(_ESCAPE.sub("", text))
        return len(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return False


@contextlib.contextmanager
def printing(verbose: bool):
    """Let what roslaunch prints be seen by who has asked for it; warnings and errors always are.

    Yields
    ------
    file
        Where those lines go that are for everybody.
    """
    everybody = sys.stdout
    with open(os.devnull, "w") as nowhere, contextlib.ExitStack() as redirected:
        stdout = sys.stdout if verbose else nowhere
        redirected.enter_context(contextlib.redirect_stdout(_as_shown(stdout)))
        redirected.enter_context(contextlib.redirect_stderr(_as_shown(sys.stderr)))
        yield everybody


def _as_shown(stream):
    return stream if stream.isatty() else Plain(stream)


def drive_bar(verbose: bool):
    """Return a progress bar of simulated seconds; without a terminal it shows nothing."""
    return tqdm(
        desc="starting",
        disable=verbose or None,
        leave=False,
        bar_format="{desc}, {elapsed}",
    )


def show_progress(bar, progress) -> None:
    """Show how far the drive is.

    Parameters
    ----------
    bar : tqdm
        As :func:`drive_bar` has made it.
    progress : sequence of float or None
        Simulated time and all that is to be simulated [s]; None before the drive.
    """
    if progress is not None:
        done, bar.total = progress
        bar.desc = "driving" if done < bar.total - 0.05 else "writing results"
        bar.bar_format = (
            "{desc}: {percentage:3.0f}%|{bar}| {n:.0f} of {total:.0f} s [{elapsed}<{remaining}]"
        )
        bar.n = done
    bar.refresh()
