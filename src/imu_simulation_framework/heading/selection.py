"""Selection of IMUs whose heading stays within a limit."""

from __future__ import annotations

import math
import warnings
from typing import Any, Iterator, Mapping

import pandas as pd

from ..core.errors import ConfigurationError
from ..motion.earth_motion import EarthMotion
from ..motion.motion import Motion
from ..sensors.imu_specification import ImuSpecification
from ..sensors.operation import Operation
from .answer import RUNS, rank_causes
from .model import imu_error_sources
from .model.model import YawErrorModel
from .model.state_space import RunNormals

_MAX_NORMALS = 2**22
"""Maximum number of random numbers stored for reuse: 32 MB, enough for :data:`STEPS`."""

STEPS = 60
"""Number of time steps of the compared models; few suffice, since only the final error counts."""


def model_step(
    at: float, motion: Motion | EarthMotion, operation: Operation, steps: int = STEPS
) -> float:
    """Choose the time step of a yaw error model such that stops begin and end at steps.

    Parameters
    ----------
    at : float
        Evaluation time since the motion's start [s].
    motion : Motion or EarthMotion
        Motion with its stops.
    operation : Operation
        Standstill, stops and warm-up of the gyroscope.
    steps : int, optional
        Minimum number of steps up to that time.

    Returns
    -------
    float
        Step [s].
    """
    max_step, inserted = at / steps, operation.given_stops
    if inserted is not None:
        every, duration = (round(1000.0 * time) for time in inserted)
        # Every stop begins and ends at a step, unless this would require very short steps.
        stop_step = max(math.gcd(every, duration), 0.25 * duration) / 1000.0
    elif operation.detects:
        stop_step = 0.25 * operation.min_stop
    else:
        stops = operation.standstills(motion)
        stop_step = 0.25 * min((stop.end - stop.start for stop in stops), default=math.inf)
    if stop_step >= max_step and inserted is None:
        return max_step
    return stop_step / math.ceil(stop_step / max_step)


def yaw_error_models(
    imus: Mapping[str, ImuSpecification],
    motion: Motion | EarthMotion,
    at: float,
    operation: Operation,
    sample: float | None,
    period: float | None = None,
) -> Iterator[tuple[str, YawErrorModel]]:
    """Yield the name and the yaw error model of each IMU up to a given time.

    Parameters
    ----------
    imus : mapping of str to ImuSpecification
        IMUs by name.
    motion : Motion or EarthMotion
        Motion with its stops.
    at : float
        Last time of the models since the motion's start [s].
    operation : Operation
        Standstill, stops and warm-up of the gyroscope.
    sample : float or None
        Sampling period of the sensors, see :func:`.yaw_error_model` [s].
    period : float, optional
        Step of the models [s]; by default that of :func:`model_step`.

    Yields
    ------
    name : str
        Name of the IMU.
    model : YawErrorModel
        Yaw error model of the IMU.
    """
    period = model_step(at, motion, operation) if period is None else period
    for name, imu in imus.items():
        model = imu_error_sources.yaw_error_model(
            imu, motion, period, sample=sample, operation=operation
        )
        yield name, model.until(min(round(at / period) + 1, len(model.time)))


def which_imu(
    imus: dict[str, ImuSpecification],
    motion: Motion | EarthMotion,
    limit: float,
    at: float,
    operation: Operation | None = None,
    probability: float = 0.95,
    sample: float | None = None,
    runs: int = RUNS // 2,
) -> pd.DataFrame:
    """Rank IMUs by yaw error, and mark those whose heading stays within a limit.

    Parameters
    ----------
    imus : dict of str to ImuSpecification
        IMUs by name.
    motion : Motion or EarthMotion
        Motion of the IMU, without the stops of the operation.
    limit : float
        Limit of the yaw error to either side [rad].
    at : float
        Time since the motion's start until which the limit applies [s].
    operation : Operation, optional
        Standstill, stops and warm-up of the gyroscope.
    probability : float, optional
        Required share of drives within the limit.
    sample : float, optional
        Sampling period of the sensors, see :func:`.yaw_error_model` [s].
    runs : int, optional
        Number of simulated drives for each IMU.

    Returns
    -------
    pandas.DataFrame
        Indexed by name, the best first. Columns: ``percentile_50`` and ``required_percentile``,
        the percentiles of the magnitude of the final error at 50 % and at ``probability`` [rad];
        ``probability_within``, the probability of staying within the limit all the time;
        ``passes``, whether ``probability_within`` is at least ``probability``;
        ``largest_source``, the source with the largest contribution at the end; ``differs``, see
        :func:`.rank_causes`. The former names of four columns, ``half``, ``nearly_all``,
        ``stays`` and ``cause``, issue a DeprecationWarning.

    Raises
    ------
    ConfigurationError
        If the motion ends before that time, or ``imus`` is empty.
    """
    operation = Operation() if operation is None else operation
    motion_with_stops = operation.insert_stops(motion)
    if not imus:
        raise ConfigurationError("imus is empty, expected at least one IMU")
    if not 0.0 < at <= motion_with_stops.duration * (1.0 + 1e-9):
        raise ConfigurationError(
            f"the motion lasts {motion_with_stops.duration:.6g} s, expected at least {at:g} s"
        )
    rows, normals = {}, RunNormals(1, _MAX_NORMALS)
    for name, model in yaw_error_models(imus, motion_with_stops, at, operation, sample):
        probability_within = min(
            model.probability_always_within(limit, runs, normals)[0],
            float(model.probability_within(limit)[-1]),
        )
        causes = rank_causes(model)
        rows[name] = {
            "percentile_50": model.absolute_quantile(0.5),
            "required_percentile": model.absolute_quantile(probability),
            "probability_within": probability_within,
            "passes": probability_within >= probability,
            "largest_source": causes.index[0] if len(causes) else "none",
            "differs": causes["differs"].iloc[0] if len(causes) else "",
        }
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("imu")
    return _Ranking(table.sort_values("required_percentile", kind="stable"))


class _Ranking(pd.DataFrame):
    """Table of :func:`which_imu` in which columns can be selected by their deprecated names."""

    @property
    def _constructor(self) -> type[pd.DataFrame]:
        return _Ranking

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str) and key in _DEPRECATED_COLUMNS:
            message = f"column {key} is deprecated, use {_DEPRECATED_COLUMNS[key]}"
            warnings.warn(message, DeprecationWarning, stacklevel=2)
            key = _DEPRECATED_COLUMNS[key]
        return super().__getitem__(key)


_DEPRECATED_COLUMNS = {
    "half": "percentile_50",
    "nearly_all": "required_percentile",
    "stays": "probability_within",
    "cause": "largest_source",
}
