"""Files of an identified model of the yaw error."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy

from imu_simulation_framework import __version__
from imu_simulation_framework.configuration.imu_specification_file import imu_specification_text
from imu_simulation_framework.configuration.yaw_error_model_file import yaw_error_model_text
from imu_simulation_framework.files.csv_tables import table_to_csv
from imu_simulation_framework.files.whole_files import picture
from imu_simulation_framework.plots.identification_figure import identification_figure
from imu_simulation_framework.tools.heading_drift.identification_text import (
    TRIED,
    hector_sentences,
    tried_table,
)
from imu_simulation_framework.tools.side_by_side.table_text import table_text


def contents(identification, specification, unsaid, hector, sources, options) -> dict[str, bytes]:
    """Return the files' contents by their names; all are made before the first one is written."""
    several = len(identification.drives) > 1
    texts = {
        "yaw_error_model.yaml": _model(identification, sources, options),
        "imu.yaml": imu_specification_text(specification, _comment(identification, unsaid)),
        "hector.yaml": _hector(hector, options.rate),
        "models.csv": table_text(tried_table(identification), TRIED, "csv"),
        "parts.csv": _parts(identification),
    }
    files = {name: text.encode("utf-8") for name, text in texts.items()}
    for index, (drive, normalised) in enumerate(
        zip(identification.drives, identification.normalised())
    ):
        figure = identification_figure(drive.name, identification.parts(index), normalised)
        number = f"_{index + 1}" if several else ""
        for format in dict.fromkeys(options.formats):
            files[f"identification{number}.{format}"] = picture(figure, format)
    return files


def _model(identification, sources, options):
    import statsmodels

    fit = identification.fit
    made = {
        "terms": [term.name for term in (*fit.likelihood.random, *fit.likelihood.constants)],
        "step": float(options.step),
        "duration": [float(drive.time[-1]) for drive in identification.drives],
        "log_likelihood": float(fit.log_likelihood),
        "checks": {
            check.name: {"p": float(f"{check.p:.4g}"), "passed": bool(check.passed)}
            for check in identification.checks
        },
        "sources": [str(path) for path in sources],
        "versions": {
            "imu_simulation_framework": __version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "statsmodels": statsmodels.__version__,
        },
    }
    comment = "\n".join(
        [
            "Identified by maximum likelihood, without random numbers; low and high are the ends",
            "of 95 % intervals. Yaw error: reference less IMU.",
            *identification.sentences,
        ]
    )
    names = [drive.name for drive in identification.drives]
    return yaw_error_model_text(options.name, names, identification.estimates, made, comment)


def _comment(identification, unsaid):
    drives = ", ".join(drive.name for drive in identification.drives)
    return "\n".join(
        [
            f"Identified from the yaw error of {drives}: the gyroscope about z only.",
            "The 95 % intervals are in yaw_error_model.yaml.",
            *unsaid,
            *identification.sentences,
        ]
    )


def _hector(hector, rate):
    """As the parameters that an experiment takes; keys are those of config.ini."""
    parameters = hector.parameters
    lines = [f"# {line}" for line in hector_sentences(hector)]
    lines.append(f"# For {rate:g} samples per second only: the plug-in's drift depends on it.")
    lines.append("# For an experiment: imu:=hector, and this as settings:=.")
    lines.append("imu_hector:")
    lines += [
        f"  {key}: {getattr(parameters, key)!r}" for key in ("yaw_drift", "yaw_drift_frequency")
    ]
    return "\n".join(lines) + "\n"


def _parts(identification):
    """Of all drives, one below the other."""
    tables = []
    for index in range(len(identification.drives)):
        table = identification.parts(index)
        if len(identification.drives) > 1:
            table.insert(0, "drive", index + 1)
        tables.append(table)
    return table_to_csv(pd.concat(tables))
