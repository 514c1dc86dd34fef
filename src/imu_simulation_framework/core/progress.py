"""Progress reports of long tasks: a bar on a terminal, lines with a percentage elsewhere."""

from __future__ import annotations

import sys
import time

from tqdm import tqdm

LINE_PERIOD = 10.0
"""Wall-clock time between two progress lines [s]; shorter tasks write no line."""

DRIVE_BAR = "{desc}: {percentage:3.0f}%|{bar}| {n:.0f} of {total:.0f} s [{elapsed}<{remaining}]"
"""Format of an experiment's progress bar, which counts simulated time [s]."""


class ProgressLines(tqdm):
    """Progress bar that writes lines of text, for output to a file or a pipe.

    Parameters
    ----------
    *arguments, **settings
        Arguments of :class:`tqdm.tqdm`; those for the appearance of a bar have no effect.
    """

    monitor_interval = 0  # disables tqdm's monitor thread, which would write additional lines

    def __init__(self, *arguments, **settings) -> None:
        self._next_line = time.monotonic() + LINE_PERIOD
        # With leave=True, tqdm would add an empty line at the end.
        overrides = {"leave": False, "mininterval": LINE_PERIOD, "miniters": 1}
        super().__init__(*arguments, **{**settings, **overrides})

    def display(self, msg=None, pos=None) -> bool:
        """Write a line if at least :data:`LINE_PERIOD` has passed since the last line."""
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
        """Do nothing, because written lines cannot be cleared."""


def progress_bar(iterable=None, desc: str = "running", **settings) -> tqdm:
    """Return a progress bar that writes to standard error.

    Parameters
    ----------
    iterable : iterable, optional
        Items to process, if the bar is used as an iterator.
    desc : str, optional
        Name of the task.
    **settings
        Further arguments of :class:`tqdm.tqdm`, such as ``total``, ``unit`` and ``disable``. If
        ``disable`` is missing or None, the environment variable TQDM_DISABLE decides.

    Returns
    -------
    tqdm.tqdm
        A bar if standard error is a terminal, and :class:`ProgressLines` if it is not.
    """
    kind = tqdm if sys.stderr is not None and sys.stderr.isatty() else ProgressLines
    if settings.get("disable") is None:
        # tqdm interprets None as "disabled unless the output is a terminal".
        settings.pop("disable", None)
    return kind(iterable, desc, **settings)
