"""What a person sees of the check of a recording."""

from __future__ import annotations

import math
from pathlib import Path

from imu_simulation_framework.core.whole_files import (
    make_folder,
    picture,
    refuse_overwriting,
    write_whole,
)
from imu_simulation_framework.drive.check import config_text
from imu_simulation_framework.drive.check_figures import recording_figure


def report_lines(setup, check) -> list[str]:
    """Return the lines of the report."""
    lines = ["read as:"]
    lines += [f"  {sentence}" for sentence in _map(setup, check)]
    lines += [f"  {sentence}" for sentence in setup.sentences]
    if check.remarks:
        lines += ["found while reading:", *(f"  {remark}" for remark in check.remarks)]
    if check.as_configured is not None:
        lines += ["turns:", *(f"  {line}" for line in _turns(check.as_configured))]
    for title, sentences in (
        ("would stop an experiment:", check.problems),
        (
            "refused until it is mended:",
            [finding.sentence() for finding in check.findings if finding.grave],
        ),
        (
            "worth knowing:",
            [finding.sentence() for finding in check.findings if not finding.grave],
        ),
    ):
        if sentences:
            lines += [title, *(f"  {sentence}" for sentence in sentences)]
    if not check.problems and not check.findings:
        lines.append("nothing is in the way")
    return lines


def _map(setup, check):
    configuration = setup.load()
    for samples, name, columns in (
        (check.reference_samples, "reference", "reference_columns"),
        (check.imu_samples, "IMU", "imu_columns"),
    ):
        if samples is None:
            yield f"{name}: nothing"
            continue
        kind = f" ({samples.message_type})" if samples.message_type else ""
        yield f"{name}: {samples.source}{kind}, {len(samples)} samples"
        for quantity, column in configuration.columns[columns].items():
            yield f"  {quantity} = {column}"


def _turns(observations):
    """Yield one line for each pair of headings."""
    seen = False
    for name in ("reference_imu", "reference_gyro", "imu_gyro"):
        relation = getattr(observations, name)
        if relation is None:
            continue
        seen = True
        one, other = (math.degrees(net) for net in relation.net)
        during = ""
        if name.startswith("reference") and observations.known < 1.0:
            share = 100.0 * observations.known
            during = f" in the {share:.0f} % of the time in which the reference knows its heading"
        line = f"{relation.first} {one:.0f} deg, {relation.second} {other:.0f} deg{during}"
        if relation.conclusive:
            line += (
                f"; correlation {relation.correlation:.3f}, scale "
                f"{relation.scale_text('.3f')}, "
                f"{_lateness(relation)}"
            )
        else:
            line += "; too few turns to compare"
        yield line
    if not seen:
        yield "nothing to compare"


def _lateness(relation) -> str:
    if not relation.delay:
        return "no delay fits clearly better"
    sense = "late" if relation.delay > 0.0 else "early"
    return f"fits best with {relation.second} {abs(relation.delay):.2f} s {sense}"


def write_check(folder, setup, check) -> list[Path]:
    """Write the figure and the config.ini.

    Returns
    -------
    list of Path
        Files that were written.

    Raises
    ------
    ResultError
        One cannot be written, or is the config.ini that the check rests on.
    """
    folder = make_folder(folder)
    refuse_overwriting(folder / "config.ini", [setup.path])
    written = []
    if check.as_understood is not None:
        read = [s for s in (check.reference_samples, check.imu_samples) if s is not None]
        names = [" ".join((Path(s.path).name, s.topic)).strip() for s in read]
        title = " and ".join(dict.fromkeys(names))
        if any(finding.settings for finding in check.findings):
            title += "; read with the settings that the findings propose"
        written.append(folder / "recording.png")
        figure = recording_figure(check.as_understood, title)
        write_whole(written[-1], picture(figure))
    written.append(folder / "config.ini")
    text = config_text(setup, check.findings, folder)
    write_whole(written[-1], text.encode("utf-8"))
    return written
