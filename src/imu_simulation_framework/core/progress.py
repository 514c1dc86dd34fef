"""Progress of long work: a bar on a terminal, lines with a percentage elsewhere."""

from __future__ import annotations

import sys
import time

from tqdm import tqdm

LINE_PERIOD = 10.0
"""Wall-clock seconds between two lines of progress; shorter work has none."""

DRIVE_BAR = "{desc}: {percentage:3.0f}%|{bar}| {n:.0f} of {total:.0f} s [{elapsed}<{remaining}]"
"""Layout of the bar of an experiment, whose extent is simulated time [s]."""


class ProgressLines(tqdm):
    """A progress bar that writes lines, for output that goes to a file or a pipe.

    Parameters
    ----------
    *arguments, **settings
        As of :class:`tqdm.tqdm`; arguments for the looks of a bar have no effect.
    """

    monitor_interval = 0  # no thread that writes lines between two updates

    def __init__(self, *arguments, **settings) -> None:
        self._next_line = time.monotonic() + LINE_PERIOD
        # A bar that is left at its end would add an empty line.
        own = {"leave": False, "mininterval": LINE_PERIOD, "miniters": 1}
        super().__init__(*arguments, **{**settings, **own})

    def display(self, msg=None, pos=None) -> bool:
        """Write a line, unless the last one is younger than :data:`LINE_PERIOD`."""
        del pos
        now = time.monotonic()
        if msg is not None or now < self._next_line:
            return False
        self._next_line = now + LINE_PERIOD
        work = self.desc.rstrip(": ")
        if self.total:
            work += f": {100.0 * self.n / self.total:.0f} %"
        elif self.n:
            work += f": {self.n:.0f}{self.unit}"
        elapsed = self.format_interval(self.format_dict["elapsed"])
        self.fp.write(f"{work}, {elapsed} elapsed\n")
        self.fp.flush()
        return True

    def clear(self, nolock=False) -> None:
        """Leave the lines that are written."""


def progress_bar(iterable=None, desc: str = "running", **settings) -> tqdm:
    """Return a progress bar that writes to standard error.

    Parameters
    ----------
    iterable : iterable, optional
        Items of the work, if the bar is to be iterated over.
    desc : str, optional
        Name of the work.
    **settings
        Further arguments of :class:`tqdm.tqdm`, such as ``total``, ``unit`` and ``disable``. If
        ``disable`` is missing or None, the environment variable TQDM_DISABLE decides.

    Returns
    -------
    tqdm.tqdm
        A bar where standard error is a terminal, otherwise :class:`ProgressLines`.
    """
    kind = tqdm if sys.stderr is not None and sys.stderr.isatty() else ProgressLines
    if settings.get("disable") is None:
        # tqdm takes None for "disabled unless on a terminal".
        settings.pop("disable", None)
    return kind(iterable, desc, **settings)
