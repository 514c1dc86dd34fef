"""Messages with the results of each reproduced figure of the thesis."""

from __future__ import annotations

from typing import Mapping, Sequence

import numpy as np

from ...core.errors import RecordingError
from ...core.signals import Spectrum, find_time_shift
from ...heading.experiment_comparison import Comparison
from ...heading.yaw_comparison import YawComparison

_BANDS = ((0.0, 0.01), (0.02, 0.2), (1.0, np.inf))  # Hz: drift, rounds, noise

MAX_FREQUENCY = 0.1
"""Highest frequency of figure 4.13 [Hz]."""


def describe_figure(shown: str, compared: Comparison) -> str:
    """Describe the figure of an experiment.

    Parameters
    ----------
    shown : str
        Key of :data:`.FIGURES`.
    compared : Comparison
        Comparison of the experiment.

    Returns
    -------
    str
        Sentence without a full stop.
    """
    return _DESCRIPTIONS[shown](compared)


def _describe_tracking(compared: Comparison) -> str:
    table = compared.control_error
    yaw, distance = np.degrees(table["yaw_error"]), table["distance_error"]
    time = table.index.to_numpy(dtype=float)
    ends = time <= 60.0, time >= time[-1] - 60.0
    first, last = (np.sqrt(np.mean(yaw.to_numpy()[inside] ** 2)) for inside in ends)
    return (
        f"the yaw is {yaw.abs().mean():.2f} deg off on average and the robot "
        f"{distance.mean():.2f} m, at most {yaw.abs().max():.2f} deg and {distance.max():.2f} m; "
        f"the yaw's rms is {first:.2f} deg in the first minute and {last:.2f} deg in the last one"
    )


def _imus(compared: Comparison) -> tuple[YawComparison, YawComparison]:
    """Return the yaw errors of the recorded and the simulated IMU."""
    assert compared.real is not None and compared.simulated is not None  # else no experiment
    return compared.real, compared.simulated


def _describe_yaw(compared: Comparison) -> str:
    real, simulated = _imus(compared)
    truth, wanted = compared.ground_truth["yaw"], compared.trajectory["yaw"]
    recorded = real.imu_yaw
    delay = find_time_shift(truth.index, truth, wanted.index, wanted, 5.0).shift
    new = np.mean(np.diff(recorded) != 0.0) / np.median(np.diff(recorded.index))
    return (
        f"the recorded IMU ends {final_error(real)} off its reference, the simulated one "
        f"{final_error(simulated)}; the simulated robot is {1000.0 * delay:.0f} ms late, "
        f"and the recorded IMU has {new:.0f} new values in a second"
    )


def _describe_error(compared: Comparison) -> str:
    (real, smooth), (simulated, smooth_simulated) = (
        (imu.statistics, np.degrees(imu.trend_statistics.maximum_absolute))
        for imu in _imus(compared)
    )
    ends = [final_error(imu) for imu in _imus(compared)]
    return (
        f"the smoothed error reaches {smooth:.2f} deg (recorded) and {smooth_simulated:.2f} deg "
        f"(simulated); the recorded one grows by {60.0 * np.degrees(real.drift):.2f} deg in a "
        f"minute to {ends[0]}, the simulated one has {np.degrees(simulated.rms):.2f} deg of noise "
        f"and ends at {ends[1]}"
    )


def final_error(comparison: YawComparison) -> str:
    """Format the yaw error at the end of a drive.

    Parameters
    ----------
    comparison : YawComparison
        Compared yaws of an IMU.

    Returns
    -------
    str
        Angle in degrees.
    """
    return f"{np.degrees(comparison.statistics.final):.2f} deg"


def require_spectrum(spectrum: Spectrum | None) -> Spectrum:
    """Return a spectrum that has to exist.

    Parameters
    ----------
    spectrum : Spectrum or None
        Spectrum of a yaw error, or None.

    Returns
    -------
    Spectrum

    Raises
    ------
    RecordingError
        There is none, as the drive is too short.
    """
    if spectrum is None:
        raise RecordingError("a drive has too few samples for a power spectral density")
    return spectrum


def describe_powers(recorded: Spectrum, simulated: Sequence[Spectrum]) -> str:
    """Compare the power of a recorded spectrum with the mean power of simulated ones, by band.

    Parameters
    ----------
    recorded : Spectrum
        Spectrum of the recorded IMU.
    simulated : sequence of Spectrum
        Spectra of simulated IMUs.

    Returns
    -------
    str
        Sentence without a full stop.
    """
    ratios, spectra = [], [recorded, *simulated]
    for low, high in _BANDS:
        inside = [
            (spectrum.frequency >= low) & (spectrum.frequency <= high) for spectrum in spectra
        ]
        if not all(map(np.any, inside)):
            continue  # a short drive has no such frequencies
        power, *others = (
            np.sum(spectrum.density[band]) * spectrum.frequency[0]
            for spectrum, band in zip(spectra, inside)
        )
        where = f"below {high:g} Hz" if not low else f"from {low:g} to {high:g} Hz"
        where = f"above {low:g} Hz" if np.isinf(high) else where
        # Two digits, and no exponent.
        ratios.append(f"{float(f'{power / np.mean(others):.2g}'):,.15g} times {where}")
    return f"the recorded one has the power of the simulated {', '.join(ratios)}"


def _describe_spectra(attribute):
    def describe(compared: Comparison) -> str:
        recorded, simulated = (require_spectrum(getattr(imu, attribute)) for imu in _imus(compared))
        return describe_powers(recorded, [simulated])

    return describe


def describe_peaks(spectra: Mapping[str, Spectrum]) -> str:
    """Describe the largest density of each drive's spectrum at low frequency.

    Parameters
    ----------
    spectra : mapping of str to Spectrum
        Spectrum by the letter of the drive.

    Returns
    -------
    str
        Sentence without a full stop.
    """
    lowest, peaks = _BANDS[0][1], []
    for letter, spectrum in spectra.items():
        inside = (spectrum.frequency >= lowest) & (spectrum.frequency <= MAX_FREQUENCY)
        peak = spectrum.frequency[inside][np.argmax(spectrum.density[inside])]
        peaks.append(f"{peak:.4f} Hz ({letter.upper()})")
    return f"largest density from {lowest:g} to {MAX_FREQUENCY:g} Hz at {', '.join(peaks)}"


_DESCRIPTIONS = {
    "trajectory": _describe_tracking,
    "control_error": _describe_tracking,
    "imu_yaw": _describe_yaw,
    "yaw_error": _describe_error,
    "yaw_psd": _describe_spectra("yaw_spectrum"),
    "yaw_errors_psd": _describe_spectra("error_spectrum"),
}
