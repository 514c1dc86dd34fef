"""How long tests wait for an event before they fail; the only place that knows."""

from __future__ import annotations

import os
import time

FACTOR = float(os.environ.get("IMU_SIMULATION_FRAMEWORK_TEST_PATIENCE", "10"))
"""Factor on every limit of the tests; the default suits a machine with 20 busy processes a core."""

PATIENCE = 60.0 * FACTOR
"""Wall-clock limit for one event, such as a started node or the end of a short drive [s]."""

TEST_LIMIT = 4.0 * PATIENCE
"""Wall-clock limit for a whole test, after which pytest-timeout ends it [s]."""

_POLL_PERIOD = 0.02


def wait_until(condition, description, limit=PATIENCE):
    """Poll until a condition holds.

    Parameters
    ----------
    condition : callable
        Returns a true value once the event has happened.
    description : str
        The event, for the failure message.
    limit : float, optional
        Wall-clock limit [s].

    Returns
    -------
    object
        The true value.

    Raises
    ------
    AssertionError
        If the limit passes first.
    """
    deadline = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"no {description} within {limit:g} s"
        time.sleep(_POLL_PERIOD)
