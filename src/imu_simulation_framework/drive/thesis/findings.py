"""Messages with the results in each reproduced figure of the thesis."""

from __future__ import annotations

from typing import Mapping, Sequence

import numpy as np

from ...core.errors import RecordingError
from ...core.signals import Spectrum, find_time_shift
from ...heading.experiment_comparison import Comparison
from ...heading.yaw_comparison import YawComparison

_BANDS = ((0.0, 0.01), (0.02, 0.2), (1.0, np.inf))  # frequency bands of drift, laps and noise [Hz]

MAX_FREQUENCY = 0.1
"""Highest frequency in figure 4.13 [Hz]."""


def describe_figure(quantity: str, compared: Comparison) -> str:
    """Describe the results in the figure of an experiment.

    Parameters
    ----------
    quantity : str
        Key of :data:`.FIGURES`.
    compared : Comparison
        Comparison of the experiment.

    Returns
    -------
    str
        Message without a full stop.
    """
    return _DESCRIPTIONS[quantity](compared)


def _describe_tracking(compared: Comparison) -> str:
    table = compared.control_error
    yaw, distance = np.degrees(table["yaw_error"]), table["distance_error"]
    time = table.index.to_numpy(dtype=float)
    ends = time <= 60.0, time >= time[-1] - 60.0
    first, last = (np.sqrt(np.mean(yaw.to_numpy()[inside] ** 2)) for inside in ends)
    return (
        f"the mean absolute tracking error is {yaw.abs().mean():.2f} deg and "
        f"{distance.mean():.2f} m, the largest {yaw.abs().max():.2f} deg and "
        f"{distance.max():.2f} m; the yaw rms is {first:.2f} deg in the first minute and "
        f"{last:.2f} deg in the last minute"
    )


def _imus(compared: Comparison) -> tuple[YawComparison, YawComparison]:
    """Return the yaw errors of the recorded and the simulated IMU."""
    assert (
        compared.real is not None and compared.simulated is not None
    )  # guaranteed by the class Experiments
    return compared.real, compared.simulated


def _describe_yaw(compared: Comparison) -> str:
    real, simulated = _imus(compared)
    truth, trajectory_yaw = compared.ground_truth["yaw"], compared.trajectory["yaw"]
    recorded = real.imu_yaw
    delay = find_time_shift(truth.index, truth, trajectory_yaw.index, trajectory_yaw, 5.0).shift
    new = np.mean(np.diff(recorded) != 0.0) / np.median(np.diff(recorded.index))
    return (
        f"the final yaw error is {final_error(real)} for the recorded IMU and "
        f"{final_error(simulated)} for the simulated IMU; the simulated robot is "
        f"{1000.0 * delay:.0f} ms late, and the recorded IMU has {new:.0f} new values per second"
    )


def _describe_error(compared: Comparison) -> str:
    (real, smooth), (simulated, smooth_simulated) = (
        (imu.statistics, np.degrees(imu.trend_statistics.maximum_absolute))
        for imu in _imus(compared)
    )
    ends = [final_error(imu) for imu in _imus(compared)]
    return (
        f"the smoothed yaw error reaches {smooth:.2f} deg (recorded) and "
        f"{smooth_simulated:.2f} deg (simulated); the recorded error drifts by "
        f"{60.0 * np.degrees(real.drift):.2f} deg/min to a final {ends[0]}, the simulated error "
        f"has {np.degrees(simulated.rms):.2f} deg rms and a final {ends[1]}"
    )


def final_error(comparison: YawComparison) -> str:
    """Format the yaw error at the end of a drive.

    Parameters
    ----------
    comparison : YawComparison
        Compared yaw signals of an IMU.

    Returns
    -------
    str
        Angle in degrees.
    """
    return f"{np.degrees(comparison.statistics.final):.2f} deg"


def require_spectrum(spectrum: Spectrum | None) -> Spectrum:
    """Return a spectrum, or raise an error if there is none.

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
        There is no spectrum, because the drive is too short.
    """
    if spectrum is None:
        raise RecordingError("a drive has too few samples for a power spectral density")
    return spectrum


def describe_powers(recorded: Spectrum, simulated: Sequence[Spectrum]) -> str:
    """Compare the power of a recorded spectrum to that of simulated spectra, by frequency band.

    Parameters
    ----------
    recorded : Spectrum
        Spectrum of the recorded IMU.
    simulated : sequence of Spectrum
        Spectra of simulated IMUs.

    Returns
    -------
    str
        Message without a full stop.
    """
    ratios, spectra = [], [recorded, *simulated]
    for low, high in _BANDS:
        inside = [
            (spectrum.frequency >= low) & (spectrum.frequency <= high) for spectrum in spectra
        ]
        if not all(map(np.any, inside)):
            continue  # the spectrum of a short drive does not extend to such low frequencies
        power, *others = (
            np.sum(spectrum.density[band]) * spectrum.frequency[0]
            for spectrum, band in zip(spectra, inside)
        )
        where = f"below {high:g} Hz" if not low else f"from {low:g} to {high:g} Hz"
        where = f"above {low:g} Hz" if np.isinf(high) else where
        # The ratio is formatted with two digits and without an exponent.
        ratios.append(f"{float(f'{power / np.mean(others):.2g}'):,.15g} times {where}")
    return f"ratio of recorded to mean simulated power: {', '.join(ratios)}"


def _describe_spectra(attribute):
    def describe(compared: Comparison) -> str:
        recorded, simulated = (require_spectrum(getattr(imu, attribute)) for imu in _imus(compared))
        return describe_powers(recorded, [simulated])

    return describe


def describe_peaks(spectra: Mapping[str, Spectrum]) -> str:
    """Describe the frequency of the spectral peak of each drive, above the drift band.

    Parameters
    ----------
    spectra : mapping of str to Spectrum
        Spectra by letter of the drive.

    Returns
    -------
    str
        Message without a full stop.
    """
    lowest, peaks = _BANDS[0][1], []
    for letter, spectrum in spectra.items():
        inside = (spectrum.frequency >= lowest) & (spectrum.frequency <= MAX_FREQUENCY)
        peak = spectrum.frequency[inside][np.argmax(spectrum.density[inside])]
        peaks.append(f"{peak:.4f} Hz ({letter.upper()})")
    return f"peak density from {lowest:g} to {MAX_FREQUENCY:g} Hz at {', '.join(peaks)}"


_DESCRIPTIONS = {
    "trajectory": _describe_tracking,
    "control_error": _describe_tracking,
    "imu_yaw": _describe_yaw,
    "yaw_error": _describe_error,
    "yaw_psd": _describe_spectra("yaw_spectrum"),
    "yaw_errors_psd": _describe_spectra("error_spectrum"),
}
