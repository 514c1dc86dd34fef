"""Messages, tables, files and web page of an identified yaw error model."""

from __future__ import annotations

import math
from typing import Any, Mapping, NamedTuple, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from ... import __version__
from ...core.errors import versions
from ...core.sentences import format_degrees
from ...core.tables import table_to_csv
from ...core.units import factor
from ...core.whole_files import render_figure
from ...report.drawing import to_matplotlib
from ...report.page import Page, Section, Table, page_html, tabulate_values
from ...report.table import Column, format_table, to_page_table
from ...sensors.files import imu_specification_text
from ..figures.identification import identification_figure, parts_figure, residuals_figure
from ..figures.judgement import calibration_figure
from ..judgement.judge import Judgement
from ..judgement.statistic_tests import holm
from ..model.parameters import yaw_error_model_text
from ..several_drives import calibration_sentences, calibrations
from .identify import YawErrorIdentification

WORDS = {
    "rate_bias": ("rate bias", "deg/h"),
    "rate_bias_spread": ("spread of the rate bias over drives", "deg/h"),
    "scale_factor": ("scale factor per net turn", "%"),
    "scale_factor_of_absolute_turn": ("preferred direction per absolute turn", "%"),
    "angle_random_walk": ("angle random walk", "deg/sqrt(h)"),
    "rate_random_walk": ("rate random walk", "deg/h/sqrt(h)"),
    "rate_drift_sigma": ("Gauss-Markov drift of the rate", "deg/h"),
    "rate_drift_time": ("correlation time of the rate drift", "s"),
    "yaw_drift_sigma": ("Gauss-Markov drift of the yaw", "deg"),
    "yaw_drift_time": ("correlation time of the yaw drift", "s"),
    "reference_noise": ("white noise of the reference", "deg"),
    "reference_drift_sigma": ("correlated noise of the reference", "deg"),
    "reference_drift_time": ("correlation time of the reference noise", "s"),
    "reference_slip": ("slip of the reference (turn_slip)", "rad/sqrt(rad)"),
    "reference_scale": ("known error of the reference, relative to the stated one", "1"),
    "reference_error_time": ("correlation time of the reference's known error", "s"),
    "reference_lag": ("lag of the reference", "s"),
}
"""Displayed name and unit of each model parameter."""

ESTIMATES = (
    Column("words", "parameter"),
    Column("value", "estimate"),
    Column("interval", "95 % interval"),
    Column("unit", "unit"),
)
"""Columns of the table of estimated parameters."""

COMPARED_MODELS = (
    Column("terms", "model"),
    Column("parameters", "parameters", "", 0),
    Column("log_likelihood", "log-likelihood", "", 2),
    Column("aic", "AIC", "", 2),
    Column("above_best", "AIC difference", "", 2),
    Column("likelihood_ratio", "likelihood ratio", "", 2),
    Column("p", "p-value"),
    Column("chosen", "chosen"),
)
"""Columns of the table of compared models."""


PREDICTED = (
    Column("drive", "drive"),
    Column("final", "final error", "deg", 2),
    Column("low", "2.5th percentile of runs", "deg", 2),
    Column("high", "97.5th percentile of runs", "deg", 2),
    Column("percentile", "percentile of final error", "", 1),
    Column("rms_percentile", "percentile of rms error", "", 1),
    Column("p", "p-value of curve", "", 4),
    Column("corrected", "smallest corrected p-value", "", 4),
    Column("verdict", "verdict"),
)
"""Columns of the cross-validation table, in which each drive is predicted from the others."""

REJECTED = "The checks reject this model: do not trust its parameters and intervals."
HIDDEN = (
    "The drives do not separate the sensor's errors from those of its reference: the intervals "
    "only limit the sensor's errors, and each error may be zero."
)
UNLIKELY = (
    "No gyroscope has such a scale factor: the reference turns differently from the IMU, or at "
    "other times. Do not trust these parameters."
)


def refusal(identification: YawErrorIdentification) -> str:
    """Explain why an identified model cannot be used to simulate a sensor.

    Parameters
    ----------
    identification : YawErrorIdentification
        Identified model.

    Returns
    -------
    str
        Message; empty if the model can be simulated.
    """
    if not identification.accepted:
        return REJECTED
    if identification.unlikely:
        return UNLIKELY
    return HIDDEN if identification.hidden else ""


def convert_to_words_unit(parameter: str, value: float) -> float:
    """Convert a parameter to its displayed unit in :data:`WORDS`.

    Parameters
    ----------
    parameter : str
        Name of the parameter.
    value : float
        Value [SI unit].

    Returns
    -------
    float
        Value in that unit.
    """
    unit = WORDS[parameter][1]
    return 100.0 * value if unit == "%" else value / factor(unit)


def estimates_table(identification: YawErrorIdentification) -> pd.DataFrame:
    """Create the table of the estimated parameters.

    Parameters
    ----------
    identification : YawErrorIdentification
        Identified model.

    Returns
    -------
    pandas.DataFrame
        Texts with the columns of :data:`ESTIMATES`.
    """
    rows = []
    for parameter, (description, unit) in WORDS.items():
        if parameter in identification.estimates:
            estimate = identification.estimates[parameter][:3]
            value, low, high = (convert_to_words_unit(parameter, number) for number in estimate)
            rows.append((description, f"{value:.4g}", f"{_limit(low)} .. {_limit(high)}", unit))
    return pd.DataFrame(rows, columns=[column.key for column in ESTIMATES])


def _limit(number):
    return "open" if math.isinf(number) else f"{number:.4g}"


def compared_models_table(identification: YawErrorIdentification) -> pd.DataFrame:
    """Create the table of all models that the identification compared.

    Parameters
    ----------
    identification : YawErrorIdentification
        Identified model.

    Returns
    -------
    pandas.DataFrame
        Columns of :data:`COMPARED_MODELS`.
    """
    table = identification.compared_models.copy()
    table["p"] = [f"{p:.3g}" if np.isfinite(p) else "" for p in table["p"]]
    table["chosen"] = ["yes" if is_chosen else "" for is_chosen in table["chosen"]]
    return table


def predictions_table(identification, predictions: Sequence[Judgement]) -> pd.DataFrame:
    """Create the cross-validation table, in which each drive is predicted from the others.

    Parameters
    ----------
    identification : YawErrorIdentification
        Identified model.
    predictions : sequence of Judgement
        Judgement of each drive by the model of the other drives.

    Returns
    -------
    pandas.DataFrame
        Columns of :data:`PREDICTED`; the last p-value is corrected for the numbers of tests and
        drives.
    """
    names = [drive.name for drive in identification.drives]
    return drives_table(
        names, predictions, holm([prediction.smallest for prediction in predictions])
    )


def drives_table(
    names: Sequence[str], judgements: Sequence[Judgement], smallest: npt.ArrayLike
) -> pd.DataFrame:
    """Create the table of the drives' percentiles in their predicted distributions.

    Parameters
    ----------
    names : sequence of str
        Names of the drives.
    judgements : sequence of Judgement
        Judgement of each drive.
    smallest : array_like
        Smallest corrected p-value of each drive.

    Returns
    -------
    pandas.DataFrame
        Columns of :data:`PREDICTED`.
    """
    rows = []
    for name, judgement, corrected in zip(names, judgements, np.asarray(smallest)):
        tests = {test.name: test for test in judgement.statistics}
        final, rms = tests["final"], tests["rms"]
        degrees = (math.degrees(value) for value in (final.observed, final.low, final.high))
        p_values = judgement.envelope.p_value, float(corrected)
        is_rejected = corrected <= 1.0 - judgement.level
        verdict = f"rejected: {judgement.verdict}" if is_rejected else "not rejected"
        rows.append((name, *degrees, final.percentile, rms.percentile, *p_values, verdict))
    return pd.DataFrame(rows, columns=[column.key for column in PREDICTED])


def explained_sentence(identification: YawErrorIdentification, index: int) -> str:
    """Describe the rms of a drive's yaw error, with and without the constant terms.

    Parameters
    ----------
    identification : YawErrorIdentification
        Identified model.
    index : int
        Index of the drive.

    Returns
    -------
    str
        Message.
    """
    drive, parts = identification.drives[index], identification.parts(index)
    constants = [term.name for term in identification.fit.likelihood.constants]
    known_columns = parts.columns.intersection(
        ["start offset", "rate bias of the drive", *constants]
    )
    remainder = parts["error"] - parts[known_columns].sum(axis=1)
    return (
        f"{drive.name}: {drive.time[-1]:.0f} s, turned {format_degrees(drive.net_turn[-1])} "
        f"net and {format_degrees(drive.absolute_turn[-1])} in all; yaw error "
        f"{_rms(parts['error'] - parts['error'].mean()):.3g} deg rms about its mean, "
        f"{_rms(remainder - remainder.mean()):.3g} deg without its constants"
    )


def _rms(values):
    return math.degrees(math.sqrt(np.nanmean(np.square(values))))


def hector_sentences(hector) -> list[str]:
    """Describe the fitted parameters of Hector's plug-in, and limitations of the fit.

    Parameters
    ----------
    hector : HectorFit
        Fit of Hector's plug-in.

    Returns
    -------
    list of str
        Messages.
    """
    parameters = hector.parameters
    sentence = (
        f"Hector: yawDrift {parameters.yaw_drift:.4g} rad, yawDriftFrequency "
        f"{parameters.yaw_drift_frequency:.4g} 1/s, which is a drift of "
        f"{math.degrees(hector.sigma):.3g} deg with a correlation time of "
        f"{hector.correlation_time:.3g} s"
    )
    if hector.loss is None:
        return [f"{sentence}; this is the identified model", *hector.sentences]
    side = "lower" if hector.loss >= 0.0 else "higher"
    count = hector.more_parameters
    plural, more = "s" if abs(count) > 1 else "", "more" if count > 0 else "less"
    counted = f"{abs(count)} parameter{plural} {more}" if count else "as many parameters"
    sentence += (
        f"; its log-likelihood is {abs(hector.loss):.1f} {side} than the model's, which has "
        f"{counted}"
    )
    return [sentence, *hector.sentences]


def file_contents(
    identification, specification, omissions, hector, sources, options, predictions=()
) -> dict[str, bytes]:
    """Create the contents of all files of an identification in memory, before any is written.

    Parameters
    ----------
    identification : YawErrorIdentification
        Identified model.
    specification : ImuSpecification
        Model as a specification; not written if there is a :func:`refusal`.
    omissions : list of str
        Messages on errors that the specification cannot describe.
    hector : HectorFit
        Fit of Hector's plug-in.
    sources : sequence of path-like
        Files from which the drives were read.
    options : argparse.Namespace
        Options ``name``, ``step``, ``rate``, ``runs`` and ``formats``.
    predictions : sequence of Judgement, optional
        Judgement of each drive by the model of the other drives.

    Returns
    -------
    dict of str to bytes
        Contents by file name.
    """
    several = len(identification.drives) > 1
    texts = {
        "yaw_error_model.yaml": _model_text(identification, sources, options, predictions),
        "models.csv": format_table(compared_models_table(identification), COMPARED_MODELS, "csv"),
        "parts.csv": _parts_text(identification),
    }
    if not refusal(identification):
        comment = _specification_comment(identification, omissions)
        texts["imu.yaml"] = imu_specification_text(specification, comment)
        texts["hector.yaml"] = _hector_text(hector, options.rate)
    if predictions:
        table = predictions_table(identification, predictions)
        texts["predictions.csv"] = format_table(table, PREDICTED, "csv")
    files = {name: text.encode("utf-8") for name, text in texts.items()}
    both = zip(identification.drives, identification.normalised())
    for index, (drive, normalised) in enumerate(both):
        figure = identification_figure(drive.name, identification.parts(index), normalised)
        number = f"_{index + 1}" if several else ""
        for format in dict.fromkeys(options.formats):
            files[f"identification{number}.{format}"] = render_figure(to_matplotlib(figure), format)
    for format in dict.fromkeys(options.formats) if predictions else ():
        figure = calibration_figure(calibrations(predictions))
        files[f"predictions.{format}"] = render_figure(to_matplotlib(figure), format)
    return files


def _model_text(identification, sources, options, predictions):
    import statsmodels

    fit = identification.fit
    results = {
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
    if predictions:
        table = predictions_table(identification, predictions)
        results["predicted_from_others"] = {
            "runs": options.runs,
            "drives": table.round(4).to_dict("records"),
            "calibration": {
                calibration.name: {
                    "pit": np.round(calibration.pit, 4).tolist(),
                    "inside_95": calibration.inside,
                    "p": float(f"{calibration.p_value:.4g}"),
                }
                for calibration in calibrations(predictions)
            },
        }
    comment = (
        *filter(None, [refusal(identification)]),
        "Identified by maximum likelihood, without random numbers; low and high are the ends",
        "of 95 % intervals. Yaw error: reference minus IMU.",
        *identification.remarks,
        *identification.sentences,
    )
    names = [drive.name for drive in identification.drives]
    estimates = identification.estimates
    return yaw_error_model_text(options.name, names, estimates, results, "\n".join(comment))


def _specification_comment(identification, omissions):
    drives = ", ".join(drive.name for drive in identification.drives)
    source = f"Identified from the yaw error of {drives}: the z-axis gyroscope only."
    intervals = "The 95 % intervals are in yaw_error_model.yaml."
    return "\n".join(
        [source, intervals, *omissions, *identification.remarks, *identification.sentences]
    )


def _hector_text(hector, rate):
    """Format the fitted Hector parameters with the keys of config.ini."""
    lines = [
        *(f"# {line}" for line in hector_sentences(hector)),
        f"# Only for a sampling rate of {rate:g} Hz: the plug-in's drift depends on it.",
        "# For an experiment: imu:=hector, and this text as settings:=.",
        "imu_hector:",
    ]
    for key in ("yaw_drift", "yaw_drift_frequency"):
        lines.append(f"  {key}: {getattr(hector.parameters, key)!r}")
    return "\n".join(lines) + "\n"


def _parts_text(identification):
    """Format the yaw error components of all drives as one CSV table."""
    tables = [identification.parts(index) for index in range(len(identification.drives))]
    if len(tables) > 1:
        for number, table in enumerate(tables, 1):
            table.insert(0, "drive", number)
    return table_to_csv(pd.concat(tables))


class FittedDrive(NamedTuple):
    """Data of a fitted drive for plotting.

    Attributes
    ----------
    name : str
        Name of the drive.
    parts : pandas.DataFrame
        Result of :func:`.fitted_parts`.
    normalised : numpy.ndarray
        Innovations over their standard deviations, shape (n,).
    """

    name: str
    parts: pd.DataFrame
    normalised: np.ndarray


def identification_page(
    name: str,
    drives: Sequence[FittedDrive],
    answers: Sequence[Section],
    settings: Mapping[str, Any],
    sentences: Sequence[str] = (),
    footer: str = "",
) -> Page:
    """Create the web page of an identification.

    Parameters
    ----------
    name : str
        Name of the IMU.
    drives : sequence of FittedDrive
        Drives with different names.
    answers : sequence of Section
        Tables: the estimates, the compared models, the checks.
    settings : mapping of str to object
        Settings and versions.
    sentences : sequence of str, optional
        Messages of the summary.
    footer : str, optional
        Text at the end of the page.

    Returns
    -------
    Page
    """
    sections = list(answers)
    for drive in drives:
        suffix = f": {drive.name}" if len(drives) > 1 else ""
        sections += [
            Section(
                f"Error and its components{suffix}",
                figure=parts_figure(drive.parts),
                how_to_read="The observed error, and its components in the model. They explain the "
                "drift; only the observed error contains noise.",
            ),
            Section(
                f"Innovations{suffix}",
                figure=residuals_figure(drive.parts.index, drive.normalised),
                how_to_read="Each value minus its prediction from earlier values, in standard "
                "deviations. With a correct model, 95 % are within the dashed lines without a "
                "trend, and few correlations exceed their lines.",
            ),
        ]
    sections.append(Section("Settings", table=tabulate_values(settings), folded=True))
    return Page(f"Model of the yaw error: {name}", list(sentences), sections, footer)


def identification_report(
    identification: YawErrorIdentification,
    sentences: Sequence[str],
    sources,
    options,
    predictions: Sequence[Judgement] = (),
) -> bytes:
    """Create the web page of an identification.

    Parameters
    ----------
    identification : YawErrorIdentification
        Identified model.
    sentences : sequence of str
        Messages on the model in other formats.
    sources : sequence of path-like
        Files from which the drives were read.
    options : argparse.Namespace
        Options ``name``, ``step`` and ``rate``.
    predictions : sequence of Judgement, optional
        Judgement of each drive by the model of the other drives.

    Returns
    -------
    bytes
        Content of the page.
    """
    both = zip(identification.drives, identification.normalised())
    drives = [
        FittedDrive(drive.name, identification.parts(index), normalised)
        for index, (drive, normalised) in enumerate(both)
    ]
    rows = [
        (check.name, check.sentence, f"{check.statistic:.4g}", f"{check.p:.2g}")
        for check in identification.checks
    ]
    checks = Table(("check", "result", "statistic", "p-value"), rows, numbers=2)
    estimates = to_page_table(estimates_table(identification), ESTIMATES)
    sentences_on_model = [*identification.remarks, *identification.sentences]
    answers = [
        Section("Estimates", text=sentences_on_model, table=estimates),
        Section(
            "Models compared",
            table=to_page_table(compared_models_table(identification), COMPARED_MODELS),
        ),
        Section("Checks of the innovations", table=checks),
    ]
    if predictions:
        calibration = calibrations(predictions)
        answers.append(
            Section(
                "Each drive, predicted from the others",
                text=calibration_sentences(calibration),
                table=to_page_table(predictions_table(identification, predictions), PREDICTED),
                figure=calibration_figure(calibration),
                how_to_read="With correct predictions, 95 % of the lines are within the band.",
            )
        )
    if sentences:
        answers.append(Section("The model in other formats", text=list(sentences)))
    settings = {
        "name": options.name,
        "step [s]": options.step,
        "rate [Hz]": options.rate,
        "sources": [str(path) for path in sources],
        "versions": versions(),
    }
    page = identification_page(
        options.name,
        drives,
        answers,
        settings,
        [explained_sentence(identification, index) + "." for index in range(len(drives))],
        f"identify_yaw_error, imu_simulation_framework {__version__}",
    )
    return page_html(page).encode("utf-8")
