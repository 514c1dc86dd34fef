"""Another specimen of a sensor: what differs from one to the next, drawn at random."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from imu_simulation_framework.core.checked_values import Matrix, checked_matrix
from imu_simulation_framework.core.settings import Settings, declared
from imu_simulation_framework.sensors.imu_specification import ImuSpecification
from imu_simulation_framework.sensors.noise.streams import child_seed, run_seed

_NOTHING: Matrix = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@dataclass(frozen=True)
class SpecimenSpread(Settings):
    """How far the response of one specimen may be from the truth.

    Each element is drawn evenly between zero and what stands here, which may be negative.

    Parameters
    ----------
    gyroscope, accelerometer : 3 x 3 float
        Scale factors and misalignments, as ``scale_factor_and_misalignment`` of a triad [1].
    g_sensitivity : 3 x 3 float
        The gyroscope's [rad/s per m/s^2].
    """

    gyroscope: Matrix = declared(_NOTHING, checked_matrix)
    accelerometer: Matrix = declared(_NOTHING, checked_matrix)
    g_sensitivity: Matrix = declared(_NOTHING, checked_matrix)


AGISIM_SPREAD = SpecimenSpread(
    gyroscope=((3e-3, -3e-3, -3e-3), (0.0, 3e-3, 3e-3), (0.0, 0.0, 3e-3)),
    accelerometer=((5e-3, -5e-3, -5e-3), (-5e-3, 5e-3, 5e-3), (-5e-3, 5e-3, 5e-3)),
    g_sensitivity=((1e-5, -1e-5, -1e-5), (-1e-5, 1e-5, 1e-5), (-1e-5, 1e-5, 1e-5)),
)
"""Of the paper on AGISim, table 2, whose axes are forward, right, down: in ours, forward, left, up,
what leads from x to y or z, or back, has the other sign."""


def specimen(
    specification: ImuSpecification, spread: SpecimenSpread, seed: int = 1, run: int = 0
) -> ImuSpecification:
    """Return a specification with a response drawn anew; all else is as it was.

    ``seed``: of all runs. ``run``: which one. Its response is the same whatever other runs there
    are.
    """
    random = np.random.default_rng(child_seed(run_seed(seed, run), _RESPONSE))
    drawn = {
        name: np.array(getattr(spread, name)) * random.random((3, 3))
        for name in ("gyroscope", "accelerometer", "g_sensitivity")
    }
    return replace(
        specification,
        gyroscope=replace(
            specification.gyroscope,
            scale_factor_and_misalignment=drawn["gyroscope"].tolist(),
            g_sensitivity=drawn["g_sensitivity"].tolist(),
        ),
        accelerometer=replace(
            specification.accelerometer,
            scale_factor_and_misalignment=drawn["accelerometer"].tolist(),
        ),
    )


_RESPONSE = 1000
"""Child of a run's seed, beyond those of the triads, vibration and receivers."""
