"""What is written and printed of an ensemble of simulated drives, and of an error judged by it."""

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
"""Of the quantiles over time: the edges of the 99, 95 and 50 % bands, and the median."""
_ROWS = 100_000


class Caption(NamedTuple):
    """What an ensemble is of, and what is asked of it.

    Names of ``drive`` and ``imu``; ``what`` was drawn; ``seed``; the ``limit`` [rad] whose
    probability is asked for; ``remarks``, sentences for a person.
    """

    drive: str
    imu: str
    what: str
    seed: int
    limit: float
    remarks: tuple[str, ...]


def write_ensemble(folder: Path, ensemble: Reduction, caption: Caption, formats) -> list[str]:
    """Write all files of an ensemble; return lines for the terminal.

    Raises ResultError: a file cannot be written.
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
    shown = ShownEnsemble.from_reduction(ensemble, PROBABILITIES)
    figure = to_matplotlib(ensemble_figure(shown, title, caption.limit), footer)
    for format in dict.fromkeys(formats):
        write(f"ensemble.{format}", whole_files.render_figure(figure, format))
    return lines


def ensemble_text(ensemble: Reduction, caption: Caption) -> str:
    """Return the figures of an ensemble with their standard errors."""
    end, runs = ensemble.time[-1], ensemble.runs
    lines = [
        f"{caption.drive}, {caption.imu} ({caption.what}): {runs} runs of {end:g} s, "
        f"seed {caption.seed}",
        "",
        table_text.format_table(statistics_table(ensemble.statistics), COLUMNS).rstrip("\n"),
        "",
    ]
    limit = f"{math.degrees(caption.limit):g} deg"
    for words, values in (("at the end", "final"), ("all the time", "maximum")):
        inside = int(np.sum(np.abs(ensemble.statistics[values]) <= caption.limit))
        lines.append(f"within {limit} {words}: {_share(inside, runs)}")
    lines.append(
        f"standard errors after +-; quantiles over time (summary.csv) are counted in bins of "
        f"{100.0 * RESOLUTION:g} % of the error"
    )
    step = (ensemble.time[-1] - ensemble.time[0]) / (len(ensemble.time) - 1)
    lines.append(
        f"the largest error and all the time are of errors {step:g} s apart (--period): between "
        "them a run may have left the limit and come back"
    )
    lines += [f"note: {remark}" for remark in dict.fromkeys(caption.remarks)]
    return "\n".join(lines) + "\n"


COLUMNS = (
    Column("name", ""),
    Column("unit", "unit"),
    Column("mean", "mean"),
    Column("std", "std"),
    *(Column(f"q{p}", f"{100.0 * p:g} %") for p in (0.025, 0.5, 0.975, 0.995)),
)


def statistics_table(statistics: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Return each statistic of all runs as texts, with standard errors."""
    return pd.DataFrame([_row(name, statistics[name]) for name in STATISTICS if name in statistics])


def _row(name, values):
    values = np.sort(np.degrees(values.astype(float)))
    count = len(values)
    row = dict(zip(("name", "unit"), STATISTICS[name]))
    mean = float(np.mean(values))
    spread = float(np.std(values, ddof=1)) if count > 1 else math.nan
    # The variance's own variance is (kurtosis - (n - 3) / (n - 1)) / n of its square.
    if count > 3 and spread > 0.0:
        kurtosis = float(np.mean((values - mean) ** 4)) / spread**4
        of_spread = 0.5 * spread * math.sqrt(max(0.0, kurtosis - (count - 3) / (count - 1)) / count)
    else:
        of_spread = math.nan
    row["mean"] = _with_error(mean, spread / math.sqrt(count))
    row["std"] = _with_error(spread, of_spread)
    for p in (0.025, 0.5, 0.975, 0.995):
        row[f"q{p}"] = _with_error(float(np.quantile(values, p)), _quantile_error(values, p))
    return row


def _quantile_error(values, probability):
    """Half of how far apart the values are one standard error of the rank to either side."""
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
    # None of n: with 95 % probability no more than 3 / n (the rule of three).
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
        table[f"{100.0 * probability:g} % [deg]"] = np.degrees(values)
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
    # Without name and date, so that equal runs give equal bytes.
    with whole_files.replace_file(path) as aside, open(aside, "wb") as file, gzip.GzipFile(
        "", "wb", 6, file, mtime=0
    ) as packed:
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
    """Return the page of an ensemble.

    ``title`` says which drive and IMU; ``limit`` is that whose probability is asked for [rad];
    ``settings`` are seed, versions, parameters of the IMU; ``remarks`` what limits the answer;
    ``judgement`` that of a recorded yaw error [rad] by this ensemble.
    """
    observed = {}
    summary, sections = [], []
    if judgement is not None:
        observed = {test.name: test.observed for test in judgement.statistics}
        summary = [judgement.sentence]
        sections = [judged_section(judgement), _tests(judgement)]
    for name, words in (("final", "end within"), ("maximum", "stay all the time within")):
        if name in ensemble.statistics:
            inside = int(np.sum(np.abs(ensemble.statistics[name]) <= limit))
            summary.append(f"{inside} of {ensemble.runs} runs {words} {math.degrees(limit):g} deg.")
    table = to_page_table(statistics_table(ensemble.statistics), COLUMNS, texts=2)
    sections += [
        Section("Statistics of all runs", text=tuple(remarks), table=table),
        Section(
            "Yaw error over time",
            figure=ensemble_over_time(ensemble, limit),
            how_to_read="At each time so many of the runs are within the band; a single run leaves "
            "its 95 % band somewhere more often than once in twenty.",
        ),
        Section(
            "Distribution of each statistic",
            figure=ensemble_distributions(ensemble, observed),
            how_to_read="How many runs had which value; the one run in a thousand that is farthest "
            "out is left out." + (" The line is the recorded drive." if observed else ""),
        ),
        Section(
            "Spectrum",
            figure=ensemble_spectrum(ensemble),
            how_to_read="Mean power spectral density of the errors: drift at the left, noise at "
            "the right.",
        ),
        Section("Settings", table=tabulate_values(settings), folded=True),
    ]
    shown = [one for one in sections if one.figure is None or not one.figure.is_empty]
    return Page(title, summary, shown, footer)


def judged_section(judgement) -> Section:
    """Return the section of a recorded yaw error [rad] within its ensemble, a Judgement."""
    envelope = judgement.envelope
    return Section(
        "The recorded error in the ensemble",
        figure=observed_in_ensemble(judgement),
        how_to_read="A drive of the model stays within the dashed lines all the time with a "
        f"probability of {100.0 * envelope.level:g} %; the recorded one has p = "
        f"{envelope.p_value:.2g}, the share of the model's drives that are at least as extreme.",
    )


TESTS = (
    Column("name", "look"),
    Column("unit", "unit"),
    Column("manner", "the model has"),
    Column("observed", "recorded"),
    Column("median", "median of runs"),
    Column("range", "95 % of runs"),
    Column("percentile", "percentile"),
    Column("p_value", "p"),
    Column("adjusted", "p, corrected"),
)
"""The table of :func:`.shown_tests`, rounded; a page says the unit with the name, and no median."""


def rounded_tests(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of tests for a person: texts of three digits."""
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
        "Of many tests one rejects by chance: the last column is corrected for that, and is what "
    )
    text += "what counts. Percentile: how many of 100 runs are below the recorded value."
    return Section("Each test", text=[text], table=to_page_table(table, columns, texts=2))


def write_report(
    folder: Path, ensemble: Reduction, caption: Caption, parameters: Mapping[str, Any]
) -> Path:
    """Write an ensemble as one web page, ``ensemble.html``, with the parameters of its IMU.

    Raises ResultError: it cannot be written.
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
