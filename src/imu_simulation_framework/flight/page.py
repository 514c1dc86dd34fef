"""The report of a flight with an IMU on a gimbal."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple, Sequence

import numpy as np

from imu_simulation_framework.flight.figures import (
    imu_figure,
    map_figure,
    navigation_figure,
    numbered,
    profile_figure,
)
from imu_simulation_framework.flight.navigation.runs import RMSE_COLUMNS
from imu_simulation_framework.report.page import Page, Section, Table, facts

_UNITS = ("mrad", "m", "m", "m", "m/s", "m/s", "m/s")


class ShownFlight(NamedTuple):
    """What the page tells.

    At ``time`` (n,) [s]: ``position`` (n, 3) east and north of the start, and higher on the
    ellipsoid than it [m]; ``speed`` (n,) over ground [m/s]; ``joints`` (n, 3) [rad]. ``instants``
    [s] by name. ``alone``: joint -> time, measured and true, as :func:`.imu_figure` takes them;
    ``in_flight``: the same of the take-off, or of all. ``navigated``: name -> errors and the table
    of their rmse.
    """

    title: str
    summary: Sequence[str]
    time: np.ndarray
    position: np.ndarray
    speed: np.ndarray
    joints: np.ndarray
    instants: Mapping[str, float]
    alone: Mapping[str, Any]
    in_flight: Any
    navigated: Mapping[str, Any]
    settings: Mapping[str, Any]
    remarks: Sequence[str]
    footer: str


def flight_page(shown: ShownFlight) -> Page:
    """Return the page."""
    instants = shown.instants
    height = shown.position[:, 2]
    time, measured, true = shown.in_flight
    sections = [
        Section(
            "The flight from above",
            table=_instants(instants),
            figure=map_figure(shown.position, shown.time, instants),
            how_to_read="The marked instants are found in the motion itself, not in the script.",
        ),
        Section(
            "Height, speed and gimbal",
            figure=profile_figure(shown.time, height, shown.speed, shown.joints, instants),
            how_to_read="A positive pan turns to the left, a positive tilt the nose down.",
        ),
        *(
            Section(
                f"Platform at rest, {joint} alone",
                figure=imu_figure(*sensed),
                how_to_read="Pale and wide is the truth; what is measured should lie upon it.",
            )
            for joint, sensed in shown.alone.items()
        ),
        Section(
            "The IMU during take-off",
            figure=imu_figure(time, measured, true, instants),
            how_to_read="All joints move; axes are those of the IMU: forward, left, up.",
        ),
        *(
            Section(
                f"Errors of the navigator, {name}",
                figure=navigation_figure({"": errors}, instants),
                how_to_read="Estimate less truth of a filter with 15 states, whose receiver is "
                "beside the IMU; errors grow where the motion changes.",
            )
            for name, (errors, _) in shown.navigated.items()
        ),
    ]
    if shown.navigated:
        sections.append(Section("How wrong the navigator is", table=_rmse(shown.navigated)))
    if shown.remarks:
        sections.append(Section("Remarks", text=list(shown.remarks)))
    sections.append(Section("Settings", table=facts(shown.settings), folded=True))
    return Page(shown.title, shown.summary, sections, shown.footer)


def _instants(instants) -> Table | None:
    rows = [(f"({sign}) {name}", f"{at:.2f}") for sign, name, at in numbered(instants)]
    return Table(("instant", "time [s]"), rows, 1) if rows else None


def _rmse(navigated) -> Table:
    headings = ["root mean square error", *(
        f"{name.replace('_', ' ')} [{unit}]" for name, unit in zip(RMSE_COLUMNS, _UNITS)
    )]  # fmt: skip
    rows = []
    for name, (_, table) in navigated.items():
        median = table.median() * [1000.0, *[1.0] * 6]
        said = name if len(table) == 1 else f"{name}, median of {len(table)} runs"
        rows.append([said, *(f"{value:.3g}" for value in median)])
    return Table(headings, rows, len(RMSE_COLUMNS))
