"""A chunk of work, as any process of any computer does it."""

from __future__ import annotations

import platform
from importlib import metadata

import imu_simulation_framework
from imu_simulation_framework.errors import ClusterError
from imu_simulation_framework.evaluation.ensemble import reduce_runs
from imu_simulation_framework.experiment.ensemble.chunk_files import pack
from imu_simulation_framework.experiment.ensemble.drawings import Drawing

_DECIDING = ("numpy", "scipy", "pandas", "mujoco", "vqf")
"""Libraries whose version decides digits."""


def versions() -> dict[str, str]:
    """Return the versions of what decides the digits of a result, in this process."""
    found = {"imu_simulation_framework": imu_simulation_framework.__version__}
    for name in _DECIDING:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "none"
    return found


def draw_chunk(
    drawing: Drawing, job: str, first_run: int, runs: int, keep: int, needed: dict[str, str]
) -> bytes:
    """Return what is kept of a chunk, as the content of its file.

    Parameters
    ----------
    drawing : Drawing
    job : str
        Hash of the job.
    first_run, runs : int
    keep : int
        Up to which run whole curves are kept.
    needed : dict
        :func:`versions` of the program that puts the chunks together.

    Raises
    ------
    ClusterError
        This process has other versions.
    """
    own = versions()
    if own != needed:
        name = next(name for name in needed if own.get(name) != needed[name])
        raise ClusterError(
            f"a worker on {platform.node()} has {name} {own.get(name)}, but {needed[name]} is "
            "needed: other versions give other digits; install the same on all computers"
        )
    errors = drawing.errors(first_run, runs)
    return pack(reduce_runs(drawing.time, errors, max(0, keep - first_run)), job, first_run)
