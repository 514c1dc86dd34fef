"""Orientation with a magnetic heading: direction of north, and disturbed fields."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from true_signals import GRAVITY, PERIOD, angles_between, tumbling

import imu_simulation_framework as isf
from imu_simulation_framework.core.angles import difference, yaw_from_quaternion
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.fusion.filters import fuse_run, make_filter
from imu_simulation_framework.sensors.fusion.magnetic_heading import MagneticHeading

# Magnetic north is along the y axis, with an inclination as in central Europe.
EARTH = np.array([0.0, 20e-6, -45e-6])
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
FILTERS = ("mahony", "vqf")
KINDS = [
    {"filter": filter, "filter_rate_bias": bias, "magnetic_disturbance_rejection": rejection}
    for filter in FILTERS
    for bias in (False, True)
    for rejection in (False, True)
]


def _filter(**settings):
    settings = {"magnetic_heading": True, **settings}
    return make_filter(isf.OutputSpecification(**settings), PERIOD)


def _readings(truth, earth=EARTH):
    """Return the ideal specific force and magnetic field at each orientation."""
    turned = Rotation.from_quat(truth).inv()
    return turned.apply([0.0, 0.0, GRAVITY]), turned.apply(earth)


def _tumbling(samples=2000):
    truth, rate, _ = tumbling(samples)
    return (truth, rate, *_readings(truth))


def _turning(samples, yaw_rate=0.0, yaw=0.7):
    """Return the signals of a level sensor that turns steadily."""
    truth = Rotation.from_euler("z", yaw + yaw_rate * PERIOD * np.arange(samples)).as_quat()
    rates = np.tile([0.0, 0.0, yaw_rate], (samples, 1))
    return (truth, rates, *_readings(truth))


def _yaw_errors(truth, rate, force, field, start=LEVEL, **settings):
    fused = fuse_run(_filter(**settings), start, rate, force, field)
    return difference(yaw_from_quaternion(fused), yaw_from_quaternion(truth))


@pytest.mark.parametrize("settings", KINDS)
def test_magnetic_heading_from_perfect_readings_is_correct_for_any_initial_yaw(settings):
    truth, *signals = _tumbling()
    fused = fuse_run(_filter(**settings), LEVEL, *signals)
    # vqf's low-pass filter of the accelerometer lags slightly, which affects its bias estimate.
    vqf = 1e-3 if settings["filter_rate_bias"] else 1e-5
    assert angles_between(fused, truth).max() < (1e-11 if settings["filter"] == "mahony" else vqf)


@pytest.mark.parametrize("settings", KINDS)
def test_magnetic_heading_run_matches_single_samples_and_blocks(settings):
    truth, *signals = _tumbling(1500)
    generator = np.random.default_rng(1)
    for signal, size in zip(signals, (0.05, 0.2, 2e-6)):
        signal += generator.normal(size=signal.shape) * size
    # A magnet passes by.
    signals[2][500:900] += [30e-6, 0.0, 40e-6]
    series = fuse_run(_filter(**settings), truth[0], *signals)
    for pieces in (range(1, 1501), (1, 4, 700, 1500)):
        streaming = _filter(**settings)
        parts = [[streaming.start(truth[0], signals[1][0], signals[2][0])]]
        for first, last in zip(pieces, pieces[1:]):
            if last == first + 1:
                parts.append([streaming.update(*(each[first] for each in signals))])
            else:
                parts.append(streaming.update_all(*(each[first:last] for each in signals)))
        np.testing.assert_allclose(np.vstack(parts), series, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("rejection", [False, True])
@pytest.mark.parametrize("rate_bias", [False, True])
def test_vqf_filter_matches_vqf_library(rate_bias, rejection):
    from vqf import VQF

    truth, rate, force, field = _tumbling(3000)
    field += np.random.default_rng(2).normal(size=field.shape) * 1e-6
    field[1000:1500] += 40e-6
    times = {"filter_time_constant": 2.0, "magnetic_time_constant": 5.0}
    biased = {"filter_rate_bias": rate_bias, "magnetic_disturbance_rejection": rejection}
    reported = dict.fromkeys(("motionBiasEstEnabled", "restBiasEstEnabled"), rate_bias)
    library = VQF(PERIOD, tauAcc=2.0, tauMag=5.0, magDistRejectionEnabled=rejection, **reported)
    rate[0] = 0.0
    expected = np.roll(library.updateBatch(rate, force, field)["quat9D"], -1, axis=1)
    fused = fuse_run(_filter(filter="vqf", **biased, **times), truth[0], rate, force, field)
    np.testing.assert_allclose(fused, expected, rtol=0.0, atol=1e-15)


@pytest.mark.parametrize(
    "filter, rejection",
    [
        *((filter, rejection) for filter in FILTERS for rejection in (False, True)),
        ("compass", False),
    ],
)
def test_yaw_towards_magnetic_north_is_90_degrees_minus_declination(filter, rejection):
    # Magnetic north is 10 degrees east of true north; the sensor points to magnetic north.
    declination = math.radians(10.0)
    east_of_north = Rotation.from_euler("z", -declination).apply(EARTH)
    heading = math.pi / 2.0 - declination
    truth = np.tile(Rotation.from_euler("z", heading).as_quat(), (300, 1))
    force, field = _readings(truth, east_of_north)
    assert field[0] == pytest.approx([20e-6, 0.0, -45e-6])
    settings = {"filter": filter, "magnetic_disturbance_rejection": rejection}
    for reported, expected in ((0.0, math.pi / 2.0), (declination, heading)):
        computed = _filter(magnetic_declination=reported, **settings)
        fused = fuse_run(computed, truth[0], np.zeros((300, 3)), force, field)
        assert yaw_from_quaternion(fused) == pytest.approx(np.full(300, expected), abs=1e-9)


@pytest.mark.parametrize("filter", FILTERS)
def test_constant_rate_bias_causes_heading_error_of_bias_times_time_constant(filter):
    bias, constant = 0.002, 5.0
    truth, rate, force, field = _turning(6000, 0.1)
    rate[:, 2] += bias
    settings = {"filter": filter, "magnetic_time_constant": constant}
    errors = _yaw_errors(truth, rate, force, field, **settings)
    assert errors[-1] == pytest.approx(bias * constant, rel=0.01)
    # Without the magnetometer, the error grows.
    drifted = _yaw_errors(truth, rate, force, None, truth[0], filter=filter, magnetic_heading=False)
    assert drifted[-1] == pytest.approx(bias * 60.0, rel=0.01)


def test_vertical_rate_bias_is_estimated_and_magnetometer_does_not_affect_tilt():
    # With the estimate c, e' = b - e / T - c and c' = e / 16 T^2; the slower time constant remains.
    truth, rate, force, field = _turning(6000)
    rate[:, 2] += 0.002
    for tilt_time in (2.0, 8.0):
        times = {"filter_time_constant": tilt_time, "magnetic_time_constant": 4.0}
        errors = _yaw_errors(truth, rate, force, field, filter_rate_bias=True, **times)
        slower = 8.0 / (1.0 - math.sqrt(0.75))
        assert errors[5999] / errors[3999] == pytest.approx(math.exp(-20.0 / slower), rel=0.01)
    truth, rate, force, field = _tumbling()
    generator = np.random.default_rng(3)
    force += generator.normal(size=force.shape)
    field += generator.normal(size=field.shape) * 20e-6
    plain = fuse_run(_filter(magnetic_heading=False), truth[0], rate, force)
    north = fuse_run(_filter(), truth[0], rate, force, field)
    up = [Rotation.from_quat(each).inv().apply([0.0, 0.0, 1.0]) for each in (plain, north)]
    np.testing.assert_allclose(up[0], up[1], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("filter", FILTERS)
def test_disturbance_rejection_preserves_heading_near_magnet(filter):
    # The sensor turns at 30 deg/s, because vqf accepts a field only if the sensor turns.
    samples = 15_000
    truth, rate, force, field = _turning(samples, math.radians(30.0))
    # For five seconds, the field is horizontal, stronger and rotated by 90 degrees.
    passing = field.copy()
    passing[3000:3500] = _readings(truth[3000:3500], np.array([60e-6, 0.0, 0.0]))[1]
    kept, lost = (
        np.abs(_yaw_errors(truth, rate, force, passing, filter=filter, **rejection)).max()
        for rejection in ({"magnetic_disturbance_rejection": True}, {})
    )
    assert lost > math.radians(30.0)
    assert kept < math.radians(1.0)


def _seen(heading, seconds, field=(60e-6, 0.0, 0.0), speed=0.0):
    """Return the heading offset after each second in a constant magnetic field."""
    offsets = []
    for _ in range(seconds):
        for _ in range(100):
            heading.correct(*field, speed)
        offsets.append(heading.offset)
    return offsets


def test_disturbed_field_is_accepted_after_one_minute_or_during_turns():
    for speed, accepted in ((0.5, True), (0.0, False)):
        heading = MagneticHeading(PERIOD, 9.0, rejection=True)
        _seen(heading, 5, EARTH, speed)
        for second in range(30):
            _seen(heading, 1, speed=speed)
            assert heading.disturbed is (second < 20 or not accepted)
        assert (abs(heading.offset) > 0.5) is accepted
    heading = MagneticHeading(PERIOD, 9.0, rejection=True)
    offsets = [_seen(heading, 10, EARTH)[-1], *_seen(heading, 69)]
    # The filtered norm and dip converge to the new field within a few hundredths of a second.
    assert np.abs(np.diff(offsets[:60])).max() < 0.1 * math.pi / 9.0
    # The gain is halved for nine seconds, starting from 90 degrees.
    assert offsets[-1] == pytest.approx(math.pi / 2.0 * (1.0 - math.exp(-0.5)), rel=0.1)
    heading = MagneticHeading(PERIOD, 9.0, rejection=True)
    lasted = []
    for _ in range(2):
        # More than half a minute of undisturbed field offsets one minute of disturbance.
        _seen(heading, 40, EARTH)
        lasted.append(0)
        while heading.correct(60e-6, 0.0, 0.0, 0.0) == 0.0 or not heading.disturbed:
            lasted[-1] += 1
            assert lasted[-1] < 7000
    # The field counts as undisturbed until the low-pass filter of 0.05 s has settled.
    assert lasted == pytest.approx([6000, 6000], abs=15)


# Field directions [rad]; one of them is more than 180 degrees from a declination of 1 rad.
BEYOND = np.repeat([-3.0, 3.0], 40)
WITHOUT_LEVEL = np.array([[20e-6, 0.0, 20e-6], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])


@pytest.mark.parametrize(
    "declination, fields",
    [
        *(
            (sign, 20e-6 * np.stack([np.sin(sign * BEYOND), np.cos(BEYOND), 0.0 * BEYOND]))
            for sign in (-1.0, 1.0)
        ),
        (0.0, WITHOUT_LEVEL),
    ],
)
def test_heading_correction_of_series_matches_single_readings(declination, fields):
    series, stepped = (MagneticHeading(PERIOD, 0.1, declination=declination) for _ in range(2))
    expected = []
    for reading in fields.T:
        assert abs(stepped.correct(*reading, 0.0)) <= math.pi
        expected.append(stepped.offset)
    parts = fields[:, :40], fields[:, 40:]
    actual = [series.correct_all(some, np.zeros(some.shape[1])) for some in parts]
    np.testing.assert_allclose(np.concatenate(actual), expected, rtol=0.0, atol=1e-12)


def test_field_readings_without_horizontal_component_are_ignored():
    heading = MagneticHeading(PERIOD, 9.0)
    heading.correct(*EARTH, 0.0)
    assert heading.correct(0.0, 0.0, -45e-6, 0.0) == 0.0
    assert heading.correct(math.nan, 0.0, 1.0, 0.0) == 0.0


@pytest.mark.parametrize("filter", FILTERS)
def test_magnetic_heading_without_field_signal_is_rejected(filter):
    truth, rate, force, _ = _turning(10)
    with pytest.raises(ConfigurationError, match="magnetic_heading is true"):
        fuse_run(_filter(filter=filter), truth[0], rate, force)


NORTH = isf.OutputSpecification(magnetic_heading=True)


@pytest.mark.parametrize(
    "kind, settings, words",
    [
        (isf.ImuSpecification, {"output": NORTH}, r"magnetic_heading is true"),
        (
            isf.OutputSpecification,
            {"magnetic_disturbance_rejection": True},
            "magnetic_disturbance_rejection",
        ),
        (isf.OutputSpecification, {"magnetic_declination": 180.0}, "magnetic_declination is 180"),
    ],
)
def test_inconsistent_magnetic_settings_are_rejected(kind, settings, words):
    with pytest.raises(ConfigurationError, match=words):
        kind(**settings)


@pytest.mark.parametrize(
    "share, degrees, disturbed",
    [
        *((share, 0.0, abs(share - 1.0) > 0.1) for share in (0.91, 1.09, 0.89, 1.11)),
        *((1.0, degrees, abs(degrees) > 10.0) for degrees in (9.5, 10.5, -9.5, -10.5)),
    ],
)
def test_field_beyond_tolerances_of_norm_and_dip_is_treated_as_disturbed(share, degrees, disturbed):
    heading = MagneticHeading(PERIOD, 9.0, rejection=True)
    for norm, dip in ((50e-6, 60.0), (share * 50e-6, 60.0 + degrees)):
        level, down = norm * math.cos(math.radians(dip)), norm * math.sin(math.radians(dip))
        _seen(heading, 5, (0.0, level, -down))
    assert heading.disturbed is disturbed
