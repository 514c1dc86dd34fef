"""Parameters of an identified yaw error model, and the resulting error sources.

An :class:`.ImuSpecification` has more parameters than a yaw signal can determine. This module
contains the parameters that a yaw signal determines, including a drift of the yaw itself and a
scale factor that depends on the turning direction.

They are stored in YAML files. The keys under ``parameters`` are the fields of
:class:`.YawErrorParameters`, each with its value and its 95 % interval; an unknown limit is
``.inf``, or 0 for a strength::

    kind: yaw_error_model
    name: husky
    drives: [husky.bag]
    parameters: {angle_random_walk: {value: 1.2e-3, low: 1.1e-3, high: 1.3e-3}}  # rad/s/sqrt(Hz)

Other keys describe the provenance of the model. Of these, only the result of its ``checks`` is
read.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, fields, replace
from typing import Any, Mapping, Sequence

import numpy as np
import yaml

from ...core.checks import check_number
from ...core.errors import ConfigurationError
from ...core.sentences import quote
from ...core.settings import Settings, setting
from ...core.yaml_files import read_yaml
from ...sensors.imu_specification import ImuSpecification, OutputSpecification, TriadSpecification
from ..reference_error import ReferenceError
from ..statistics import TWO_SIDED
from .model import YawErrorModel
from .sources import (
    AngleRandomWalk,
    KnownError,
    RandomConstant,
    RateGaussMarkov,
    RateRandomWalk,
    Source,
    YawGaussMarkov,
    YawNoise,
)

_REFERENCE_STREAM = 1
"""Index of the random number stream for reference errors, which no IMU run uses."""


def _checked_count(name, value):
    return int(check_number(name, value, minimum=0.0))


@dataclass(frozen=True)
class YawErrorParameters(Settings):
    """Parameters of an IMU's identified yaw error model; the default is no error.

    Parameters
    ----------
    rate_bias : float
        Mean over drives of the error of the measured yaw rate [rad/s].
    rate_bias_spread : float
        Standard deviation of the rate bias between drives [rad/s].
    scale_factor : float
        Error of the measured turn relative to the net turn [1].
    scale_factor_of_absolute_turn : float
        Error of the measured left turn relative to the accumulated turn to either side [1].
    angle_random_walk, rate_random_walk : float
        Two-sided densities N [rad/s/sqrt(Hz)] and K [rad/s^2/sqrt(Hz)].
    rate_drift_sigma, rate_drift_time : float
        Gauss-Markov drift of the rate: standard deviation [rad/s] and correlation time [s].
    yaw_drift_sigma, yaw_drift_time : float
        Gauss-Markov drift of the yaw itself: standard deviation [rad] and correlation time [s].
    reference_noise : float
        White noise of the reference's yaw [rad].
    reference_drift_sigma, reference_drift_time : float
        Correlated noise of the reference's yaw: standard deviation [rad] and correlation time [s].
    reference_slip : float
        Random walk of the reference's yaw over the turn [rad/sqrt(rad)].
    reference_scale, reference_error_time : float
        Ratio of the reference's error to its stated error [1], and the correlation time of this
        error [s]; a time of 0 means the stated one.
    reference_lag : float
        Lag of the reference's yaw [s].
    rate_bias_uncertainty, scale_factor_uncertainty : float
        Standard deviations of the estimates of these two parameters [rad/s], [1], the same on all
        drives of an individual sensor.
    rate_bias_spread_uncertainty : float
        Additional spread of the rate bias due to the uncertainty of its estimate [rad/s].
    drives : int
        Number of drives from which the parameters were identified.
    rejected : bool
        Whether the checks of the residuals rejected the model.

    Raises
    ------
    ConfigurationError
        If a value is out of range; the message begins with its name.
    """

    rate_bias: float = setting(0.0, unit="rad/s")
    rate_bias_spread: float = setting(0.0, minimum=0.0, unit="rad/s")
    scale_factor: float = setting(0.0)
    scale_factor_of_absolute_turn: float = setting(0.0)
    angle_random_walk: float = setting(0.0, minimum=0.0, unit="rad/s/sqrt(Hz)")
    rate_random_walk: float = setting(0.0, minimum=0.0, unit="rad/s^2/sqrt(Hz)")
    rate_drift_sigma: float = setting(0.0, minimum=0.0, unit="rad/s")
    rate_drift_time: float = setting(100.0, above=0.0, unit="s")
    yaw_drift_sigma: float = setting(0.0, minimum=0.0, unit="rad")
    yaw_drift_time: float = setting(100.0, above=0.0, unit="s")
    reference_noise: float = setting(0.0, minimum=0.0, unit="rad")
    reference_drift_sigma: float = setting(0.0, minimum=0.0, unit="rad")
    reference_drift_time: float = setting(10.0, above=0.0, unit="s")
    reference_slip: float = setting(0.0, minimum=0.0, unit="rad/sqrt(rad)")
    reference_scale: float = setting(1.0, above=0.0)
    reference_error_time: float = setting(0.0, minimum=0.0, unit="s")
    reference_lag: float = setting(0.0, unit="s")
    rate_bias_uncertainty: float = setting(0.0, minimum=0.0, unit="rad/s")
    rate_bias_spread_uncertainty: float = setting(0.0, minimum=0.0, unit="rad/s")
    scale_factor_uncertainty: float = setting(0.0, minimum=0.0)
    drives: int = setting(1, _checked_count)
    rejected: bool = setting(False)

    @classmethod
    def identified(
        cls, estimates: Mapping[str, Sequence[float]], drives: int, rejected: bool
    ) -> YawErrorParameters:
        """Create parameters that predict the yaw error of another drive.

        The spread of the bias is estimated from a few drives: its standard deviation is chosen so
        that 95 % of biases are within Student's distribution, or within the upper limit of the
        spread.

        Parameters
        ----------
        estimates : mapping of str to sequence of float
            Value and limits of the 95 % interval by parameter; unknown limits are infinite or NaN.
        drives : int
            Number of drives.
        rejected : bool
            Whether the checks rejected the model.

        Returns
        -------
        YawErrorParameters

        Raises
        ------
        ConfigurationError
            If a value is out of range.
        """
        values: dict[str, Any] = {name: numbers[0] for name, numbers in estimates.items()}
        for name in ("rate_bias", "scale_factor"):
            _, low, high = estimates.get(name, (0.0, 0.0, 0.0))
            std = (high - low) / (2.0 * TWO_SIDED)
            values[f"{name}_uncertainty"] = std if math.isfinite(std) else 0.0
        if drives > 1 and "rate_bias_spread" in estimates:
            from scipy.special import stdtrit

            spread, (_, _, high) = cls(**values).rate_bias_spread, estimates["rate_bias_spread"]
            limits = spread * stdtrit(drives - 1, 0.975), high if math.isfinite(high) else 0.0
            more = math.sqrt(max(0.0, (max(limits) / TWO_SIDED) ** 2 - spread**2))
            values["rate_bias_spread_uncertainty"] = more
        return cls(**values, drives=drives, rejected=rejected)

    @property
    def limits(self) -> tuple[str, ...]:
        """Messages on limitations of a prediction with these parameters."""
        messages = []
        if self.rejected:
            messages.append("The residual checks reject this model, so its bands are not reliable.")
        if self.drives <= 1:
            messages.append(
                "The rate bias was identified from a single drive; its spread over drives is "
                "unknown, so the bands are too narrow."
            )
        return tuple(messages)

    def sources(
        self, time: np.ndarray, net_turn: np.ndarray, absolute_turn: np.ndarray
    ) -> list[Source]:
        """Create the sources of the IMU's yaw error, which is zero at the start.

        Parameters
        ----------
        time : numpy.ndarray
            Times from zero, shape (n,) [s].
        net_turn, absolute_turn : numpy.ndarray
            Net turn, and accumulated turn to either side, since the start, shape (n,) each [rad].

        Returns
        -------
        list of Source
            Sources of the yaw error.
        """
        sources: list[Source] = []
        for name, value, curve in (
            ("rate bias", self.rate_bias, time),
            ("scale factor", self.scale_factor, net_turn),
            ("preferred direction", self.scale_factor_of_absolute_turn, absolute_turn),
        ):
            if value:
                sources.append(KnownError(name, -value * curve))
        spread = math.hypot(self.rate_bias_spread, self.rate_bias_spread_uncertainty)
        for name, sigma, curve in (
            ("rate bias", spread, time),
            ("mean rate bias", self.rate_bias_uncertainty, time),
            ("scale factor", self.scale_factor_uncertainty, net_turn),
        ):
            if sigma:
                sources.append(RandomConstant(name, -curve, sigma))
        if self.rate_drift_sigma:
            sources.append(
                RateGaussMarkov("rate drift", self.rate_drift_sigma, self.rate_drift_time)
            )
        if self.rate_random_walk:
            sources.append(RateRandomWalk("rate random walk", self.rate_random_walk))
        if self.angle_random_walk:
            sources.append(AngleRandomWalk("angle random walk", self.angle_random_walk))
        if self.yaw_drift_sigma:
            # A stationary process changes by the decay of its initial value and by new noise.
            forgotten = -np.expm1(-time / self.yaw_drift_time)
            sources += [
                RandomConstant("yaw drift", -forgotten, self.yaw_drift_sigma),
                YawGaussMarkov("yaw drift", self.yaw_drift_sigma, self.yaw_drift_time, False),
            ]
        return sources

    def reference_errors(
        self,
        reference: ReferenceError | None,
        drive: tuple[np.ndarray, np.ndarray, np.ndarray],
        runs: int,
        seed: int,
    ) -> np.ndarray:
        """Simulate the reference's random errors on a drive.

        Parameters
        ----------
        reference : ReferenceError or None
            Stated error of the reference at the drive's times.
        drive : tuple of numpy.ndarray
            Time from zero [s], net turn and accumulated turn [rad], shape (n,) each.
        runs : int
            Number of runs.
        seed : int
            Seed of all runs.

        Returns
        -------
        numpy.ndarray
            Errors, shape (runs, n) [rad].
        """
        time, net_turn, absolute_turn = drive
        random = np.random.default_rng([seed, _REFERENCE_STREAM])
        turn_per_step = np.diff(absolute_turn, prepend=absolute_turn[:1])
        steps = self.reference_slip * np.sqrt(np.maximum(turn_per_step, 0.0))
        errors = np.cumsum(steps * random.standard_normal((runs, len(time))), axis=1)
        errors -= self.reference_lag * np.gradient(net_turn, time)
        sources: list[Source] = []
        if self.reference_noise:
            sources.append(YawNoise("reference noise", self.reference_noise))
        if self.reference_drift_sigma:
            drift = self.reference_drift_sigma, self.reference_drift_time
            sources.append(YawGaussMarkov("reference drift", *drift))
        if sources:
            errors += YawErrorModel(time, tuple(sources)).realisations(runs, seed)
        if reference is not None:
            errors += replace(
                reference,
                std=self.reference_scale * reference.std,
                correlation_time=self.reference_error_time or reference.correlation_time,
                # An identified lag replaces the random lag of the stated error.
                lag=0.0 if self.reference_lag else reference.lag,
            ).draw(runs, random)
        return errors


_LONG_TIME_CONSTANT = 1000.0
"""Time constant of an orientation filter that hardly responds to accelerations [s].

The observed yaw error already includes the effect of accelerations on the sensor's filter, which
must not count twice."""


def specification_from_parameters(
    parameters: YawErrorParameters, name: str, rate: float
) -> tuple[ImuSpecification, list[str]]:
    """Convert identified yaw error parameters to the specification of a z-axis gyroscope.

    The other axes and the accelerometer have no errors, since a yaw signal does not determine them.

    Parameters
    ----------
    parameters : YawErrorParameters
        Identified parameters of the yaw error.
    name : str
        Name of the sensor.
    rate : float
        Sampling rate [Hz].

    Returns
    -------
    specification : ImuSpecification
        Specification of the sensor.
    omissions : list of str
        Messages on errors that a specification cannot describe.

    Raises
    ------
    ConfigurationError
        If name or rate are invalid.
    """

    def about_z(value: float) -> tuple[float, float, float]:
        return (0.0, 0.0, value)

    none = (0.0, 0.0, 0.0)
    gyroscope = TriadSpecification(
        white_noise=about_z(parameters.angle_random_walk),
        random_walk=about_z(parameters.rate_random_walk),
        gauss_markov_sigma=about_z(parameters.rate_drift_sigma),
        gauss_markov_time=(1000.0, 1000.0, parameters.rate_drift_time),
        turn_on_bias=about_z(parameters.rate_bias),
        turn_on_bias_sigma=about_z(parameters.rate_bias_spread),
        scale_factor_and_misalignment=(none, none, about_z(parameters.scale_factor)),
    )
    omissions = []
    if parameters.yaw_drift_sigma:
        omissions.append(
            "A specification cannot describe a drift of the yaw itself: a drift of "
            f"{math.degrees(parameters.yaw_drift_sigma):.3g} deg with a correlation time of "
            f"{parameters.yaw_drift_time:.3g} s is omitted; Hector's parameters include it."
        )
    if parameters.scale_factor_of_absolute_turn:
        omissions.append(
            "A specification cannot describe a preferred direction of turn: "
            f"{100.0 * parameters.scale_factor_of_absolute_turn:.3g} % is omitted."
        )
    if parameters.drives < 2:
        omissions.append("turn_on_bias is the bias of the single drive, so its sigma is 0.")
    specification = ImuSpecification(
        name=name,
        gyroscope=gyroscope,
        output=OutputSpecification(rate=rate, filter_time_constant=_LONG_TIME_CONSTANT),
    )
    return specification, omissions


KIND = "yaw_error_model"
_PROVENANCE = {"drives", "rejected"}
_KEYS = {
    field.name
    for field in fields(YawErrorParameters)
    if field.name not in _PROVENANCE and not field.name.endswith("_uncertainty")
}


def read_yaw_error_model(path: str | os.PathLike[str]) -> YawErrorParameters:
    """Read the parameters of an identified yaw error model from a YAML file.

    Parameters
    ----------
    path : path-like
        YAML file.

    Returns
    -------
    YawErrorParameters

    Raises
    ------
    ConfigurationError
        If the file cannot be read, or is not an identified model.
    """
    content = read_yaml(path, "the model of a yaw error")
    if not _is_model(content):
        raise ConfigurationError(
            f"{path}: not a yaw error model, expected a mapping with kind: {KIND}"
        )
    parameters, drives = content.get("parameters"), content.get("drives")
    if not isinstance(parameters, dict):
        raise ConfigurationError(
            f"{path}: parameters is {quote(parameters)}, expected a mapping of names to values"
        )
    if not (isinstance(drives, list) and drives):
        raise ConfigurationError(f"{path}: drives is {quote(drives)}, expected a list of names")
    values: dict[str, Any] = {}
    for name, entry in parameters.items():
        if name not in _KEYS:
            raise ConfigurationError(
                f"{path}: {quote(name)} is not a yaw error parameter, expected one of "
                f"{', '.join(sorted(_KEYS))}"
            )
        entry = entry if isinstance(entry, dict) else {"value": entry}
        limits = [entry.get(side) for side in ("low", "high")]
        has_limits = all(isinstance(limit, float) for limit in limits)
        values[name] = (entry.get("value"), *(limits if has_limits else (math.nan, math.nan)))
    checks = content.get("checks")
    outcomes = checks.values() if isinstance(checks, dict) else ()
    rejected = any(
        isinstance(outcome, dict) and outcome.get("passed") is False for outcome in outcomes
    )
    try:
        return YawErrorParameters.identified(values, len(drives), rejected)
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from None


def is_yaw_error_model_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a file contains an identified yaw error model.

    Parameters
    ----------
    path : path-like
        File.

    Returns
    -------
    bool
        False if the file is not YAML.
    """
    try:
        return _is_model(read_yaml(path, "the model"))
    except ConfigurationError:
        return False


def _is_model(content):
    return isinstance(content, dict) and content.get("kind") == KIND


def yaw_error_model_text(
    name: str,
    drives: list[str],
    parameters: Mapping[str, tuple[float, float, float, str]],
    origin: Mapping[str, Any],
    comment: str = "",
) -> str:
    """Format an identified yaw error model as YAML.

    Parameters
    ----------
    name : str
        Name of the IMU.
    drives : list of str
        Names of the drives.
    parameters : mapping of str to tuple
        Value, lower and upper limit, and unit by parameter.
    origin : mapping of str to object
        Provenance of the model, as plain values.
    comment : str, optional
        Lines for the beginning of the file, without number signs.

    Returns
    -------
    str
        Content of the file.
    """
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    lines += [
        _dump_yaml({"kind": KIND, "name": str(name), "drives": [str(drive) for drive in drives]})
    ]
    lines.append("parameters:")
    for key, (value, low, high, unit) in parameters.items():
        numbers = ", ".join(
            f"{word}: {_number(number)}"
            for word, number in (("value", value), ("low", low), ("high", high))
        )
        lines.append(f"  {key}: {{{numbers}}}  # {unit}")
    if origin:
        lines.append(_dump_yaml(dict(origin)))
    return "\n".join(lines) + "\n"


def _dump_yaml(content):
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=10**6).rstrip()


def _number(value):
    if value in (float("inf"), float("-inf")):
        return ".inf" if value > 0.0 else "-.inf"
    return repr(float(f"{value:.9g}"))
