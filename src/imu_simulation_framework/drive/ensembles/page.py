"""Terminal output, files and web page of an ensemble of simulated drives."""

from __future__ import annotations

import gzip
import io
import math
from pathlib import Path
from typing import Any, Mapping, NamedTuple, Sequence

import numpy as np
import pandas as pd

from ... import __version__
from ...core import whole_files
from ...core.errors import versions
from ...heading.ensemble import RESOLUTION, Reduction
from ...heading.figures.ensemble import (
    ShownEnsemble,
    ensemble_distributions,
    ensemble_figure,
    ensemble_over_time,
    ensemble_spectrum,
)
from ...heading.figures.judgement import observed_in_ensemble
from ...heading.judgement.curve_statistics import PSD, STATISTICS
from ...heading.judgement.shown_tests import shown_tests
from ...report import table as table_text
from ...report.drawing import to_matplotlib
from ...report.page import Page, Section, page_html, tabulate_values
from ...report.table import Column, to_page_table

PROBABILITIES = (0.005, 0.025, 0.25, 0.5, 0.75, 0.975, 0.995)
"""Probabilities of the quantiles over time: limits of the 99, 95 and 50 % bands, and median."""
_ROWS = 100_000


class Caption(NamedTuple):
    """Caption of an ensemble: drive, IMU, settings and remarks.

    Attributes
    ----------
    drive, imu : str
        Names of the drive and of the IMU.
    what : str
        Type of the runs.
    seed : int
        Seed of the runs.
    limit : float
        Yaw error limit for which a probability is computed [rad].
    remarks : tuple of str
        Notes on limitations of the result.
    """

    drive: str
    imu: str
    what: str
    seed: int
    limit: float
    remarks: tuple[str, ...]


def write_ensemble(folder: Path, ensemble: Reduction, caption: Caption, formats) -> list[str]:
    """Write all result files of an ensemble.

    Parameters
    ----------
    folder : Path
        Folder for the files.
    ensemble : Reduction
        Statistics of all runs.
    caption : Caption
        Caption of the ensemble.
    formats : sequence of str
        Figure formats.

    Returns
    -------
    list of str
        Lines for the terminal.

    Raises
    ------
    ResultError
        A file cannot be written.
    """
    whole_files.make_folder(folder)
    text = ensemble_text(ensemble, caption)
    lines = [text]

    def write(name, content):
        whole_files.write_whole(folder / name, content)
        lines.append(str(folder / name))

    write("ensemble.txt", text.encode())
    write("summary.csv", _csv(_over_time(ensemble)))
    lines.append(str(_write_runs(folder / "runs.csv.gz", ensemble)))
    if len(ensemble.frequency):
        write("spectrum.csv", _csv(_spectrum(ensemble)))
    if len(ensemble.curves):
        content = io.BytesIO()
        np.savez_compressed(content, time=ensemble.time, errors=ensemble.curves)
        write("curves.npz", content.getvalue())
    footer = f"{ensemble.runs} runs, {caption.what}, seed {caption.seed}"
    title = f"Yaw error, {caption.drive}, {caption.imu}"
    shown_ensemble = ShownEnsemble.from_reduction(ensemble, PROBABILITIES)
    figure = to_matplotlib(ensemble_figure(shown_ensemble, title, caption.limit), footer)
    for format in dict.fromkeys(formats):
        write(f"ensemble.{format}", whole_files.render_figure(figure, format))
    return lines


def ensemble_text(ensemble: Reduction, caption: Caption) -> str:
    """Return the terminal output for an ensemble: statistics with standard errors, probabilities.

    Parameters
    ----------
    ensemble : Reduction
        Statistics of all runs.
    caption : Caption
        Caption of the ensemble.

    Returns
    -------
    str
        Text for the terminal.
    """
    end, runs = ensemble.time[-1], ensemble.runs
    lines = [
        f"{caption.drive}, {caption.imu} ({caption.what}): {runs} runs of {end:g} s, "
        f"seed {caption.seed}",
        "",
        table_text.format_table(statistics_table(ensemble.statistics), COLUMNS).rstrip("\n"),
        "",
    ]
    limit = f"{math.degrees(caption.limit):g} deg"
    for description, values in (("at the end", "final"), ("all the time", "maximum")):
        inside = int(np.sum(np.abs(ensemble.statistics[values]) <= caption.limit))
        lines.append(f"within {limit} {description}: {_share(inside, runs)}")
    lines.append(
        f"standard errors after +-; quantiles over time (summary.csv) are counted in bins of "
        f"{100.0 * RESOLUTION:g} % of the error"
    )
    step = (ensemble.time[-1] - ensemble.time[0]) / (len(ensemble.time) - 1)
    lines.append(
        "the largest error and the share of runs that stay within the limit all the time are "
        f"computed from errors {step:g} s apart (--period), between which a run may exceed the "
        "limit and return"
    )
    lines += [f"note: {remark}" for remark in dict.fromkeys(caption.remarks)]
    return "\n".join(lines) + "\n"


COLUMNS = (
    Column("name", "statistic"),
    Column("unit", "unit"),
    Column("mean", "mean"),
    Column("std", "std"),
    *(Column(f"q{p}", f"{100.0 * p:g}th percentile") for p in (0.025, 0.5, 0.975, 0.995)),
)
"""Columns of the statistics table."""


def statistics_table(statistics: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Create the statistics table, with standard errors.

    Parameters
    ----------
    statistics : mapping of str to numpy.ndarray
        Statistics of the runs, each of shape (runs,).

    Returns
    -------
    pandas.DataFrame
        One row of texts per statistic, with the keys of :data:`COLUMNS`.
    """
    return pd.DataFrame([_row(name, statistics[name]) for name in STATISTICS if name in statistics])


def _row(name, values):
    values = np.sort(np.degrees(values.astype(float)))
    count = len(values)
    row = dict(zip(("name", "unit"), STATISTICS[name]))
    mean = float(np.mean(values))
    spread = float(np.std(values, ddof=1)) if count > 1 else math.nan
    # The relative variance of a sample variance is (kurtosis - (n - 3) / (n - 1)) / n.
    if count > 3 and spread > 0.0:
        kurtosis = float(np.mean((values - mean) ** 4)) / spread**4
        spread_error = (
            0.5 * spread * math.sqrt(max(0.0, kurtosis - (count - 3) / (count - 1)) / count)
        )
    else:
        spread_error = math.nan
    row["mean"] = _with_error(mean, spread / math.sqrt(count))
    row["std"] = _with_error(spread, spread_error)
    for p in (0.025, 0.5, 0.975, 0.995):
        row[f"q{p}"] = _with_error(float(np.quantile(values, p)), _quantile_error(values, p))
    return row


def _quantile_error(values, probability):
    """Estimate the standard error of a quantile from the sorted values around its rank."""
    count = len(values)
    rank, error = probability * count, math.sqrt(count * probability * (1.0 - probability))
    if rank < 3.0 * error or count - rank < 3.0 * error:
        return math.nan
    low, high = int(rank - error), min(count - 1, int(rank + error))
    return 0.5 * float(values[high] - values[low])


def _with_error(value, error):
    if not math.isfinite(error):
        return f"{value:.3g}"
    if error <= 0.0:
        return f"{value:.4g}"
    digits = min(9, max(0, 1 - math.floor(math.log10(error))))
    return f"{value:.{digits}f} +-{error:.{digits}f}"


def _share(inside, runs):
    share = inside / runs
    if 0 < inside < runs:
        error = math.sqrt(share * (1.0 - share) / runs)
        return f"{100.0 * share:.4g} % +-{100.0 * error:.1g} of runs"
    # Rule of three: if an event occurs in none of n runs, its 95 % upper bound is 3 / n.
    bound = f"at most {min(100.0, 300.0 / runs):.2g} %"
    if inside:
        return f"all {runs} runs ({bound} outside, with 95 % confidence)"
    return f"none of {runs} runs ({bound} inside, with 95 % confidence)"


def _over_time(ensemble):
    places = ensemble.places
    table = {
        "time [s]": ensemble.time[places],
        "mean [deg]": np.degrees(ensemble.error.mean[places]),
        "standard error of mean [deg]": np.degrees(ensemble.error.standard_error[places]),
        "std [deg]": np.degrees(ensemble.error.std[places]),
    }
    for probability, values in zip(PROBABILITIES, ensemble.quantiles(PROBABILITIES).T):
        table[f"{100.0 * probability:g}th percentile [deg]"] = np.degrees(values)
    return pd.DataFrame(table)


def _spectrum(ensemble):
    squared = math.degrees(1.0) ** 2
    return pd.DataFrame(
        {
            "frequency [Hz]": ensemble.frequency,
            "density [deg^2/Hz]": squared * ensemble.density.mean,
            "standard error [deg^2/Hz]": squared * ensemble.density.standard_error,
        }
    )


def _write_runs(path, ensemble):
    table = pd.DataFrame({"run": np.arange(ensemble.runs)})
    for name, values in ensemble.statistics.items():
        if name.startswith(PSD):
            table[f"{name} [deg^2/Hz]"] = math.degrees(1.0) ** 2 * values
        else:
            table[f"{name} [{STATISTICS[name][1]}]"] = np.degrees(values)
    # The header has no name and no date, so that identical runs result in identical files.
    with whole_files.replace_file(path) as temporary_path, open(
        temporary_path, "wb"
    ) as file, gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
        for first in range(0, len(table), _ROWS):
            packed.write(_csv(table.iloc[first : first + _ROWS], header=first == 0))
    return path


def _csv(table, header=True):
    return table.to_csv(index=False, header=header, float_format="%.9g").encode()


def ensemble_page(
    title: str,
    ensemble: ShownEnsemble,
    limit: float,
    settings: Mapping[str, Any],
    remarks: Sequence[str] = (),
    judgement=None,
    footer: str = "",
) -> Page:
    """Create the web page of an ensemble.

    Parameters
    ----------
    title : str
        Title with the drive and the IMU.
    ensemble : ShownEnsemble
        Statistics of all runs, for figures.
    limit : float
        Yaw error limit for which a probability is computed [rad].
    settings : mapping of str to object
        Seed, versions and parameters of the IMU.
    remarks : sequence of str, optional
        Notes on limitations of the result.
    judgement : Judgement, optional
        Test of a recorded yaw error [rad] against this ensemble.
    footer : str, optional
        Text at the bottom of the page.

    Returns
    -------
    Page
    """
    observed = {}
    summary, sections = [], []
    if judgement is not None:
        observed = {test.name: test.observed for test in judgement.statistics}
        summary = [judgement.sentence]
        sections = [judged_section(judgement), _tests(judgement)]
    for name, description in (("final", "end within"), ("maximum", "stay all the time within")):
        if name in ensemble.statistics:
            inside = int(np.sum(np.abs(ensemble.statistics[name]) <= limit))
            summary.append(
                f"{inside} of {ensemble.runs} runs {description} {math.degrees(limit):g} deg."
            )
    table = to_page_table(statistics_table(ensemble.statistics), COLUMNS, texts=2)
    sections += [
        Section("Statistics of all runs", text=tuple(remarks), table=table),
        Section(
            "Yaw error over time",
            figure=ensemble_over_time(ensemble, limit),
            how_to_read="At each time, a band contains its share of the runs. More than 5 % of the "
            "runs leave the 95 % band at some time.",
        ),
        Section(
            "Distribution of each statistic",
            figure=ensemble_distributions(ensemble, observed),
            how_to_read="Number of runs per value, without the most extreme 0.1 % of the runs."
            + (" The line is the value of the recorded drive." if observed else ""),
        ),
        Section(
            "Spectrum",
            figure=ensemble_spectrum(ensemble),
            how_to_read="Mean power spectral density of the errors, with drift on the left and "
            "noise on the right.",
        ),
        Section("Settings", table=tabulate_values(settings), folded=True),
    ]
    shown = [
        section for section in sections if section.figure is None or not section.figure.is_empty
    ]
    return Page(title, summary, shown, footer)


def judged_section(judgement) -> Section:
    """Create the page section that shows a recorded yaw error together with simulated yaw errors.

    Parameters
    ----------
    judgement : Judgement
        Test of the yaw error [rad].

    Returns
    -------
    Section
    """
    envelope = judgement.envelope
    return Section(
        "The recorded error in the ensemble",
        figure=observed_in_ensemble(judgement),
        how_to_read="A drive simulated with the model stays within the dashed lines all the time "
        f"with a probability of {100.0 * envelope.level:g} %. The recorded drive has "
        f"p = {envelope.p_value:.2g}, the share of simulated drives that are at least as extreme.",
    )


TESTS = (
    Column("name", "statistic"),
    Column("unit", "unit"),
    Column("manner", "deviation of the model"),
    Column("observed", "recorded"),
    Column("median", "median of runs"),
    Column("range", "95 % interval of runs"),
    Column("percentile", "percentile"),
    Column("p_value", "p-value"),
    Column("adjusted", "corrected p-value"),
)
"""Columns of the test table, see :func:`.shown_tests`; web pages omit unit and median."""


def rounded_tests(table: pd.DataFrame) -> pd.DataFrame:
    """Round the numbers in a test table to three significant digits.

    Parameters
    ----------
    table : pandas.DataFrame
        Rows of :func:`.shown_tests`.

    Returns
    -------
    pandas.DataFrame
        Texts, with the keys of :data:`TESTS`.
    """
    shown = table.copy()
    shown["range"] = [
        f"{low:.3g} .. {high:.3g}" if math.isfinite(low) else ""
        for low, high in zip(table["low"], table["high"])
    ]
    for name in ("observed", "median", "percentile", "p_value", "adjusted"):
        shown[name] = [f"{value:.3g}" if math.isfinite(value) else "" for value in table[name]]
    return shown


def _tests(judgement):
    table = rounded_tests(pd.DataFrame(shown_tests(judgement)))
    units = (f" [{unit}]" if unit else "" for unit in table["unit"])
    table["name"] = [name + unit for name, unit in zip(table["name"], units)]
    columns = [column for column in TESTS if column.key not in ("unit", "median")]
    text = (
        "Among many tests, some reject by chance; the last column is corrected for this and "
        "determines the verdict. Percentile: share of runs below the recorded value."
    )
    return Section("Each test", text=[text], table=to_page_table(table, columns, texts=2))


def write_report(
    folder: Path, ensemble: Reduction, caption: Caption, parameters: Mapping[str, Any]
) -> Path:
    """Write the web page of an ensemble, ``ensemble.html``.

    Parameters
    ----------
    folder : Path
        Folder for the page.
    ensemble : Reduction
        Statistics of all runs.
    caption : Caption
        Caption of the ensemble.
    parameters : mapping of str to object
        Parameters of the IMU.

    Returns
    -------
    Path
        Path of the page.

    Raises
    ------
    ResultError
        The page cannot be written.
    """
    settings = {
        "drive": caption.drive,
        "what": caption.what,
        "runs": ensemble.runs,
        "seed": caption.seed,
        "period [s]": float(ensemble.time[1] - ensemble.time[0]),
        "imu": {caption.imu: parameters},
        "versions": versions(),
    }
    page = ensemble_page(
        f"Yaw error, {caption.drive}, {caption.imu}",
        ShownEnsemble.from_reduction(ensemble, PROBABILITIES),
        caption.limit,
        settings,
        list(dict.fromkeys(caption.remarks)),
        footer=f"{ensemble.runs} runs, {caption.what}, seed {caption.seed}, "
        f"imu_simulation_framework {__version__}",
    )
    path = folder / "ensemble.html"
    whole_files.write_whole(path, page_html(page).encode("utf-8"))
    return path
