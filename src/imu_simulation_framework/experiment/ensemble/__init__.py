"""Monte Carlo: very many runs of a sensor, of its model or of an experiment, on many processors.

A run's numbers depend on the seed and the run alone. Runs are drawn in chunks that always begin at
the same runs, and what is kept of a chunk (:mod:`.evaluation.ensemble`) is put together in their
order, so that the result is the same to the bit wherever and in whatever order they were drawn.
"""

from imu_simulation_framework.experiment.ensemble.drawings import (
    Drawing,
    ExperimentDrawing,
    LinearDrawing,
    SensorDrawing,
)
from imu_simulation_framework.experiment.ensemble.monte_carlo import monte_carlo

__all__ = ["Drawing", "ExperimentDrawing", "LinearDrawing", "SensorDrawing", "monte_carlo"]
