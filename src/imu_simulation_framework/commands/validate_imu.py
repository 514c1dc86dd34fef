"""Compare a simulated IMU with ground truth, and check limits of its errors.

SIMULATED and TRUTH are bags of ROS 1 or 2, tables (CSV, rostopic echo -p), or results of
experiments. FILE@/topic selects a topic of a bag; RESULT@imu_simulated, @imu_real or @ground_truth
a table of a result. The truth is an ideal IMU with all axes, or poses with the yaw. Angular
velocity, specific force and orientation are compared axis by axis: mean, standard deviation,
largest error and Allan deviation of the error, which is truth minus IMU.

Exit code 0: all limits are kept; 1: a limit is exceeded; 2: the comparison is impossible.

    validate_imu.py realistic.bag@/imu/data realistic.bag@/imu --limits config/imu_limits.yaml
    validate_imu.py RESULT@imu_simulated RESULT@ground_truth --out validation
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping, NamedTuple

import numpy as np
import pandas as pd

from .. import __version__
from ..characterisation.allan.model import averaging_factors, overlapping_allan_variance
from ..core.angles import difference, unwrap
from ..core.checks import check_number
from ..core.errors import ConfigurationError, RecordingError, prefix_errors
from ..core.files import format_json
from ..core.programs import ArgumentParser
from ..core.sentences import quote
from ..core.signals import find_time_shift
from ..core.tables import ACCEL, EULER, GYRO
from ..core.whole_files import make_folder, render_figure, write_whole
from ..core.yaml_files import read_description
from ..heading.statistics import ErrorStatistics, error_statistics
from ..realistic_imu.files import read_imu_table
from ..report import style
from ..report.figure import Figure
from .command_line import above_zero, add_report, write_report

FAILED = 1
"""Exit code if a limit is exceeded."""

QUANTITIES = {"rate": GYRO, "force": ACCEL, "orientation": EULER}
"""Columns of an ImuRecord, by quantity."""
AXES = {"rate": "xyz", "force": "xyz", "orientation": EULER}
UNITS = {"rate": "rad/s", "force": "m/s^2", "orientation": "rad"}
_TITLES = {"rate": "angular velocity", "force": "specific force", "orientation": "orientation"}
NORM = "norm"
"""Axis of the norm of the error vector, if all three axes are compared."""
STATISTICS = ("mean", "standard_deviation", "rms", "maximum_absolute")
"""Statistics that may have a limit, in addition to the Allan deviation."""
ALLAN = "allan_deviation"

MINIMUM_SAMPLES = 10
_MAX_PITCH = np.radians(75.0)  # above it, roll and yaw errors are remarked as ill-defined
_GAP = 3.0  # periods of the truth; samples in longer gaps are not compared


def main(arguments):
    """Compare the recordings of a command line.

    Parameters
    ----------
    arguments : list of str
        Command line.

    Returns
    -------
    int
        Exit code: 0, or :data:`FAILED`.
    """
    options = _parser().parse_args(arguments)
    if options.report and not options.out:
        raise ConfigurationError("--report needs --out DIR, for the web page")
    limits = []
    if options.limits:
        limits = read_description(options.limits, "the file of limits", read_limits)
    imu, truth = (
        read_imu_table(text, truth) for text, truth in ((options.imu, False), (options.truth, True))
    )
    with prefix_errors(f"{options.imu} and {options.truth}: ", RecordingError):
        validation = validate_imu(imu.table, truth.table, options.align, options.max_shift)
        judged = judge_limits(validation, limits)
    remarks = [*imu.remarks, *truth.remarks, *validation.remarks]
    passed = all(limit.is_kept(value) for limit, value in judged)
    errors = pd.DataFrame(
        [
            [axis.quantity, axis.axis, UNITS[axis.quantity]]
            + [getattr(axis.statistics, name) for name in STATISTICS]
            for axis in validation.axes
        ],
        columns=["quantity", "axis", "unit", *STATISTICS],
    )
    lines = ["error of    axis   unit           mean         std         rms     maximum"]
    for row in errors.itertuples(index=False):
        lines.append("{:<12}{:<7}{:<7}{:>12.4g}{:>12.4g}{:>12.4g}{:>12.4g}".format(*row))
    lines.append(f"{len(validation.time)} samples, {validation.time[-1] - validation.time[0]:g} s")
    for limit, value in judged:
        word = "passed" if limit.is_kept(value) else "FAILED"
        amount = f"{value:.4g} {UNITS[limit.quantity]}"
        lines.append(f"{word}: {limit.name} {amount}, limit {limit.maximum:g}")
    print(*lines, *remarks, sep="\n")
    if options.out:
        summary = {
            "simulated": options.imu,
            "truth": options.truth,
            "samples": len(validation.time),
            "time_shift": validation.shift,
            "errors": errors.to_dict("records"),
            "limits": [
                {"limit": limit.name, "maximum": limit.maximum, "value": value,
                 "passed": limit.is_kept(value)}
                for limit, value in judged
            ],
            "passed": passed,
            "remarks": remarks,
        }  # fmt: skip
        page = _page(validation, errors, summary) if options.report else None
        _write(options.out, validation, errors, summary, page)
    return 0 if passed else FAILED


def _page(validation, errors, summary):
    """Return a validation as a web page."""
    from ..report.page import Page, Section, Table

    words = {True: "passed", False: "FAILED"}
    limits = [
        (
            judged["limit"],
            f"{judged['value']:.4g}",
            f"{judged['maximum']:g}",
            words[judged["passed"]],
        )
        for judged in summary["limits"]
    ]
    rows = [
        (row.quantity, row.axis, row.unit, *(f"{getattr(row, name):.4g}" for name in STATISTICS))
        for row in errors.itertuples(index=False)
    ]
    headings = ("error of", "axis", "unit", "mean", "std", "rms", "maximum")
    failed = sum(not judged["passed"] for judged in summary["limits"])
    verdict = "No limits were given."
    if limits:
        verdict = f"{failed} of {len(limits)} limits exceeded." if failed else "Within all limits."
    sections = [Section("Errors", text=summary["remarks"], table=Table(headings, rows, numbers=4))]
    if limits:
        headings = ("limit", "value", "maximum", "")
        sections.insert(0, Section("Limits", table=Table(headings, limits, numbers=3)))
    sections.append(
        Section("Errors and their Allan deviation", figure=validation_figure(validation))
    )
    return Page(
        title="An IMU compared with the truth",
        summary=[f"{summary['simulated']} against {summary['truth']}.", verdict],
        sections=sections,
        footer=f"imu_simulation_framework {__version__}",
    )


def _write(folder, validation, errors, summary, page=None) -> None:
    # A call without --out does not load matplotlib.
    from ..report.drawing import to_matplotlib

    out = make_folder(folder)
    write_whole(out / "validation.csv", errors.to_csv(index=False).encode())
    rows = [
        (axis.quantity, axis.axis, tau, value)
        for axis in validation.axes
        for tau, value in zip(axis.tau, axis.allan_deviation)
    ]
    allan = pd.DataFrame(rows, columns=["quantity", "axis", "tau", "allan_deviation"])
    write_whole(out / "allan_deviation.csv", allan.to_csv(index=False).encode())
    write_whole(out / "validation.json", format_json(summary).encode())
    write_whole(out / "validation.png", render_figure(to_matplotlib(validation_figure(validation))))
    print(f"{out}: validation.csv, allan_deviation.csv, validation.json, .png")
    if page is not None:
        write_report(out / "validation.html", page)


def _parser():
    parser = ArgumentParser(__doc__)
    add = parser.add_argument
    add("imu", metavar="SIMULATED", help="FILE, FILE@TOPIC or RESULT@TABLE")
    add("truth", metavar="TRUTH", help="FILE, FILE@TOPIC or RESULT@TABLE")
    add("--limits", metavar="FILE", help="YAML file like config/imu_limits.yaml")
    add("--align", action="store_true", help="shift the stamps to the best fit of yaw rates")
    add(
        "--max-shift",
        type=above_zero,
        default=1.0,
        metavar="S",
        help="largest shift [s] (default: 1)",
    )
    add("-o", "--out", metavar="DIR", help="folder for CSV, JSON, figure and web page")
    add_report(parser)
    return parser


@dataclass(frozen=True)
class AxisError:
    """Error of an axis, truth minus IMU.

    Parameters
    ----------
    quantity : str
        Key of :data:`QUANTITIES`.
    axis : str
        Axis of ``AXES``, or :data:`NORM`.
    error : ndarray, shape (n,)
        Error, in the unit of ``UNITS``.
    statistics : ErrorStatistics
        Statistics of the error.
    tau : ndarray, shape (taus,)
        Averaging times [s].
    allan_deviation : ndarray, shape (taus,)
        Overlapping Allan deviation of the error.
    """

    quantity: str
    axis: str
    error: np.ndarray
    statistics: ErrorStatistics
    tau: np.ndarray
    allan_deviation: np.ndarray

    def value(self, statistic: str, tau: float | None = None) -> float:
        """Return the magnitude of a statistic, or the Allan deviation.

        Parameters
        ----------
        statistic : str
            Name of a statistic.
        tau : float, optional
            Averaging time [s]; selects the Allan deviation.

        Returns
        -------
        float
            The value, in the unit of the error.

        Raises
        ------
        RecordingError
            The recording is too short for the averaging time.
        """
        if tau is None:
            return abs(float(getattr(self.statistics, statistic)))
        if not (len(self.tau) and self.tau[0] * (1 - 1e-9) <= tau <= self.tau[-1] * (1 + 1e-9)):
            raise RecordingError(
                f"the Allan deviation of {self.quantity} {self.axis} is not known at {tau:g} s"
            )
        with np.errstate(divide="ignore"):
            logarithm = np.log(self.allan_deviation)
        return float(np.exp(np.interp(np.log(tau), np.log(self.tau), logarithm)))


@dataclass(frozen=True)
class ImuValidation:
    """Errors of an IMU.

    Parameters
    ----------
    time : ndarray, shape (n,)
        Times of the compared samples of the IMU [s].
    axes : list of AxisError
        Errors of the compared axes.
    shift : float
        Shift that was subtracted from the IMU's stamps [s].
    remarks : list of str
        Remarks on the alignment and on ignored samples.
    """

    time: np.ndarray
    axes: list[AxisError]
    shift: float = 0.0
    remarks: list[str] = field(default_factory=list)

    def axis(self, quantity: str, axis: str) -> AxisError | None:
        """Return the error of an axis; None if it was not compared."""
        errors = {(error.quantity, error.axis): error for error in self.axes}
        return errors.get((quantity, axis))


class Limit(NamedTuple):
    """Maximum of a statistic in the unit of its quantity, with ``tau`` [s] for Allan deviations."""

    quantity: str
    axis: str
    statistic: str
    maximum: float
    tau: float | None = None

    @property
    def name(self) -> str:
        """Name of the limit in messages."""
        at = "" if self.tau is None else f" at {self.tau:g} s"
        return f"{self.quantity} {self.axis} {self.statistic.replace('_', ' ')}{at}"

    def is_kept(self, value: float) -> bool:
        """Return whether a value is within the limit; nan is not."""
        return value <= self.maximum


def validate_imu(
    imu: pd.DataFrame, truth: pd.DataFrame, align: bool = False, max_shift: float = 1.0
) -> ImuValidation:
    """Compare an IMU with ground truth, axis by axis, at the IMU's stamps.

    The truth is interpolated linearly, angles after unwrapping. Samples outside the truth or in its
    gaps are ignored. Errors are truth minus IMU. Errors of angles are wrapped to (-pi, pi], then
    unwrapped; a constant error is kept.

    Parameters
    ----------
    imu, truth : DataFrame
        ImuRecord; only common columns are compared.
    align : bool, optional
        Whether the IMU's stamps are shifted to the best fit of yaw rates
        (:func:`.find_time_shift`). Both tables must have a yaw.
    max_shift : float, optional
        Largest shift [s].

    Returns
    -------
    ImuValidation
        The errors.

    Raises
    ------
    RecordingError
        The tables have no common axis, or too few common samples.
    """
    columns = [name for group in QUANTITIES.values() for name in group]
    common = [name for name in columns if name in imu and name in truth]
    if not common:
        imu_columns, truth_columns = (
            ", ".join(name for name in columns if name in table) or "none" for table in (imu, truth)
        )
        raise RecordingError(
            f"the two have no axis in common: the IMU has {imu_columns}, the truth {truth_columns}"
        )
    shift, remark = (
        0.0,
        "compared at the IMU's stamps; the two clocks are assumed to be synchronous",
    )
    if align:
        shift, remark = _shift(imu, truth, max_shift)
    remarks = [remark]
    time = imu.index.to_numpy(dtype=float) - shift
    true_time = truth.index.to_numpy(dtype=float)
    if min(len(time), len(true_time)) < 2:
        raise RecordingError("less than two samples cannot be compared")
    # A sample is compared only between two samples of the truth without a gap.
    longest = _GAP * float(np.median(np.diff(true_time)))
    after = np.clip(np.searchsorted(true_time, time), 1, len(true_time) - 1)
    near = (true_time[after] - true_time[after - 1] <= longest) | np.isin(time, true_time)
    inside = (time >= true_time[0]) & (time <= true_time[-1]) & near
    if inside.sum() < MINIMUM_SAMPLES:
        raise RecordingError(
            f"only {inside.sum()} samples of the IMU are where the truth is known, "
            f"{true_time[0]:.3f} to {true_time[-1]:.3f} s; the IMU's are {time[0]:.3f} to "
            f"{time[-1]:.3f} s"
        )
    if not inside.all():
        remarks.append(
            f"{len(inside) - inside.sum()} of {len(inside)} samples are outside of the truth or in "
            "a gap of it, and left out"
        )
    if not np.isin(time[inside], true_time).all():
        remarks.append("the truth was interpolated linearly between its samples")
    at = time[inside]
    errors = {
        name: _error(imu[name].to_numpy()[inside], truth[name].to_numpy(), at, true_time, name)
        for name in common
    }
    steps = np.diff(at)
    rate = 1.0 / float(np.median(steps))
    parts = np.flatnonzero(steps > _GAP / rate) + 1
    axes = []
    for quantity, names in QUANTITIES.items():
        given = {axis: errors[name] for axis, name in zip(AXES[quantity], names) if name in errors}
        if len(given) == len(names):
            given[NORM] = np.linalg.norm(np.column_stack(list(given.values())), axis=1)
        axes += [_axis(quantity, axis, at, error, rate, parts) for axis, error in given.items()]
    if "pitch" in truth and {"roll", "yaw"} & set(common):
        steepest = float(np.abs(truth["pitch"].to_numpy()).max())
        if steepest > _MAX_PITCH:
            remarks.append(
                f"the truth pitches by up to {np.degrees(steepest):.0f} deg; near 90 deg, roll and "
                "yaw are not defined, so that their errors have no meaning"
            )
    missing = [name for name in columns if name not in common]
    if missing:
        remarks.append(f"not compared, since missing in one of the two: {', '.join(missing)}")
    return ImuValidation(at, axes, shift, remarks)


def read_limits(content: Any) -> list[Limit]:
    """Read limits.

    Parameters
    ----------
    content : dict
        Mapping ``{quantity: {axis: {statistic: maximum}}}``. The maximum of an Allan deviation is a
        mapping from averaging times [s] to maxima.

    Returns
    -------
    list of Limit
        The limits.

    Raises
    ------
    ConfigurationError
        A quantity, axis or statistic is unknown, or a maximum is not a positive number.
    """
    limits = []
    for quantity, axes in _entries(content, "the limits", QUANTITIES, "quantity"):
        known = (*AXES[quantity], NORM)
        for axis, statistics in _entries(axes, quantity, known, f"axis of {quantity}"):
            place, known = f"{quantity}.{axis}", (*STATISTICS, ALLAN)
            for name, maximum in _entries(statistics, place, known, f"statistic of {place}"):
                key = f"{place}.{name}"
                for tau, value in _entries(maximum, key) if name == ALLAN else [(None, maximum)]:
                    if tau is not None:
                        tau = check_number(f"an averaging time of {key}", tau, above=0.0)
                    value = check_number(key, value, above=0.0)
                    limits.append(Limit(quantity, axis, name, value, tau))
    if not limits:
        raise ConfigurationError("there are no limits")
    return limits


def judge_limits(validation: ImuValidation, limits: list[Limit]) -> list[tuple[Limit, float]]:
    """Return each limit with the value of its statistic.

    Parameters
    ----------
    validation : ImuValidation
        Errors of an IMU.
    limits : list of Limit
        The limits.

    Returns
    -------
    list of tuple
        Limits and values.

    Raises
    ------
    RecordingError
        A limited axis was not compared, or the recording is too short.
    """
    judged = []
    for limit in limits:
        axis = validation.axis(limit.quantity, limit.axis)
        if axis is None:
            raise RecordingError(
                f"there is a limit to {limit.name}, but {limit.quantity} {limit.axis} could not "
                "be compared"
            )
        judged.append((limit, axis.value(limit.statistic, limit.tau)))
    return judged


def _shift(imu, truth, max_shift):
    if "yaw" not in imu or "yaw" not in truth:
        raise RecordingError("one of the two has no yaw, which --align requires")
    result = find_time_shift(imu.index, imu["yaw"], truth.index, truth["yaw"], max_shift)
    if result.problem:
        return 0.0, f"times were not aligned: {result.problem}"
    return result.shift, (
        f"the IMU is {result.shift:.4f} s late by its yaw rate (correlation "
        f"{result.correlation:.2f}); its stamps were shifted by that"
    )


def _error(values, true_values, time, true_time, name):
    if name not in EULER:
        return np.interp(time, true_time, true_values) - values
    between = np.interp(time, true_time, unwrap(true_values))
    return unwrap(difference(between, values))


def _axis(quantity, axis, time, error, rate, parts) -> AxisError:
    statistics = error_statistics(time, error)
    assert statistics is not None  # there are samples
    pieces = [piece for piece in np.split(error, parts) if len(piece) >= MINIMUM_SAMPLES]
    tau = deviation = np.empty(0)
    if pieces:
        factors = averaging_factors(max(map(len, pieces)))
        tau = factors / rate
        deviation = np.sqrt(overlapping_allan_variance(pieces, rate, factors))
    return AxisError(quantity, axis, error, statistics, tau, deviation)


def _entries(value, name, known=None, noun=""):
    """Yield keys and values of a mapping, and check that the keys are known."""
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"{name} is {quote(value)}, expected keys with values")
    for key, entry in value.items():
        if known is not None and key not in known:
            raise ConfigurationError(f"{quote(key)} is no {noun}; there are {', '.join(known)}")
        yield key, entry


def validation_figure(validation: ImuValidation) -> Figure:
    """Draw errors over time on the left, and their Allan deviation on the right."""
    figure = Figure(widths=(1.0, 1.0), width=11.0)
    for quantity in dict.fromkeys(axis.quantity for axis in validation.axes):
        shown = [
            axis for axis in validation.axes if axis.quantity == quantity and axis.axis != NORM
        ]
        styles = style.line_styles(len(shown))
        unit = UNITS[quantity].replace("^2", "²")
        title = f"{_TITLES[quantity]}, truth minus IMU"
        figure.panel(f"error [{unit}]", title, height=240).zero_line()
        for axis, line in zip(shown, styles):
            thin = {**line, "linestyle": "-", "linewidth": 0.8, "alpha": 0.8}
            figure.line(validation.time - validation.time[0], axis.error, thin, axis.axis)
        title = "Allan deviation of the error"
        figure.panel(f"[{unit}]", title, x="averaging time [s]", log="xy", height=240)
        for axis, line in zip(shown, styles):
            is_positive = axis.allan_deviation > 0.0
            figure.line(axis.tau[is_positive], axis.allan_deviation[is_positive], line, axis.axis)
    return figure
