"""Many realisations of an error over time as a few numbers, which add up in any pieces."""

from imu_simulation_framework.evaluation.ensemble.reduction import (
    Reduction,
    merged,
    reduce_runs,
)

__all__ = ["Reduction", "merged", "reduce_runs"]
