"""The IMU models by name: error models that turn true signals into what an IMU says of them.

A model is stepped sample by sample in a simulator, or run over a whole drive many times at once;
both give the same for the same random numbers.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Mapping, NamedTuple

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.sentences import shown
from imu_simulation_framework.sensors.imu_models.base import ImuModel
from imu_simulation_framework.sensors.imu_models.plugins import (
    GenericImu,
    GenericParameters,
    HectorImu,
    HectorParameters,
    IdealImu,
    IdealParameters,
)
from imu_simulation_framework.sensors.imu_models.specification import (
    SpecificationImu,
    SpecificationParameters,
)


class _Kind(NamedTuple):
    model: type
    parameters: type


class Preset(NamedTuple):
    """A model's name and the parameters that differ from its defaults."""

    model: str
    parameters: Mapping[str, Any]


IMU_MODELS = {
    "ideal": _Kind(IdealImu, IdealParameters),
    "generic": _Kind(GenericImu, GenericParameters),
    "hector": _Kind(HectorImu, HectorParameters),
    "specification": _Kind(SpecificationImu, SpecificationParameters),
}

# A model's defaults, and further sets of parameters that have a name.
PRESETS = {
    **{name: Preset(name, {}) for name in IMU_MODELS},
    # The slower of the two drifts that were tuned to a BNO055.
    "hector_slow": Preset("hector", {"yaw_drift": 1.118, "yaw_drift_frequency": 0.001}),
}


def make_imu_model(name: str, parameters: Mapping[str, Any], period: float, seed=0) -> ImuModel:
    """Return the IMU model of that name.

    Raises :class:`.ConfigurationError`: the name or a parameter is unknown, or a value is out of
    range.

    ``name``: a key of ``PRESETS``: a model, or a named set of its parameters. ``parameters``:
    parameters that shall differ from those of the preset; the names are those of the fields of the
    model's parameters. ``period``: time from one sample to the next [s]. ``seed`` (int or
    numpy.random.SeedSequence): of all runs.
    """
    if name not in PRESETS:
        raise ConfigurationError(
            f"There is no IMU model {shown(name)}; there are {', '.join(sorted(PRESETS))}."
        )
    preset = PRESETS[name]
    kind = IMU_MODELS[preset.model]
    known = [field.name for field in fields(kind.parameters)]
    for key in parameters:
        if key not in known:
            raise ConfigurationError(
                f"The IMU model {name} has no parameter {shown(key)}; "
                + (f"it has {', '.join(known)}." if known else "it has none.")
            )
    return kind.model(kind.parameters(**{**preset.parameters, **parameters}), period, seed)
