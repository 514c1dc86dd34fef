"""The report of an identified model of the yaw error."""

from __future__ import annotations

from typing import Sequence

from imu_simulation_framework import __version__
from imu_simulation_framework.experiment.versions import versions
from imu_simulation_framework.identification.yaw_error import YawErrorIdentification
from imu_simulation_framework.identification.yaw_error.parts import RESIDUAL
from imu_simulation_framework.pages.identification_page import FittedDrive, identification_page
from imu_simulation_framework.pages.page import Section, Table
from imu_simulation_framework.pages.page_text import page_html
from imu_simulation_framework.tools.heading_drift.identification_text import (
    ESTIMATES,
    TRIED,
    estimates_table,
    explained_sentence,
    tried_table,
)
from imu_simulation_framework.tools.side_by_side.table_text import page_table

_NOT_DRAWN = (RESIDUAL, "innovation", "innovation_std")


def identification_report(
    identification: YawErrorIdentification, sentences: Sequence[str], sources, options
) -> bytes:
    """Return an identification as the content of a web page.

    Parameters
    ----------
    identification : YawErrorIdentification
    sentences : sequence of str
        What another format of the model cannot say, and the like.
    sources : sequence of path-like
        What was read.
    options : argparse.Namespace
        ``name``, ``step`` and ``rate``.
    """
    found = enumerate(zip(identification.drives, identification.normalised()))
    names = [drive.name for drive in identification.drives]
    drives = [
        FittedDrive(
            drive.name if names.count(drive.name) == 1 else f"{drive.name} ({index + 1})",
            identification.parts(index).drop(columns=list(_NOT_DRAWN)),
            normalised,
        )
        for index, (drive, normalised) in found
    ]
    checks = [
        (check.name, check.sentence, f"{check.statistic:.4g}", f"{check.p:.2g}")
        for check in identification.checks
    ]
    page = identification_page(
        options.name,
        drives,
        [
            Section(
                "Estimates",
                text=identification.sentences,
                table=page_table(estimates_table(identification), ESTIMATES),
            ),
            Section("Models compared", table=page_table(tried_table(identification), TRIED)),
            Section(
                "Checks of what is left unexplained",
                table=Table(("check", "", "statistic", "p"), checks, numbers=2),
            ),
            *([Section("As other models say it", text=list(sentences))] if sentences else []),
        ],
        {
            "name": options.name,
            "step [s]": options.step,
            "rate [Hz]": options.rate,
            "sources": [str(path) for path in sources],
            "versions": versions(),
        },
        [explained_sentence(identification, index) + "." for index in range(len(drives))],
        f"identify_yaw_error, imu_simulation_framework {__version__}",
    )
    return page_html(page).encode("utf-8")
