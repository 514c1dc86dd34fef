"""The ground: flat, or with gentle bumps. One description for every simulator.

A bump is the cap of a large sphere that is buried under the plane. Every simulator knows
spheres exactly, so the ground is the same in all of them, and wheels roll over it smoothly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.settings import LARGEST_SEED, Settings, setting

START_CLEARANCE = 1.5
"""No bump's middle is nearer to the origin, where drives start [m]."""


LARGEST_LENGTH = 1000.0
"""Of anything in a terrain [m]; it is for a robot that drives some hundred metres."""

MAX_BUMPS = 10_000
"""A simulator looks in each step for those that touch a wheel."""


@dataclass(frozen=True)
class Terrain(Settings):
    """Bumps on a jittered square grid.

    ``height``: of a bump's top above the plane, at most [m]; each has between half of it and all.
    ``spacing``: between two bumps' middles, on average [m]. ``radius``: of the spheres [m].
    ``size``: side of the square around the origin that has bumps [m]. Raises ConfigurationError if
    a value is out of range, the bumps are higher than their spheres, or there are too many.
    """

    height: float = setting(0.02, unit="m", above=0.0, maximum=LARGEST_LENGTH)
    spacing: float = setting(1.5, unit="m", above=0.0, maximum=LARGEST_LENGTH)
    radius: float = setting(2.0, unit="m", above=0.0, maximum=LARGEST_LENGTH)
    size: float = setting(30.0, unit="m", above=0.0, maximum=LARGEST_LENGTH)
    seed: int = setting(1, minimum=0, maximum=LARGEST_SEED)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.size**2 > MAX_BUMPS * self.spacing**2:
            raise ConfigurationError(
                f"size is {self.size:g} m, which with spacing {self.spacing:g} m makes more than "
                f"{MAX_BUMPS} bumps; make size smaller or spacing larger."
            )
        if self.height >= self.radius:
            raise ConfigurationError(
                f"height is {self.height} m, but it must be below radius, {self.radius} m."
            )

    def spheres(self):
        """Return middles of the spheres, (n, 3) [m]; z is the bump's height less the radius."""
        generator = np.random.default_rng(self.seed)
        count = int(self.size // self.spacing)
        line = (np.arange(count) - 0.5 * (count - 1)) * self.spacing
        grid = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
        middles = grid + generator.uniform(-0.25, 0.25, grid.shape) * self.spacing
        heights = self.height * generator.uniform(0.5, 1.0, len(grid))
        spheres = np.column_stack([middles, heights - self.radius])
        return spheres[np.hypot(middles[:, 0], middles[:, 1]) >= START_CLEARANCE]

    def has_bumps_near(self, x, y, distance) -> bool:
        """Return whether a bump is within a distance [m] of a position [m]."""
        spheres = self.spheres()
        reach = np.sqrt(self.radius**2 - spheres[:, 2] ** 2)
        return bool(np.any(np.hypot(spheres[:, 0] - x, spheres[:, 1] - y) < reach + distance))
