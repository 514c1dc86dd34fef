"""Heading budget of one sensor on a given motion."""

from __future__ import annotations

from typing import Any, Callable, Mapping, NamedTuple, Sequence

from ..motion.earth_motion import EarthMotion
from ..motion.motion import Motion
from ..sensors.imu_specification import ImuSpecification
from ..sensors.magnetism.environment import MagneticEnvironment
from ..sensors.odometer import OdometerSpecification
from ..sensors.operation import Operation
from .answer import HeadingAnswer, Improvement, heading_answers
from .budget import Budget
from .improvements import propose_improvements
from .model.imu_error_sources import yaw_error_model


class BudgetTask(NamedTuple):
    """Motion and operation of the sensors for which heading budgets are computed.

    Attributes
    ----------
    motion : Motion or EarthMotion
        Motion with the stops of the operation.
    driven : Motion or EarthMotion
        Motion without the stops of the operation.
    operation : Operation
        Use of the sensors.
    at : float
        Evaluation time since the start of the motion [s].
    period : float
        Step of the models [s].
    sample : float or None
        Sampling period of the sensors, if it is shorter than the steps of the motion [s].
    """

    motion: Motion | EarthMotion
    driven: Motion | EarthMotion
    operation: Operation
    at: float
    period: float
    sample: float | None

    @property
    def turn(self) -> float:
        """Change in yaw from the start of the motion to the evaluation time [rad]."""
        last = (self.motion.time - self.motion.time[0]).searchsorted(self.at - 1e-9)
        return float(self.motion.yaw[last] - self.motion.yaw[0])


def sensor_budget(
    name: str,
    errors: Any,
    task: BudgetTask,
    *,
    part: Improvement | None = None,
    environment: MagneticEnvironment | None = None,
    origins: Mapping[str, str],
) -> Budget:
    """Create the heading budget of a sensor for a given motion and operation.

    Parameters
    ----------
    name : str
        Name of the sensor in tables and messages.
    errors : LinearImu
        Errors of the sensor.
    task : BudgetTask
        Motion and operation of the sensor.
    part : Improvement, optional
        Better IMU from :func:`.better_part`.
    environment : MagneticEnvironment, optional
        Field for a sensor with a magnetic heading; by default the undisturbed field in Europe.
    origins : mapping of str to str
        Origin of the gyroscope's parameters by field.

    Returns
    -------
    Budget
        The budget; its remarks describe limitations of the model.
    """
    arguments: dict[str, Any] = {
        "period": task.period,
        "magnetic_environment": environment,
        "sample": task.sample,
    }
    model = yaw_error_model(errors, task.motion, operation=task.operation, **arguments)
    model = model.until(min(round(task.at / task.period) + 1, len(model.time)))
    improvements = propose_improvements(
        errors, task.driven, task.operation, model, part, **arguments
    )
    remarks = list(model.limits)
    is_zeroed = task.operation != Operation(standstill=0.0)
    if is_zeroed and not isinstance(errors, (ImuSpecification, OdometerSpecification)):
        remarks.append(
            "its yaw error comes from a plug-in or from recorded drives, so zeroing has no effect"
        )
    return Budget(name, errors, model, remarks, improvements, origins)


def budget_answers(
    budgets: Sequence[Budget],
    limit: float,
    seed: int,
    on_runs: Callable[[int], object] = lambda _: None,
) -> list[HeadingAnswer]:
    """Compute the heading drift and its causes for each budget.

    Parameters
    ----------
    budgets : sequence of Budget
        Yaw error models of the compared sensors.
    limit : float
        Limit of the yaw error [rad].
    seed : int
        Seed of the simulated drives.
    on_runs : callable, optional
        Called with the number of drives after each batch of simulated drives.

    Returns
    -------
    list of HeadingAnswer
        Answer of each budget.
    """
    models = [budget.model for budget in budgets]
    improvements = [budget.improvements for budget in budgets]
    return heading_answers(models, limit, improvements, seed=seed, on_runs=on_runs)
