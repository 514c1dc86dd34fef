"""Yaw error limits as horizontal lines in figures of budgets and ensembles."""

from __future__ import annotations

import numpy as np

from ...report import style
from ...report.figure import Figure


def draw_limit(figure: Figure, limit: float, largest_error: float) -> None:
    """Draw lines at plus and minus a limit, unless the error bands would shrink to a line.

    Parameters
    ----------
    figure : Figure
        Figure whose last panel shows errors in degrees.
    limit : float
        Limit [rad].
    largest_error : float
        Largest magnitude of an error in the panel [deg].
    """
    degrees = np.degrees(limit)
    if degrees < 3.0 * max(largest_error, 1e-12):
        for side in (1.0, -1.0):
            figure.level(side * degrees, style.LIMIT, f"limit of {degrees:g} deg")
