"""How two headings go together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imu_simulation_framework.evaluation.time_alignment import normalised_correlation, parabola_peak

SHORTEST_WINDOW = 1.0
"""Turns are compared over windows of at least this length [s]: what a robot does, not noise."""

SAMPLES_PER_WINDOW = 4
"""A window holds at least so many samples of the slower heading."""

STEPS_PER_WINDOW = 8

LONGEST_DELAY = 10.0
"""Delays are looked for up to here [s], and up to a quarter of the drive."""

MINIMUM_WINDOWS = 8

TURNING = np.radians(0.3)
"""A heading that turns less than this [rad/s, standard deviation over windows] says nothing."""

CLEARLY_TURNING = np.radians(1.0)
"""Where one turns this much the other should turn, too."""

STEADILY_TURNING = np.radians(3.0)
"""A mean rate of turn [rad/s] that no bias of a gyroscope should make."""

STEADY = 0.25
"""A turn whose rate changes by less than this part of its mean is steady: round and round."""

SAME_SIZE = 3.0
"""Steady turns within this factor are of one size, as a bias can be the rest."""


@dataclass(frozen=True)
class Relation:
    """The turns of two headings over the same windows.

    Attributes
    ----------
    first, second : str
        Names of the headings.
    correlation : float
        Of the turns, at the delay that fits best, nan if one of them does not turn.
    correlation_as_recorded : float
        The same without a delay.
    scale : float
        Turn of the first per turn of the second, by regression, at the delay. Of two steady turns
        the sign only, unless it is far from one: a bias cannot be told from a scale there.
    delay : float
        How late the second is against the first [s].
    windows : int
        Independent windows compared.
    window : float
        Their length [s].
    turned : tuple of float
        Sum of the absolute turns of each [rad].
    net : tuple of float
        Net turn of each over the time that they share [rad].
    disagreement : float
        Sum of the absolute differences of the turns [rad].
    rates : tuple of float
        Standard deviation of each one's rate of turn [rad/s].
    """

    first: str
    second: str
    correlation: float
    correlation_as_recorded: float
    scale: float
    delay: float
    windows: int
    window: float
    turned: tuple[float, float]
    net: tuple[float, float]
    disagreement: float
    rates: tuple[float, float]

    @property
    def conclusive(self) -> bool:
        """Whether both turn enough, often enough, that their correlation says something."""
        return self.windows >= MINIMUM_WINDOWS and bool(np.isfinite(self.correlation))

    def scale_text(self, form) -> str:
        """Return the scale as a person reads it; against what stands still there is none."""
        return format(self.scale, form) if np.isfinite(self.scale) else "unknown"

    @property
    def significant(self) -> float:
        """Size of a correlation that chance hardly gives, four standard errors."""
        return min(0.95, 4.0 / np.sqrt(max(self.windows, 1)))

    @property
    def agree(self) -> bool:
        """Whether both tell of the same turns, up to noise and ten percent."""
        return self.correlation > 0.9 and 0.9 < self.scale < 1.0 / 0.9

    @property
    def opposed(self) -> bool:
        """Whether one turns left when the other turns right."""
        return self.correlation < -max(0.6, self.significant)

    @property
    def related(self) -> bool:
        """Whether they share turns at all, of whichever sense and size."""
        return abs(self.correlation) > max(0.6, self.significant)


def relate(first, second, shortest_window=SHORTEST_WINDOW):
    """Compare two headings.

    The turn over a window is the difference of the angle between its ends. Windows overlap; they
    are compared at every delay for which enough of them remain, and the delay with the largest
    correlation, of either sign, is refined by a parabola. A delay that hardly fits better than
    none is none: headings that repeat themselves fit again a round later.

    Parameters
    ----------
    first, second : Heading
    shortest_window : float
        [s]

    Returns
    -------
    Relation or None
        None if they do not overlap in time for some windows.
    """
    start = max(first.time[0], second.time[0])
    stop = min(first.time[-1], second.time[-1])
    if stop <= start:
        return None
    window = max(shortest_window, SAMPLES_PER_WINDOW * max(first.period, second.period))
    step = window / STEPS_PER_WINDOW
    count = int((stop - start) / step) - STEPS_PER_WINDOW
    if count < MINIMUM_WINDOWS * STEPS_PER_WINDOW:
        return None
    grid = start + step * np.arange(count + STEPS_PER_WINDOW)
    turns = [_turns(heading.at(grid)) for heading in (first, second)]
    rates = tuple(float(np.std(turn) / window) for turn in turns)
    means = [float(np.mean(turn) / window) for turn in turns]
    steady = all(
        abs(mean) > STEADILY_TURNING and rate < STEADY * abs(mean)
        for mean, rate in zip(means, rates)
    )
    delay, correlation, as_recorded = 0.0, np.nan, np.nan
    if steady:
        # Nothing changes that could be correlated, but the senses of rotation are known.
        one, other = turns
        as_recorded = correlation = float(one @ other / np.sqrt((one @ one) * (other @ other)))
    elif max(rates) > CLEARLY_TURNING and min(rates) < 1e-3 * TURNING:
        # One turns, the other stands still.
        as_recorded = correlation = 0.0
    elif min(rates) > TURNING or max(rates) > CLEARLY_TURNING:
        as_recorded = float(np.corrcoef(*turns)[0, 1])
        delay, correlation = _delay(turns, step, as_recorded, (stop - start) / 4.0)
    if delay:
        # Where the second has not begun, or has ended, it would seem to stand still.
        inside = (grid + delay >= second.time[0]) & (grid + delay <= second.time[-1])
        grid = grid[inside]
        turns = [_turns(first.at(grid)), _turns(second.at(grid + delay))]
    one, other = turns
    spread = float(np.mean((other - other.mean()) ** 2))
    covariance = float(np.mean((one - one.mean()) * (other - other.mean())))
    scale = covariance / spread if spread > 0.0 else np.nan
    if steady:
        scale = means[0] / means[1]
        scale = np.sign(scale) if 1.0 / SAME_SIZE < abs(scale) < SAME_SIZE else scale
    return Relation(
        first=first.name,
        second=second.name,
        correlation=correlation,
        correlation_as_recorded=as_recorded,
        scale=float(scale),
        delay=delay,
        windows=len(one) // STEPS_PER_WINDOW,
        window=window,
        turned=tuple(float(np.abs(turn).sum() / STEPS_PER_WINDOW) for turn in (one, other)),
        net=tuple(float(heading.at(stop) - heading.at(start)) for heading in (first, second)),
        disagreement=float(np.abs(one - other).sum() / STEPS_PER_WINDOW),
        rates=rates,
    )


def _turns(angles):
    return angles[STEPS_PER_WINDOW:] - angles[:-STEPS_PER_WINDOW]


def _delay(turns, step, as_recorded, longest):
    """Return the delay of the second [s] and the correlation there."""
    first, second = (turn - turn.mean() for turn in turns)
    largest = int(min(LONGEST_DELAY, longest) / step)
    lags = np.arange(-largest, largest + 1)
    correlations = normalised_correlation(second, first, lags)
    best = int(np.argmax(np.abs(correlations)))
    # What is not explained has to shrink by a tenth.
    if 1.0 - abs(correlations[best]) > 0.9 * (1.0 - abs(as_recorded)):
        return 0.0, as_recorded
    offset = parabola_peak(np.abs(correlations), best)
    return float((lags[best] + offset) * step), float(correlations[best])
