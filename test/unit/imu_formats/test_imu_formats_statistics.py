import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from scipy.signal import lfilter

from imu_simulation_framework.sensors.formats.base import WriteOptions
from imu_simulation_framework.sensors.formats.registry import write_imu_parameters
from imu_simulation_framework.sensors.imu_models.base import ImuTruth
from imu_simulation_framework.sensors.imu_models.plugins import HectorImu, HectorParameters
from imu_simulation_framework.sensors.imu_specification import ImuSpecification, TriadSpecification

WANTED = [
    # Standard deviation, correlation time [s], rate [Hz].
    (0.05, 0.2, 100.0),
    (2e-3, 0.6, 50.0),
    (7.0, 0.1, 200.0),
]
TRANSIENT_TIMES = 12  # correlation times until exp(-12), below 1e-5, of the beginning is left
STANDARD_ERRORS = 4


def standard_error(samples, correlation):
    """Relative standard error of an AR(1) process's standard deviation.

    From the effective sample size for a variance, ``n (1 - phi^2) / (1 + phi^2)``.
    """
    effective = samples * (1.0 - correlation**2) / (1.0 + correlation**2)
    return 1.0 / np.sqrt(2.0 * effective)


def tags(text):
    root = ElementTree.fromstring(text)
    return {tag.tag: tag.text for tag in root.iter()}


def specification(sigma, time):
    triad = TriadSpecification(gauss_markov_sigma=sigma, gauss_markov_time=time)
    return ImuSpecification(gyroscope=triad, accelerometer=triad)


@pytest.mark.parametrize("sigma, time, rate", WANTED)
def test_hectors_numbers_give_the_wanted_drift_in_the_plug_in(sigma, time, rate):
    # The yaw is an angle, which would wrap: it gets a smaller wish.
    yaw_sigma = 0.01 * min(sigma, 1.0)
    options = WriteOptions(yaw_drift=(yaw_sigma, time))
    written = tags(write_imu_parameters(specification(sigma, time), "hector", rate, options).text)
    parameters = HectorParameters(
        rate_drift=float(written["rateDrift"].split()[2]),
        rate_drift_frequency=float(written["rateDriftFrequency"].split()[2]),
        yaw_drift=float(written["yawDrift"]),
        yaw_drift_frequency=float(written["yawDriftFrequency"]),
    )
    model = HectorImu(parameters, 1.0 / rate, 41)
    correlation = np.exp(-1.0 / (rate * time))
    transient = int(TRANSIENT_TIMES * rate * time)
    samples = transient + int(21_000 * rate * time)
    truth = ImuTruth(
        np.broadcast_to([0.0, 0.0, 0.0, 1.0], (samples, 4)),
        np.broadcast_to(np.zeros(3), (samples, 3)),
        np.broadcast_to([0.0, 0.0, 9.81], (samples, 3)),
    )
    reading = model.batch(truth, parts=("angular_velocity_bias", "yaw_bias"))
    rates = reading.angular_velocity_bias[:, transient:].reshape(-1, 3)
    for values, wanted in ((rates, sigma), (reading.yaw_bias[:, transient:], yaw_sigma)):
        error = standard_error(values.size, correlation)
        assert STANDARD_ERRORS * error < 0.02
        ratio = np.sqrt(np.mean(np.square(values))) / wanted
        assert abs(ratio - 1.0) < STANDARD_ERRORS * error


def gazebo_bias(density, time, rate, samples, generator):
    """The dynamic bias of Gazebo's GaussianNoiseModel and of RotorS, from zero."""
    period = 1.0 / rate
    correlation = np.exp(-period / time)
    innovation = np.sqrt(-(density**2) * time / 2.0 * (np.exp(-2.0 * period / time) - 1.0))
    return lfilter([1.0], [1.0, -correlation], innovation * generator.standard_normal(samples))


@pytest.mark.parametrize("sigma, time, rate", WANTED)
@pytest.mark.parametrize(
    "name, density_tag, time_tag",
    [
        ("sdf", "dynamic_bias_stddev", "dynamic_bias_correlation_time"),
        ("rotors", "gyroscopeBiasRandomWalk", "gyroscopeBiasCorrelationTime"),
        ("unity", "dynamic_bias_stddev", "dynamic_bias_correlation_time"),
    ],
)
def test_gazebos_numbers_give_the_wanted_dynamic_bias(
    name, density_tag, time_tag, sigma, time, rate
):
    written = tags(write_imu_parameters(specification(sigma, time), name, rate).text)
    transient = int(TRANSIENT_TIMES * rate * time)
    samples = int(40_000 * rate * time)
    bias = gazebo_bias(
        float(written[density_tag]),
        float(written[time_tag]),
        rate,
        transient + samples,
        np.random.default_rng(42),
    )[transient:]
    error = standard_error(samples, np.exp(-1.0 / (rate * time)))
    assert STANDARD_ERRORS * error < 0.02
    assert abs(np.sqrt(np.mean(bias**2)) / sigma - 1.0) < STANDARD_ERRORS * error
    # And the correlation time: that of the samples one correlation time apart is 1 / e.
    lag = int(rate * time)
    correlation = np.mean(bias[lag:] * bias[:-lag]) / np.mean(bias**2)
    # Bartlett's formula for a first-order process bounds its standard error.
    assert abs(correlation - np.exp(-1.0)) < STANDARD_ERRORS * np.sqrt(2.0) * error
