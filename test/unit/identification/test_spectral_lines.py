import numpy as np
import pytest
from scipy.signal import butter, lfilter

from imu_simulation_framework.characterisation.allan import extended
from imu_simulation_framework.characterisation.allan.extended import remove_lines
from imu_simulation_framework.characterisation.allan.model import overlapping_allan_variance

RATE = 50.0
LENGTH = 100_000
FACTORS = np.array([1, 2, 5, 12, 30, 50, 100, 300, 1000, 5000])


def noise(seed=1):
    return np.random.default_rng(seed).standard_normal(LENGTH)


def sine(frequency, amplitude):
    return amplitude * np.sin(2.0 * np.pi * frequency * np.arange(LENGTH) / RATE + 1.0)


@pytest.mark.parametrize(
    "frequency, amplitude", [(0.47, 0.3), (0.47, 3.0), (12.34567, 10.0), (24.99, 1.0)]
)
def test_a_line_is_told_and_the_noise_stays_as_it_was(frequency, amplitude):
    clean = noise()
    parts, lines = remove_lines([clean + sine(frequency, amplitude)], RATE)
    assert len(lines) == 1
    assert lines[0].frequency == pytest.approx(frequency, abs=0.01)
    # Known to sqrt(2 / n) of the noise, 0.0045; the window spreads some of a weak one.
    assert lines[0].amplitude == pytest.approx(amplitude, rel=0.05)
    before = overlapping_allan_variance([clean], RATE, FACTORS)
    after = overlapping_allan_variance(parts, RATE, FACTORS)
    # Scaled back are some seven bins of 4 mHz: so much of the noise may have changed.
    assert np.abs(after / before - 1.0).max() < 0.02 + 7 * 0.004 / frequency


def test_lines_are_taken_out_up_to_the_ends_of_each_part():
    signal = noise() + sine(3.3, 5.0)
    parts, lines = remove_lines([signal[:60_000], signal[60_700:]], RATE)
    assert [len(part) for part in parts] == [60_000, 39_300]
    assert lines[0].frequency == pytest.approx(3.3, abs=0.01)
    for part in parts:
        for end in (part[:500], part[-500:]):
            # Left would be a variance of 12.5; noise has 1, known from 500 samples to 0.063.
            assert np.var(end) < 1.0 + 5.0 * 0.063


@pytest.mark.parametrize("seed", range(4))
def test_noise_that_drifts_has_no_lines(seed):
    generator = np.random.default_rng(seed)
    signal = noise(seed) + 0.01 * np.cumsum(generator.standard_normal(LENGTH))
    parts, lines = remove_lines([signal], RATE)
    assert lines == ()
    np.testing.assert_array_equal(parts[0], signal)


def test_a_resonance_is_no_line():
    numerator, denominator = butter(1, [6.0, 10.0], btype="bandpass", fs=RATE)
    hump = lfilter(numerator, denominator, 3.0 * noise(2))
    assert remove_lines([noise() + hump], RATE)[1] == ()


def test_a_recording_too_short_to_tell_stays_as_it_is():
    signal = (noise() + sine(10.0, 3.0))[:5000]
    parts, lines = remove_lines([signal], RATE)
    assert lines == ()
    np.testing.assert_array_equal(parts[0], signal)


def test_lines_are_the_same_with_some_segments_at_a_time(monkeypatch):
    generator = np.random.default_rng(8)
    times = np.arange(100_001) / 100.0
    signal = generator.standard_normal(len(times)) + 0.3 * np.sin(2.0 * np.pi * 7.3 * times)
    monkeypatch.setattr(extended, "_SEGMENTS_AT_ONCE", 1000)
    (whole,), lines = extended.remove_lines([signal], 100.0)
    monkeypatch.setattr(extended, "_SEGMENTS_AT_ONCE", 2)
    (pieces,), again = extended.remove_lines([signal], 100.0)
    assert len(lines) == len(again) == 1
    np.testing.assert_allclose(pieces, whole, atol=1e-12)
