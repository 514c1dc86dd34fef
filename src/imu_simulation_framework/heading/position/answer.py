"""Position error of a robot on a motion: percentiles, first passage, causes and tables.

- 50 %, 95 %: distance between estimated and true position that this share of drives does not
  exceed, at the time ``--at``
- of distance: the 95th percentile in percent of the distance travelled
- within: probability that the position is within the limit at that time
- all the time: probability that it has stayed within the limit until then
- along, across: standard deviation along and across the robot's forward direction
- share of variance: fraction of the sum of both variances that a source causes
"""

from __future__ import annotations

import math
from typing import Any, Callable, NamedTuple, Sequence

import numpy as np
import pandas as pd

from ...core.errors import ConfigurationError
from ...core.tables import escape_formula
from ...report import table as table_text
from ...report.table import Column
from ..answer import EARLY_SHARE, RUNS, FirstPassage, passage_words, seconds
from ..budget import NOTABLE_SHARE
from .limit import PositionLimit
from .model import DISTANCE, PositionErrorModel

BAND_PROBABILITIES = (0.5, 0.95)
"""Probabilities of the bands over time."""

MIN_PRINTED_SHARE = 0.1
"""Smallest share of the variance of a source in the printed table [%]; files contain all."""

SOURCE_COLUMNS = (
    Column("robot", "robot"),
    Column("source", "source"),
    Column("mean", "mean", "m", 3),
    Column("along", "std along", "m", 3),
    Column("across", "std across", "m", 3),
    Column("share", "share of variance", "%", 1),
)
"""Columns of the table of error source contributions."""

SUMMARY_NOTE = f"""\
50 %, 95 %: distance from the true position that this share of drives does not exceed;
of distance: the 95th percentile relative to the distance travelled;
within: a limit in % is relative to the distance travelled at the end;
all the time, passed by: counted in {RUNS} simulated drives, with the 95 % interval"""
"""Note below the summary table of position budgets."""


class PositionBudget(NamedTuple):
    """Position error model of a robot with its sensors.

    Attributes
    ----------
    name : str
        Name of the sensors in tables and messages.
    model : PositionErrorModel
        Model up to the time of the budget.
    remarks : list of str
        Messages on limitations of the model.
    """

    name: str
    model: PositionErrorModel
    remarks: list[str]


class PositionAnswer(NamedTuple):
    """Position error at the end of the modelled time, and its causes.

    Attributes
    ----------
    distance : float
        Distance travelled [m].
    limit : float
        Limit of the distance from the true position [m].
    percentile_50, percentile_95 : float
        Percentiles of the distance from the true position over drives [m].
    within : float
        Probability that the position is within the limit at the end.
    first_passage : FirstPassage
        Distribution of the time at which the limit is first exceeded.
    stays_in_corridor : float or None
        Probability that the error across the track stays within the corridor; None without one.
    causes : pandas.DataFrame
        Contributions at the end, the largest first: ``mean``, ``along``, ``across`` [m] and
        ``share`` of the variance [1]; indexed by source.
    """

    distance: float
    limit: float
    percentile_50: float
    percentile_95: float
    within: float
    first_passage: FirstPassage
    stays_in_corridor: float | None
    causes: pd.DataFrame

    def sentence(self, name: str, corridor: float | None = None) -> str:
        """Describe the position error and its main cause in one line.

        Parameters
        ----------
        name : str
            Name of the sensors.
        corridor : float, optional
            Half width of the corridor [m].

        Returns
        -------
        str
        """
        limit = length(self.limit)
        stays = float(self.first_passage.probability_within[-1])
        holds = "more than 99.9" if stays > 0.9995 else f"{100.0 * stays:.3g}"
        share = 100.0 * self.percentile_95 / self.distance
        words = (
            f"{name}: stays within {limit} for all {seconds(self.first_passage.time[-1])} in "
            f"{holds} % of drives; at the end within {length(self.percentile_50)} in 50 % and "
            f"{length(self.percentile_95)} in 95 %, which is {share:.2g} % of the "
            f"{self.distance:.4g} m travelled; {passage_words(self.first_passage, limit)}"
        )
        if self.stays_in_corridor is not None and corridor is not None:
            kept = 100.0 * self.stays_in_corridor
            words += f"; across the track it stays within {length(corridor)} in {kept:.3g} %"
        if self.percentile_95 > 0.0 and len(self.causes):
            words += f"; the largest source is {self.causes.index[0]}"
        return words


def length(metres: float) -> str:
    """Format a length in metres, or in millimetres below a centimetre.

    Parameters
    ----------
    metres : float
        Length [m].

    Returns
    -------
    str
        Text with the unit.
    """
    return f"{metres:.3g} m" if metres >= 0.01 or metres == 0.0 else f"{1000.0 * metres:.2g} mm"


def position_answers(
    budgets: Sequence[PositionBudget],
    limit: PositionLimit,
    corridor: float | None = None,
    runs: int = RUNS,
    seed: int = 1,
    on_runs: Callable[[int], object] = lambda _: None,
) -> list[PositionAnswer]:
    """Compute the position error at the end of each budget, with common random numbers.

    Parameters
    ----------
    budgets : sequence of PositionBudget
        Position error models of the compared robots.
    limit : PositionLimit
        Limit of the distance from the true position.
    corridor : float, optional
        Half width of a corridor, in which the error across the track should stay [m].
    runs : int, optional
        Number of simulated drives of each budget.
    seed : int, optional
        Seed of the simulated drives.
    on_runs : callable, optional
        Called with the number of new drives after each batch of simulated drives.

    Returns
    -------
    list of PositionAnswer
        Answer of each budget.

    Raises
    ------
    ConfigurationError
        If a limit is not larger than the uncertainty of the start.
    """
    check_limits(budgets, limit, corridor)
    answers = []
    for budget in budgets:
        model = budget.model
        metres = limit.metres(float(model.track.distance[-1]))
        limits = [(DISTANCE, metres)]
        if corridor is not None:
            limits.append(("across", corridor))
        survival, *others = model.survivals(limits, runs, seed, on_runs)
        within = model.probability_within(metres)
        answers.append(
            PositionAnswer(
                distance=float(model.track.distance[-1]),
                limit=metres,
                percentile_50=model.distance_quantile(0.5),
                percentile_95=model.distance_quantile(0.95),
                within=within,
                first_passage=FirstPassage(model.time - model.time[0], *survival),
                stays_in_corridor=float(others[0].probability[-1]) if others else None,
                causes=rank_position_causes(model),
            )
        )
    return answers


def check_limits(
    budgets: Sequence[PositionBudget], limit: PositionLimit, corridor: float | None
) -> None:
    """Check that limits exceed the uncertainty of the start.

    Parameters
    ----------
    budgets : sequence of PositionBudget
        Position error models of the compared robots.
    limit : PositionLimit
        Limit of the distance from the true position.
    corridor : float or None
        Half width of a corridor [m].

    Raises
    ------
    ConfigurationError
        If a limit is not larger than the uncertainty of the start.
    """
    for budget in budgets:
        start = budget.model.start.position
        metres = limit.metres(float(budget.model.track.distance[-1]))
        for name, size in (("limit", metres), ("corridor", corridor)):
            if size is not None and size <= start:
                raise ConfigurationError(
                    f"the {name} of {size:g} m is not larger than the uncertainty of the start "
                    f"position, {start:g} m (standard deviation)"
                )


def known_error_remark(model: PositionErrorModel) -> str | None:
    """Describe errors that are the same in every run, which no estimator corrects in the model.

    Parameters
    ----------
    model : PositionErrorModel
        Model with a fused heading or with position fixes.

    Returns
    -------
    str or None
        Message; None if these errors are small.
    """
    mean = float(np.max(np.hypot(*model.mean().T)))
    deviation = math.sqrt(float(np.max(np.trace(model.covariance(), axis1=1, axis2=2))))
    if mean <= NOTABLE_SHARE * deviation:
        return None
    return (
        f"up to {length(mean)} of its error are errors that a file states as values, which the "
        "estimator does not know; state them as standard deviations to have them estimated"
    )


def rank_position_causes(model: PositionErrorModel) -> pd.DataFrame:
    """Rank the error sources by their contributions to the final position error.

    Parameters
    ----------
    model : PositionErrorModel
        Model of the position error.

    Returns
    -------
    pandas.DataFrame
        Columns ``mean``, the length of the mean error, ``along`` and ``across``, the standard
        deviations [m], and ``share`` of the variance [1]; indexed by source, the largest first.
    """
    covariances, means = model.covariance_by_source(), model.mean_by_source()
    forward = model.track.axes("along")[-1]
    across = model.track.axes("across")[-1]
    rows = {}
    for name in model.names:
        covariance = covariances[name][-1] if name in covariances else np.zeros((2, 2))
        rows[name] = {
            "mean": float(np.hypot(*means[name][-1])) if name in means else 0.0,
            "along": math.sqrt(max(0.0, forward @ covariance @ forward)),
            "across": math.sqrt(max(0.0, across @ covariance @ across)),
        }
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["mean", "along", "across"])
    variance = table["along"] ** 2 + table["across"] ** 2
    total = float(variance.sum())
    table["share"] = variance / total if total > 0.0 else 0.0
    size = np.sqrt(variance + table["mean"] ** 2)
    order = size.sort_values(ascending=False, kind="stable").index
    return table.reindex(order).rename_axis("source")


def position_summary_columns(limit: PositionLimit, corridor: float | None) -> tuple[Column, ...]:
    """Return the columns of :func:`position_summary_table`.

    Parameters
    ----------
    limit : PositionLimit
        Limit of the distance from the true position.
    corridor : float or None
        Half width of the corridor [m].

    Returns
    -------
    tuple of Column
        The columns.
    """
    text = f"{100.0 * limit.size:g} %" if limit.is_relative else f"{limit.size:g} m"
    columns = [
        Column("robot", "robot"),
        Column("percentile_50", "50 %", "m", 3),
        Column("percentile_95", "95 %", "m", 3),
        Column("relative", "of distance", "%", 2),
        Column("along", "std along", "m", 3),
        Column("across", "std across", "m", 3),
        Column("within", f"within {text}"),
        Column("always", "all the time"),
        Column("early", f"passed by {100.0 * EARLY_SHARE:g} %", "s"),
    ]
    if corridor is not None:
        columns.append(Column("corridor", f"in corridor of {corridor:g} m"))
    return tuple(columns)


def position_summary_table(
    budgets: Sequence[PositionBudget], answers: Sequence[PositionAnswer]
) -> pd.DataFrame:
    """Create the table that summarises the position errors of all budgets.

    Parameters
    ----------
    budgets : sequence of PositionBudget
        Position error models of the compared robots.
    answers : sequence of PositionAnswer
        Answer of each budget.

    Returns
    -------
    pandas.DataFrame
        One row per budget, with the keys of :func:`position_summary_columns`.
    """
    return pd.DataFrame([_summary(*pair) for pair in zip(budgets, answers)])


def _summary(budget: PositionBudget, answer: PositionAnswer) -> dict[str, Any]:
    deviations = {
        name: math.sqrt(float(budget.model.component(name).variance()[-1]))
        for name in ("along", "across")
    }
    early = answer.first_passage.time_at(EARLY_SHARE)
    kept = answer.stays_in_corridor
    return {
        "robot": budget.name,
        "percentile_50": answer.percentile_50,
        "percentile_95": answer.percentile_95,
        "relative": 100.0 * answer.percentile_95 / answer.distance,
        **deviations,
        "within": table_text.format_percent(answer.within),
        "always": table_text.format_percent(float(answer.first_passage.probability_within[-1])),
        "early": "later" if math.isinf(early) else f"{early:.4g}",
        "corridor": "" if kept is None else table_text.format_percent(kept),
    }


def position_source_table(
    budgets: Sequence[PositionBudget], answers: Sequence[PositionAnswer]
) -> pd.DataFrame:
    """Create the table of each error source's contribution to the position error.

    Parameters
    ----------
    budgets : sequence of PositionBudget
        Position error models of the compared robots.
    answers : sequence of PositionAnswer
        Answer of each budget.

    Returns
    -------
    pandas.DataFrame
        One row per source of each budget, with the keys of :data:`SOURCE_COLUMNS`.
    """
    tables = []
    for budget, answer in zip(budgets, answers):
        table = answer.causes.reset_index().assign(robot=budget.name)
        table["share"] *= 100.0
        tables.append(table)
    return pd.concat(tables)


def position_bands_text(budgets: Sequence[PositionBudget]) -> str:
    """Format the position error over time as CSV.

    Parameters
    ----------
    budgets : sequence of PositionBudget
        Position error models of the compared robots.

    Returns
    -------
    str
        CSV with the columns robot, time [s], distance (travelled), x, y (true position relative
        to the start), mean_x, mean_y, std_x, std_y [m], correlation [1], and for each component
        along and across the track std, lower and upper limits of the bands [m].
    """
    tables = {}
    for budget in budgets:
        model, covariance = budget.model, budget.model.covariance()
        mean, deviations = model.mean(), np.sqrt(np.maximum(np.einsum("nii->ni", covariance), 0.0))
        product = np.prod(deviations, axis=1)
        table = pd.DataFrame(
            {
                "distance": model.track.distance,
                "x": model.track.position[:, 0],
                "y": model.track.position[:, 1],
                "mean_x": mean[:, 0],
                "mean_y": mean[:, 1],
                "std_x": deviations[:, 0],
                "std_y": deviations[:, 1],
                "correlation": np.divide(
                    covariance[:, 0, 1], product, out=np.zeros(len(product)), where=product > 0.0
                ),
            },
            index=pd.Index(model.time, name="time"),
        )
        for component in ("along", "across"):
            bands = model.component(component).bands(BAND_PROBABILITIES)
            table = table.join(bands.drop(columns="mean").add_prefix(f"{component}_"))
        tables[escape_formula(budget.name)] = table
    whole = pd.concat(tables, names=["robot", "time"]).reset_index("robot")
    return whole.to_csv(float_format="%.9g")
