"""Findings from the figures of the thesis, and selection of figures."""

import numpy as np
import pytest

from imu_simulation_framework.core.errors import ConfigurationError, RecordingError
from imu_simulation_framework.core.signals import Spectrum
from imu_simulation_framework.drive.thesis.findings import (
    describe_peaks,
    describe_powers,
    require_spectrum,
)
from imu_simulation_framework.drive.thesis.items import choose_items

FREQUENCY = np.arange(1, 10001) / 1000.0  # Hz


def spectrum(density):
    return Spectrum(FREQUENCY, density * np.ones(len(FREQUENCY)), 20.0, 20000, 1)


def test_band_powers_are_relative_to_mean_simulated_spectrum():
    recorded = np.where(FREQUENCY <= 0.01, 60.0, np.where(FREQUENCY < 1.0, 3.0, 1.5))
    sentence = describe_powers(spectrum(recorded), [spectrum(2.0), spectrum(4.0)])
    for ratio in ("20 times below 0.01 Hz", "1 times from 0.02 to 0.2 Hz", "0.5 times above 1 Hz"):
        assert ratio in sentence


def test_spectrum_peak_is_searched_only_at_low_frequencies():
    density = np.where(np.isclose(FREQUENCY, 0.015), 5.0, 1.0)
    density[0], density[-1] = 100.0, 100.0
    assert "0.0150 Hz (A)" in describe_peaks({"a": spectrum(density)})


def test_missing_spectrum_is_rejected():
    with pytest.raises(RecordingError, match="power spectral density"):
        require_spectrum(None)


def test_figure_number_shared_by_two_figures_selects_both():
    assert [item.label for item in choose_items(["3.10", "4.4"])] == ["3.10a", "3.10b", "4.2, 4.4"]
    with pytest.raises(ConfigurationError, match=r"4\.25"):
        choose_items(["4.25"])
