r"""Bias, scale factor and misalignment of three sensors from means whose truth is known.

For each axis a, by :func:`.calibration.estimates.solve`,

.. math:: y_a - f_a = b_a + \sum_k c_{ak} \Delta T^k + \sum_j M_{aj} f_j
          + f_a \sum_k s_{ak} \Delta T^k + n_a

with the truth f (the specific force in a position, the mean angular velocity of a turn) and the
temperature's difference :math:`\Delta T` from a reference: the errors of a
:class:`.TriadSpecification` (IEEE Std 1293 and 952 have such models).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Sequence, Tuple

import numpy as np

from imu_simulation_framework.characterisation.calibration.estimates import (
    Axis,
    FoundValue,
    Means,
    SlowNoise,
    solve,
)
from imu_simulation_framework.core.checked_values import AXES
from imu_simulation_framework.sensors.correction import TriadCorrection

Row = Tuple[FoundValue, ...]
_MIN_EXCITED = 0.2


@dataclass(frozen=True)
class Temperatures:
    """The temperature of each mean (n,) [degC], and which polynomials of it are wanted.

    They are 0 at ``reference`` [degC], and of degree 0 for none.
    """

    values: np.ndarray
    reference: float
    bias_degree: int = 0
    scale_degree: int = 0


@dataclass(frozen=True)
class KnownTruth:
    """What the sensors should have said, and how well that is known.

    ``values`` (n, 3): truth of each mean [rad/s; m/s^2]. ``together`` (n,) of int: means with the
    same number have the same error of placement; ``placement``: standard deviation of each angle by
    which the sensor was placed wrongly [rad]. ``own`` (n,): standard deviation along the truth, of
    each mean itself [rad/s; m/s^2].
    """

    values: np.ndarray
    together: np.ndarray
    placement: float = 0.0
    own: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def covariance(self, row, variance=(0.0, 0.0, 0.0)) -> np.ndarray:
        """Return the covariance that this brings into the readings of one axis, shape (n, n).

        With the ``row`` r of I + M, (3,) or (n, 3), at each mean's temperature, and the
        ``variance`` of what is known of it, a tilt by small angles e adds r . (e x f) = e . (f x
        r), so that what is across the truth shows through the misalignment along it, too; and half
        the squares of the angles along the truth.
        """
        along = np.sum(self.values * row, axis=1)
        tilted = self.placement**4 * np.outer(along, along)
        for likely, weight in ((row, 1.0), *zip(np.eye(3), variance)):
            lever = np.cross(self.values, likely)
            tilted += weight * self.placement**2 * (lever @ lever.T)
        total = np.where(self.together[:, None] == self.together, tilted, 0.0)
        if len(self.own):
            size = np.linalg.norm(self.values, axis=1)
            share = np.divide(along, size, out=np.zeros_like(size), where=size > 0.0)
            total = total + np.diag((self.own * share) ** 2)
        return total

    @property
    def expected(self) -> np.ndarray:
        """The mean of what a sensor that is placed so feels."""
        return self.values * (1.0 - self.placement**2)


@dataclass(frozen=True)
class TriadCalibration:
    """What was found of three sensors.

    ``bias`` (3 FoundValue): at the recording's first sample and, if there is one, at the reference
    temperature [rad/s; m/s^2]. ``matrix`` (3 x 3 FoundValue or None): scale factor errors and
    misalignments M in ``(I + M) truth``; None where nothing showed it. ``temperature_bias``,
    ``temperature_scale`` (tuple of 3 FoundValue): for each power of the temperature's difference;
    ``noise`` (3 SlowNoise): as given, or as found; ``method``: how it was found, for a person.
    ``residual``: root mean square of what is left in the means [rad/s; m/s^2].
    """

    bias: Row
    matrix: tuple[tuple[FoundValue | None, ...], ...]
    temperature_bias: tuple[Row, ...] = ()
    temperature_scale: tuple[Row, ...] = ()
    noise: tuple[SlowNoise, ...] = ()
    method: str = ""
    residual: float = 0.0


def fit_triad(
    begin: np.ndarray,
    end: np.ndarray,
    values: np.ndarray,
    group: np.ndarray,
    truth: KnownTruth,
    noise: Sequence[SlowNoise] | None = None,
    temperatures: Temperatures | None = None,
    method: str = "",
    what: str = "the recording",
) -> TriadCalibration:
    """Fit the errors of three sensors to means.

    ``begin``, ``end`` (n,): of the times [s], in their order, not overlapping. ``values`` (n, 3):
    means of the readings [rad/s; m/s^2]. ``group`` (n,) of int: time at rest or turn; ``noise`` (3
    SlowNoise): by default it is found in the recording; ``method``, ``what``: for the result, and
    to begin a sentence with. Raises RecordingError: the means do not tell apart what is asked for,
    or are too few.
    """
    size = np.abs(truth.values).max()
    excited = [
        j for j in range(3) if size and np.abs(truth.values[:, j]).max() > _MIN_EXCITED * size
    ]
    powers = [] if temperatures is None else _powers(temperatures)
    bias_degree = temperatures.bias_degree if temperatures else 0
    scale_degree = temperatures.scale_degree if temperatures else 0
    first = 1 + bias_degree
    last = first + len(excited)
    designs, warm = [], np.zeros((3, len(values)))
    rows, variances = np.eye(3), np.zeros((3, 3))
    off = values - truth.expected
    for axis, unit in enumerate(np.eye(3)):
        columns = [np.ones(len(values)), *powers[:bias_degree]]
        columns += [truth.expected[:, j] for j in excited]
        scaled = axis in excited
        if scaled:
            columns += [truth.expected[:, axis] * power for power in powers[:scale_degree]]
        designs.append(np.column_stack(columns))
        # Rough ones are enough to know how a tilt shows.
        inverse = np.linalg.pinv(designs[-1])
        rough = inverse @ off[:, axis]
        spread = np.diag(inverse @ truth.covariance(unit) @ inverse.T)
        rows[axis, excited] += rough[first:last]
        variances[axis, excited] = spread[first:last]
        if scaled:
            warm[axis] = sum((slope * power for slope, power in zip(rough[last:], powers)), 0.0)
    rows, variances = _likely_rows(rows, variances)
    axes = []
    for axis, unit in enumerate(np.eye(3)):
        beside = truth.covariance(rows[axis] + warm[axis][:, None] * unit, variances[axis])
        axes.append(Axis(off[:, axis], designs[axis], beside, f"{what}, axis {AXES[axis]}"))
    found = solve(Means(begin, end, group, axes), noise or None)
    estimates = [one.estimates for one in found]
    matrix = tuple(
        tuple(row[first + excited.index(j)] if j in excited else None for j in range(3))
        for row in estimates
    )
    zero = FoundValue(0.0, 0.0, 0.0)
    return TriadCalibration(
        tuple(row[0] for row in estimates),
        matrix,
        tuple(tuple(row[1 + k] for row in estimates) for k in range(bias_degree)),
        tuple(
            tuple(row[last + k] if axis in excited else zero for axis, row in enumerate(estimates))
            for k in range(scale_degree if excited else 0)
        ),
        tuple(one.noise for one in found),
        method,
        float(np.sqrt(np.mean([one.residuals**2 for one in found]))),
    )


def _likely_rows(rows, variances):
    """Return mean and variance of I + M, of estimates whose variances are those of the placement.

    Placement makes misalignments look larger than they are, and what a tilt adds along the truth
    with them. They are therefore taken for draws about zero, of as much variance as theirs exceeds
    that of their estimates (empirical Bayes; Morris, JASA 78, 1983).
    """
    across = (variances > 0.0) & ~np.eye(3, dtype=bool)
    kept = np.ones((3, 3))
    if across.any():
        own = max(float(np.mean(rows[across] ** 2 - variances[across])), 0.0)
        kept[across] = own / (own + variances[across])
    return kept * rows, np.where(across, kept * variances, 0.0)


def _powers(temperatures):
    difference = temperatures.values - temperatures.reference
    degree = max(temperatures.bias_degree, temperatures.scale_degree)
    return [difference**k for k in range(1, degree + 1)]


def correction_of(
    calibration: TriadCalibration,
    reference: float = 25.0,
    temperature_range: tuple[float, float] = (-273.15, 1000.0),
) -> TriadCorrection:
    """Return the correction that a calibration gives; what it did not see is not corrected.

    ``reference`` is that of its temperature polynomials, and the range the lowest and the highest
    temperature [degC].
    """

    def values(row: Sequence[Any], of: str = "value") -> Any:
        return tuple(0.0 if one is None else getattr(one, of) for one in row)

    temperature: dict[str, Any] = {}
    if calibration.temperature_bias or calibration.temperature_scale:
        temperature = {
            "temperature_bias": tuple(map(values, calibration.temperature_bias)),
            "temperature_scale_factor": tuple(map(values, calibration.temperature_scale)),
            "temperature_reference": reference,
            "temperature_range": temperature_range,
        }
    bias, matrix = calibration.bias, calibration.matrix
    matrices: Any = [tuple(values(row, of) for row in matrix) for of in ("value", "sigma")]
    return TriadCorrection(values(bias), values(bias, "sigma"), *matrices, **temperature)
