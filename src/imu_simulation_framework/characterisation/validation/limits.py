"""User-defined limits on the error statistics of an IMU."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple

from ...core.checks import check_number
from ...core.errors import ConfigurationError, RecordingError
from ...core.sentences import quote
from .errors import AXES, NORM, QUANTITIES, ImuValidation

STATISTICS = ("mean", "standard_deviation", "rms", "maximum_absolute")
"""Error statistics that can be limited, in addition to the Allan deviation."""

_ALLAN = "allan_deviation"


class Limit(NamedTuple):
    """Largest permitted value of an error statistic.

    Attributes
    ----------
    quantity : str
        Key of :data:`.errors.QUANTITIES`.
    axis : str
        Axis of :data:`.errors.AXES`, or :data:`.errors.NORM`.
    statistic : str
        Name of the statistic.
    maximum : float
        Largest permitted value, in the unit of the quantity.
    tau : float or None
        Averaging time of an Allan deviation [s]; None for other statistics.
    """

    quantity: str
    axis: str
    statistic: str
    maximum: float
    tau: float | None = None

    @property
    def name(self) -> str:
        """Name of the limited statistic in messages."""
        suffix = "" if self.tau is None else f" at {self.tau:g} s"
        return f"{self.quantity} {self.axis} {self.statistic.replace('_', ' ')}{suffix}"

    def is_kept(self, value: float) -> bool:
        """Return whether the value of a statistic is within the limit.

        Parameters
        ----------
        value : float
            Statistic in the unit of the quantity.

        Returns
        -------
        bool
            True if the value does not exceed the maximum; False for NaN.
        """
        return value <= self.maximum


def read_limits(content: Any) -> list[Limit]:
    """Parse limits on error statistics from nested mappings, as in a YAML file.

    Parameters
    ----------
    content : dict
        Mapping ``{quantity: {axis: {statistic: maximum}}}``. For an Allan deviation, the maximum is
        a mapping from averaging times [s] to maxima.

    Returns
    -------
    list of Limit
        The limits.

    Raises
    ------
    ConfigurationError
        A quantity, axis or statistic is unknown, or a maximum is not a positive number.
    """
    limits = []
    for quantity, axes in _entries(content, "the limits", QUANTITIES, "quantity"):
        known = (*AXES[quantity], NORM)
        for axis, statistics in _entries(axes, quantity, known, f"axis of {quantity}"):
            place, known = f"{quantity}.{axis}", (*STATISTICS, _ALLAN)
            for name, maximum in _entries(statistics, place, known, f"statistic of {place}"):
                key = f"{place}.{name}"
                for tau, value in _entries(maximum, key) if name == _ALLAN else [(None, maximum)]:
                    if tau is not None:
                        tau = check_number(f"an averaging time of {key}", tau, above=0.0)
                    value = check_number(key, value, above=0.0)
                    limits.append(Limit(quantity, axis, name, value, tau))
    if not limits:
        raise ConfigurationError("limits are empty, expected at least one limit")
    return limits


def judge_limits(validation: ImuValidation, limits: list[Limit]) -> list[tuple[Limit, float]]:
    """Evaluate the error statistic to which each limit applies.

    Parameters
    ----------
    validation : ImuValidation
        Errors of an IMU.
    limits : list of Limit
        Limits to evaluate.

    Returns
    -------
    list of tuple
        Each limit with the value of its statistic.

    Raises
    ------
    RecordingError
        A limited axis was not compared, or the recording is too short.
    """
    judged = []
    for limit in limits:
        axis = validation.axis(limit.quantity, limit.axis)
        if axis is None:
            raise RecordingError(
                f"{limit.name} has a limit, but {limit.quantity} {limit.axis} could not be "
                "compared; remove the limit"
            )
        judged.append((limit, axis.value(limit.statistic, limit.tau)))
    return judged


def _entries(value, name, known=None, noun=""):
    """Yield the items of a mapping; raise an error if a key is unknown."""
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"{name} is {quote(value)}, expected keys and values")
    for key, entry in value.items():
        if known is not None and key not in known:
            raise ConfigurationError(
                f"{quote(key)} is an unknown {noun}, expected one of {', '.join(known)}"
            )
        yield key, entry
