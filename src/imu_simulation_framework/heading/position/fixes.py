"""Position fixes during a drive, and their schedule as text."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from ...core.errors import ConfigurationError
from ...core.units import LENGTH_UNITS, TIME_UNITS, parse_amount

_SCHEDULE = re.compile(
    r"(every|at|closure at)\s+(\S+)(?:\s+since\s+(\S+))?\s+to\s+(\S+)", re.IGNORECASE
)
SCHEDULE_EXAMPLES = "'every 60s to 5cm', 'at 5min to 2cm' or 'closure at 10min since 0s to 10cm'"
"""Examples of the text form of a schedule."""


class PositionFix(NamedTuple):
    """Observation of the position during a drive.

    Attributes
    ----------
    time : float
        Time since the start of the motion [s].
    sigma : float
        Standard deviation of each coordinate [m].
    since : float or None
        Earlier time of the observed change in position, as in a loop closure [s]; None for an
        observation of the position itself.
    """

    time: float
    sigma: float
    since: float | None = None


class FixSchedule(NamedTuple):
    """Position fixes at regular intervals or at one time.

    Attributes
    ----------
    fix : PositionFix
        First fix.
    every : float or None
        Interval between fixes [s]; None for a single fix.
    """

    fix: PositionFix
    every: float | None = None

    @classmethod
    def from_text(cls, text: str) -> FixSchedule:
        """Parse a schedule.

        Parameters
        ----------
        text : str
            Text such as ``every 60s to 5cm``, see :data:`SCHEDULE_EXAMPLES`.

        Returns
        -------
        FixSchedule

        Raises
        ------
        ConfigurationError
            If the text has another form, or lacks the accuracy.
        """
        match = _SCHEDULE.fullmatch(text.strip())
        try:
            if match is None or ("closure" in match[1].lower()) != (match[3] is not None):
                raise ValueError(text)
            time = parse_amount(match[2], "s", TIME_UNITS)
            since = None if match[3] is None else parse_amount(match[3], "s", TIME_UNITS)
            sigma = parse_amount(match[4], "m", LENGTH_UNITS)
        except ValueError:
            raise ConfigurationError(
                f"the position fix is '{text}', expected times and an accuracy, such as "
                f"{SCHEDULE_EXAMPLES}"
            ) from None
        if since is not None and not 0.0 <= since < time:
            raise ConfigurationError(
                f"the position fix is '{text}', but since has to be earlier than the closure"
            )
        if not (time > 0.0 and sigma > 0.0):
            raise ConfigurationError(
                f"the position fix is '{text}', expected a time and an accuracy above zero"
            )
        fix = PositionFix(time, sigma, since)
        return cls(fix, time if match[1].lower() == "every" else None)

    def until(self, end: float) -> tuple[PositionFix, ...]:
        """Return all fixes of a drive.

        Parameters
        ----------
        end : float
            Last time [s].

        Returns
        -------
        tuple of PositionFix
            Fixes up to this time; a single fix later than it is returned, too.
        """
        if self.every is None:
            return (self.fix,)
        count = math.floor(end / self.every * (1.0 + 1e-9))
        return tuple(self.fix._replace(time=k * self.every) for k in range(1, count + 1))
