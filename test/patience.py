"""Time limits of all tests."""

from __future__ import annotations

import os
import time

# Factor of all time limits; the default suits a machine with 20 busy processes per core.
FACTOR = float(os.environ.get("IMU_SIMULATION_FRAMEWORK_TEST_PATIENCE", "10"))

# Wall-clock limit of a single event [s], such as the start of a node or the end of a short drive.
PATIENCE = 60.0 * FACTOR

# Wall-clock limit of a whole test [s], enforced by pytest-timeout.
TEST_LIMIT = 4.0 * PATIENCE

_POLL_PERIOD = 0.02  # time between checks [s]


def wait_until(condition, description, limit=PATIENCE):
    """Poll until a condition is true.

    Parameters
    ----------
    condition : callable
        Function that returns a true value after the event.
    description : str
        Name of the event, for the failure message.
    limit : float, optional
        Wall-clock limit [s].

    Returns
    -------
    object
        The true value of the condition.

    Raises
    ------
    AssertionError
        If the condition is not true within the limit.
    """
    deadline = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"no {description} within {limit:g} s"
        time.sleep(_POLL_PERIOD)
