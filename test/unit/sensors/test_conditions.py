"""Operating conditions: heating by power, supply voltage, low-pass filter, vibration."""

from functools import partial

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.signal import welch

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.motion import sources
from imu_simulation_framework.sensors.conditions import (
    TAPS,
    SupplyVoltage,
    Vibration,
    VibrationNoise,
)
from imu_simulation_framework.sensors.simulation import imu_model, imu_truth

RATE = 100.0
ROUND = sources.rounds(1.0, 5.0)
TRUTH = isf.OutputSpecification(orientation_reference="truth")
FLAT = Vibration(spectrum=((0.0, 0.02), (400.0, 0.02)))
SHAKEN = isf.ImuSpecification(vibration=FLAT)


def still(seconds, rate=RATE):
    return sources.at_rest(seconds, rate)


def signal(kind, imu, motion):
    return isf.simulate_imu(motion, imu)[[f"{kind}_{axis}" for axis in "xyz"]].to_numpy()


gyro, accel = partial(signal, "gyro"), partial(signal, "accel")


def test_power_heats_sensor_and_supply_voltage_changes_bias_and_scale_factor():
    power = ((10.0, 0.5), (40.0, 2.0), (200.0, 1.0))
    profile = isf.TemperatureProfile(
        start=20.0, end=20.0, time_constant=50.0, power=power, thermal_resistance=12.0
    )
    times = np.linspace(0.0, 400.0, 81)

    def slope(time, warmed):
        return (12.0 * np.interp(time, *zip(*power)) - warmed) / 50.0

    solved = solve_ivp(slope, (0.0, 400.0), [0.0], t_eval=times, rtol=1e-10, atol=1e-10, max_step=1)
    np.testing.assert_allclose(profile.at(times), 20.0 + solved.y[0], atol=1e-6)
    assert profile.at(times[7]) == profile.at(times)[7]
    motion = ROUND
    imu = isf.ImuSpecification(
        gyroscope=isf.TriadSpecification(supply_bias=1e-3, supply_scale_factor=0.01),
        supply=SupplyVoltage(3.3, ((0.0, 3.3), (10.0, 3.0))),
        output=TRUTH,
    )
    true = gyro(isf.ImuSpecification(output=TRUTH), motion)
    volts = (np.interp(motion.time - motion.time[0], [0.0, 10.0], [3.3, 3.0]) - 3.3)[:, np.newaxis]
    expected = true + 1e-3 * volts + 0.01 * volts * true
    np.testing.assert_allclose(gyro(imu, motion), expected, atol=1e-15)


def test_low_pass_filter_halves_power_at_bandwidth_and_passes_slow_signals():
    noise = isf.TriadSpecification(white_noise=1e-3, bandwidth=10.0)
    samples = gyro(isf.ImuSpecification(gyroscope=noise, output=TRUTH), still(2000.0))
    frequency, density = welch(samples, RATE, nperseg=1024, axis=0)
    density = density.mean(axis=1)
    # The mean of three axes and about 390 half-overlapping segments has a 4 % standard error.
    at = np.argmin(np.abs(frequency - 10.0))
    two_sided = 1e-6
    assert density[at] / (2.0 * two_sided) == pytest.approx(0.5, rel=0.15)
    slow = density[(frequency > 0.3) & (frequency < 2.0)].mean()
    assert slow / (2.0 * two_sided) == pytest.approx(1.0, rel=0.04)
    assert density[frequency > 40.0].max() < 0.01 * 2.0 * two_sided


def test_covariances_account_for_low_pass_filter_below_nyquist_frequency():
    imu = isf.ImuSpecification(gyroscope=isf.TriadSpecification(bandwidth=50.0), output=TRUTH)
    np.testing.assert_array_equal(gyro(imu, ROUND), gyro(isf.ImuSpecification(output=TRUTH), ROUND))
    noise = isf.TriadSpecification(white_noise=1e-3, bandwidth=10.0)
    imu = isf.ImuSpecification(gyroscope=noise, output=TRUTH)
    samples = gyro(imu, still(1000.0))
    # The noise is limited to 10 Hz: about 20 000 independent samples on each of three axes.
    assert imu.covariances()[1][0] == pytest.approx(np.var(samples), rel=0.03)


@pytest.mark.parametrize("bandwidth", [None, 30.0])
def test_sampled_vibration_density_includes_aliasing(bandwidth):
    spectrum = Vibration(spectrum=((60.0, 0.0), (80.0, 0.1), (130.0, 0.1), (131.0, 0.0)))
    density = spectrum.sampled_density(RATE, bandwidth)
    lines = np.linspace(0.0, 50.0, TAPS // 2 + 1)

    def one_sided(f):
        actual = np.interp(f, *zip(*spectrum.spectrum), left=0.0, right=0.0)
        return actual if bandwidth is None else actual / (1.0 + (f / bandwidth) ** 4)

    folded = (one_sided(k * RATE - lines) + one_sided(k * RATE + lines) for k in (1, 2))
    expected = one_sided(lines) + sum(folded)
    # Each computed value is a mean over 0.2 Hz. The unfiltered density changes by up to 0.1 within
    # 1 Hz and has a ramp that begins at 60 Hz.
    atol = 0.012 if bandwidth is None else 2e-4
    np.testing.assert_allclose(density[1:-1], expected[1:-1], rtol=0.02, atol=atol)
    if bandwidth is None:
        widths = np.full(len(lines), lines[1])
        widths[[0, -1]] *= 0.5
        assert np.sum(density * widths) == pytest.approx(spectrum.mean_square[0], rel=1e-4)


def test_vibration_samples_match_aliased_spectrum():
    vibration = Vibration(spectrum=((20.0, 0.05), (40.0, 0.01), (90.0, 0.02)), axes=(1.0, 0.5, 0.0))
    noise = VibrationNoise(vibration, RATE, None, np.random.SeedSequence(3))
    samples = noise.advance(200_000)
    frequency, density = welch(samples, RATE, nperseg=TAPS, axis=0)
    expected = vibration.sampled_density(RATE, None)
    near = (frequency > 12.0) & (frequency < 18.0)
    # The mean covers 780 half-overlapping segments and 30 frequencies.
    assert density[near, 0].mean() == pytest.approx(expected[near].mean(), rel=0.03)
    assert density[near, 1].mean() == pytest.approx(0.25 * expected[near].mean(), rel=0.03)
    assert not samples[:, 2].any()
    assert np.var(samples[:, 0]) == pytest.approx(vibration.mean_square[0], rel=0.02)


def test_vibration_amplitude_depends_on_speed_as_specified():
    vibration = Vibration(spectrum=FLAT.spectrum, reference_speed=2.0, exponent=1.5, idle=0.1)
    expected = np.sqrt(0.01 + np.array([0.0, 0.5, 1.0, 2.0]) ** 3)
    np.testing.assert_allclose(vibration.amplitude(np.array([0.0, -1.0, 2.0, 4.0])), expected)


def test_vibration_rectification_is_proportional_to_mean_square():
    imu = isf.ImuSpecification(
        gyroscope=isf.TriadSpecification(
            vibration_rectification=(0.0, 0.0, 2e-5), g_sensitivity=np.diag([0.0, 0.0, 1e-4])
        ),
        vibration=FLAT,
        output=TRUTH,
    )
    speed = 0.5
    motion = sources.straight(400.0, speed, RATE)
    power = 8.0 * speed**2  # mean square: 0.02 (m/s^2)^2/Hz over 400 Hz

    # The sampled vibration has no discrete spectral line at zero frequency.
    mean = 1e-4 * motion.gravity + 2e-5 * 3.0 * power
    error = 1e-4 * np.sqrt(0.02 * speed**2 * 4.0 / 400.0)
    assert gyro(imu, motion)[:, 2].mean() == pytest.approx(mean, abs=4.0 * error)


def test_nonlinear_accelerometer_rectifies_filtered_vibration():
    bent = np.array([2e-3, -1e-3, 5e-4])
    # The vibration is far above the bandwidth, so only its mean square of 8 at 1 m/s remains.
    vibration = Vibration(spectrum=((2000.0, 0.02), (2400.0, 0.02)), axes=(1.0, 0.5, 2.0))
    imu = isf.ImuSpecification(
        gyroscope=isf.TriadSpecification(nonlinearity=0.1),
        accelerometer=isf.TriadSpecification(nonlinearity=bent, bandwidth=20.0),
        vibration=vibration,
        output=TRUTH,
    )
    motion = sources.straight(20.0, 0.5, RATE)
    force = np.array([0.0, 0.0, motion.gravity])
    expected = bent * (force**2 + 8.0 * 0.5**2 * np.array([1.0, 0.25, 4.0]))
    actual = accel(imu, motion).mean(axis=0) - force
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=1e-5)
    # The nonlinearity of the gyroscope squares rates, which the vibration does not change.
    assert not gyro(imu, motion).any()


def test_linear_model_includes_supply_voltage_nonlinearity_and_vibration_rectification():
    motion = sources.rounds(4.0, 5.0)
    imu = isf.ImuSpecification(
        gyroscope=isf.TriadSpecification(
            supply_bias=(0.0, 0.0, 1e-3),
            nonlinearity=(0.0, 0.0, 0.05),
            vibration_rectification=(0.0, 0.0, 0.05),
        ),
        supply=SupplyVoltage(3.3, ((0.0, 3.3), (60.0, 3.0))),
        # The vibration is weak, because strong vibration would tilt the fused orientation.
        vibration=Vibration(spectrum=((0.0, 2e-6), (400.0, 2e-6))),
    )
    model = isf.yaw_error_model(imu, motion)
    table = isf.simulate_imu(motion, imu)
    error = motion.yaw - table["yaw"].to_numpy()
    error = np.interp(model.time, motion.time - motion.time[0], error - error[0])
    computed = model.mean()
    np.testing.assert_allclose(error, computed, atol=2e-3 * np.max(np.abs(computed)))
    assert {"supply voltage", "nonlinearity", "rectified vibration"} <= set(model.names)


@pytest.mark.parametrize(
    "make, word",
    [
        (lambda: Vibration(spectrum=((2.0, 1.0), (1.0, 1.0))), "from 2 Hz to 1 Hz"),
        (lambda: Vibration(spectrum=((1.0, 1.0), (2.0, -1.0))), "spectrum is -1.0"),
        (lambda: isf.TemperatureProfile(table=((0, 1),), power=((0, 1),)), "power"),
        (lambda: SupplyVoltage(table=3.3), "table"),
        (lambda: imu_model(SHAKEN, 0.01).batch(imu_truth(still(1.0))), "vibration.* speed"),
    ],
)
def test_invalid_sensor_conditions_are_rejected(make, word):
    with pytest.raises(ConfigurationError, match=word):
        make()
