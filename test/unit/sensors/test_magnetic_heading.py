"""Orientation with a magnetic heading: which way north is, and what disturbed fields do to it."""

import math

import numpy as np
import pytest
from fused_runs import fuse
from scipy.spatial.transform import Rotation

import imu_simulation_framework as isf
from imu_simulation_framework.core.angles import difference, yaw_from_quaternion
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.fusion.choice import fuse_run, make_filter
from imu_simulation_framework.sensors.fusion.magnetic_heading import MagneticHeading

PERIOD = 0.01
GRAVITY = 9.81
# Magnetic north is the y axis, as steep as in central Europe.
EARTH = np.array([0.0, 20e-6, -45e-6])
FILTERS = ("mahony", "vqf")
KINDS = [
    {"filter": filter, "filter_rate_bias": bias, "magnetic_disturbance_rejection": rejection}
    for filter in FILTERS
    for bias in (False, True)
    for rejection in (False, True)
]


def _output(**settings):
    return isf.OutputSpecification(**{"magnetic_heading": True, **settings})


def _readings(truth, earth=EARTH):
    """Forces and fields of orientations, without errors."""
    turned = Rotation.from_quat(truth).inv()
    return turned.apply([0.0, 0.0, GRAVITY]), turned.apply(earth)


def _tumbling(samples=2000, seed=3):
    generator = np.random.default_rng(seed)
    rates = np.cumsum(generator.normal(size=(samples, 3)), axis=0) * 0.03
    rates -= rates.mean(axis=0)
    orientations = [Rotation.from_euler("ZYX", [2.0, 0.3, -0.2])]
    for step in Rotation.from_rotvec(rates[1:] * PERIOD):
        orientations.append(orientations[-1] * step)
    truth = Rotation.concatenate(orientations).as_quat()
    return (truth, rates, *_readings(truth))


def _turning(samples, yaw_rate=0.0, yaw=0.7):
    """A level sensor that turns steadily."""
    truth = Rotation.from_euler("z", yaw + yaw_rate * PERIOD * np.arange(samples)).as_quat()
    rates = np.tile([0.0, 0.0, yaw_rate], (samples, 1))
    return (truth, rates, *_readings(truth))


def _yaw_errors(output, truth, rate, force, field, start=(0.0, 0.0, 0.0, 1.0)):
    fused = fuse_run(make_filter(output, PERIOD), np.array(start), rate, force, field)
    return difference(yaw_from_quaternion(fused), yaw_from_quaternion(truth))


@pytest.mark.parametrize("settings", KINDS)
def test_perfect_readings_give_the_true_orientation_whatever_yaw_it_was_told(settings):
    truth, rate, force, field = _tumbling()
    fused = fuse_run(make_filter(_output(**settings), PERIOD), [0, 0, 0, 1], rate, force, field)
    errors = (Rotation.from_quat(fused) * Rotation.from_quat(truth).inv()).magnitude()
    # vqf's low-pass of the accelerometer lags a little, which its estimate of the bias believes.
    vqf = 1e-3 if settings["filter_rate_bias"] else 1e-5
    assert errors.max() < (1e-11 if settings["filter"] == "mahony" else vqf)


@pytest.mark.parametrize("settings", KINDS)
def test_many_runs_equal_one_by_one_equal_sample_by_sample(settings):
    output = _output(**settings)
    truth, rate, force, field = _tumbling(1500)
    generator = np.random.default_rng(1)
    noisy = [
        signal + generator.normal(size=(2, *signal.shape)) * size
        for signal, size in ((rate, 0.05), (force, 0.2), (field, 2e-6))
    ]
    # A magnet passes by.
    noisy[2][:, 500:900] += [30e-6, 0.0, 40e-6]
    together = fuse(output, PERIOD, truth[0], *noisy)
    for run in range(2):
        signals = [signal[run] for signal in noisy]
        streaming = make_filter(output, PERIOD)
        stepped = [streaming.start(truth[0], signals[1][0], signals[2][0])]
        stepped += [streaming.update(*sample) for sample in zip(*(each[1:] for each in signals))]
        np.testing.assert_allclose(stepped, together[run], rtol=0.0, atol=1e-12)
        # In pieces, too, a short one among them.
        pieces = make_filter(output, PERIOD)
        parts = [[pieces.start(truth[0], signals[1][0], signals[2][0])]]
        for first, last in ((1, 4), (4, 700), (700, 1500)):
            parts.append(pieces.update_all(*(each[first:last] for each in signals)))
        np.testing.assert_allclose(np.vstack(parts), together[run], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("rejection", [False, True])
@pytest.mark.parametrize("rate_bias", [False, True])
def test_vqf_is_the_library_called_by_itself(rate_bias, rejection):
    from vqf import VQF

    truth, rate, force, field = _tumbling(3000)
    field = field + np.random.default_rng(2).normal(size=field.shape) * 1e-6
    field[1000:1500] += 40e-6
    ours = make_filter(
        _output(
            filter="vqf",
            filter_rate_bias=rate_bias,
            magnetic_disturbance_rejection=rejection,
            filter_time_constant=2.0,
            magnetic_time_constant=5.0,
        ),
        PERIOD,
    )
    library = VQF(
        PERIOD,
        tauAcc=2.0,
        tauMag=5.0,
        motionBiasEstEnabled=rate_bias,
        restBiasEstEnabled=rate_bias,
        magDistRejectionEnabled=rejection,
    )
    rate[0] = 0.0
    expected = np.roll(library.updateBatch(rate, force, field)["quat9D"], -1, axis=1)
    fused = fuse_run(ours, truth[0], rate, force, field)
    np.testing.assert_allclose(fused, expected, rtol=0.0, atol=1e-15)


@pytest.mark.parametrize(
    "filter, rejection",
    [
        *((filter, rejection) for filter in FILTERS for rejection in (False, True)),
        ("compass", False),
    ],
)
def test_yaw_is_ninety_degrees_towards_magnetic_north_less_the_declination(filter, rejection):
    # Magnetic north is 10 degrees east of true north; the sensor heads for magnetic north.
    declination = math.radians(10.0)
    east_of_north = Rotation.from_euler("z", -declination).apply(EARTH)
    heading = math.pi / 2.0 - declination
    truth = np.tile(Rotation.from_euler("z", heading).as_quat(), (300, 1))
    force, field = _readings(truth, east_of_north)
    assert field[0] == pytest.approx([20e-6, 0.0, -45e-6])
    signals = np.zeros((300, 3)), force, field
    for told, expected in ((0.0, math.pi / 2.0), (declination, heading)):
        fused = fuse_run(
            make_filter(
                _output(
                    filter=filter,
                    magnetic_declination=told,
                    magnetic_disturbance_rejection=rejection,
                ),
                PERIOD,
            ),
            truth[0],
            *signals,
        )
        assert yaw_from_quaternion(fused) == pytest.approx(np.full(300, expected), abs=1e-9)


@pytest.mark.parametrize("filter", FILTERS)
def test_a_constant_bias_leaves_an_error_of_bias_times_time_constant(filter):
    bias, constant = 0.002, 5.0
    truth, rate, force, field = _turning(6000, 0.1)
    errors = _yaw_errors(
        _output(filter=filter, magnetic_time_constant=constant),
        truth,
        rate + [0, 0, bias],
        force,
        field,
    )
    assert errors[-1] == pytest.approx(bias * constant, rel=0.01)
    # Without the magnetometer it grows.
    without = isf.OutputSpecification(filter=filter)
    drifted = _yaw_errors(without, truth, rate + [0, 0, bias], force, None, truth[0])
    assert drifted[-1] == pytest.approx(bias * 60.0, rel=0.01)


def test_the_bias_about_the_vertical_is_found_at_the_headings_time_constant():
    # e' = b - e / T - learnt, learnt' = e / 16 T^2: what is left falls by the slower of two times.
    truth, rate, force, field = _turning(6000)
    for tilt_time in (2.0, 8.0):
        output = _output(
            filter_rate_bias=True, filter_time_constant=tilt_time, magnetic_time_constant=4.0
        )
        errors = _yaw_errors(output, truth, rate + [0, 0, 0.002], force, field)
        slower = 8.0 / (1.0 - math.sqrt(0.75))
        assert errors[5999] / errors[3999] == pytest.approx(math.exp(-20.0 / slower), rel=0.01)


def test_the_magnetometer_does_not_tilt_our_filter():
    truth, rate, force, field = _tumbling()
    generator = np.random.default_rng(3)
    force = force + generator.normal(size=force.shape)
    disturbed = field + generator.normal(size=field.shape) * 20e-6
    signals = rate, force
    plain = fuse_run(make_filter(isf.OutputSpecification(), PERIOD), truth[0], *signals)
    north = fuse_run(make_filter(_output(), PERIOD), truth[0], *signals, disturbed)
    up = [Rotation.from_quat(each).inv().apply([0.0, 0.0, 1.0]) for each in (plain, north)]
    np.testing.assert_allclose(up[0], up[1], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("filter", FILTERS)
def test_rejection_keeps_the_heading_past_a_magnet_and_gives_in_after_a_minute(filter):
    # Turning by 30 deg/s, as vqf needs turns to know the field.
    samples = 15_000
    truth, rate, force, field = _turning(samples, math.radians(30.0))
    # Five seconds in a field that is level and stronger, 90 degrees off.
    passing = field.copy()
    passing[3000:3500] = _readings(truth[3000:3500], np.array([60e-6, 0.0, 0.0]))[1]
    kept, lost = (
        np.abs(
            _yaw_errors(
                _output(filter=filter, magnetic_disturbance_rejection=rejection),
                truth,
                rate,
                force,
                passing,
            )
        )
        for rejection in (True, False)
    )
    assert lost.max() > math.radians(30.0)
    assert kept.max() < math.radians(1.0)


def test_a_field_that_stays_becomes_the_reference_only_while_turning():
    for speed, accepted in ((0.5, True), (0.0, False)):
        heading = MagneticHeading(PERIOD, 9.0, rejection=True)
        for _ in range(500):
            heading.correct(0.0, 20e-6, -45e-6, speed)
        for second in range(30):
            for _ in range(100):
                heading.correct(60e-6, 0.0, 0.0, speed)
            assert heading.disturbed is (second < 20 or not accepted)
        assert (abs(heading.offset) > 0.5) is accepted


def test_after_a_minute_a_disturbed_field_counts_by_half():
    heading = MagneticHeading(PERIOD, 9.0, rejection=True)
    for _ in range(1000):
        heading.correct(0.0, 20e-6, -45e-6, 0.0)
    offsets = [heading.offset]
    for _ in range(69):
        for _ in range(100):
            heading.correct(60e-6, 0.0, 0.0, 0.0)
        offsets.append(heading.offset)
    # Norm and dip are those of the new field within some hundredths of a second.
    assert np.abs(np.diff(offsets[:60])).max() < 0.1 * math.pi / 9.0
    # Nine seconds with half the gain, of a quarter turn.
    assert offsets[-1] == pytest.approx(math.pi / 2.0 * (1.0 - math.exp(-0.5)), rel=0.1)


def test_every_disturbance_after_a_calm_is_left_out_for_a_minute():
    heading = MagneticHeading(PERIOD, 9.0, rejection=True)
    lasted = []
    for _ in range(2):
        # A calm of half a minute and more makes up for a minute of disturbance.
        for _ in range(4000):
            heading.correct(0.0, 20e-6, -45e-6, 0.0)
        lasted.append(0)
        while heading.correct(60e-6, 0.0, 0.0, 0.0) == 0.0 or not heading.disturbed:
            lasted[-1] += 1
            assert lasted[-1] < 7000
    # Until the low-pass of 0.05 s says so, the field is not disturbed.
    assert lasted == pytest.approx([6000, 6000], abs=15)


@pytest.mark.parametrize("declination", [-1.0, 1.0])
def test_a_series_goes_the_short_way_round_as_single_readings_do(declination):
    # A field at +-3 rad is beyond half a turn from the declination, first or last.
    angles = np.repeat([-3.0, 3.0], 40) * math.copysign(1.0, declination)
    fields = 20e-6 * np.stack([np.sin(angles), np.cos(angles), 0.0 * angles])
    at_once, stepped = (MagneticHeading(PERIOD, 0.1, declination=declination) for _ in range(2))
    expected = []
    for reading in fields.T:
        assert abs(stepped.correct(*reading, 0.0)) <= math.pi
        expected.append(stepped.offset)
    found = np.concatenate([at_once.correct_all(some, np.zeros(40)) for some in
                            (fields[:, :40], fields[:, 40:])])  # fmt: skip
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12)


def test_readings_without_a_level_part_are_left_out():
    heading = MagneticHeading(PERIOD, 9.0)
    heading.correct(0.0, 20e-6, -45e-6, 0.0)
    assert heading.correct(0.0, 0.0, -45e-6, 0.0) == 0.0
    assert heading.correct(math.nan, 0.0, 1.0, 0.0) == 0.0
    fields = np.array([[20e-6, 0.0, 20e-6], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    at_once, stepped = (MagneticHeading(PERIOD, 9.0) for _ in range(2))
    expected = []
    for x, y, z in fields.T:
        stepped.correct(x, y, z, 0.0)
        expected.append(stepped.offset)
    np.testing.assert_array_equal(at_once.correct_all(fields, np.zeros(3)), expected)


@pytest.mark.parametrize("filter", FILTERS)
def test_a_heading_without_a_field_is_refused(filter):
    truth, rate, force, _ = _turning(10)
    with pytest.raises(ConfigurationError, match="needs a magnetic environment"):
        fuse_run(make_filter(_output(filter=filter), PERIOD), truth[0], rate, force)


def test_settings_that_say_nothing_are_refused():
    with pytest.raises(ConfigurationError, match=r"magnetic_heading is true.*no magnetometer"):
        isf.ImuSpecification(output=_output())
    with pytest.raises(ConfigurationError, match="nothing to reject"):
        isf.OutputSpecification(magnetic_disturbance_rejection=True)
    with pytest.raises(ConfigurationError, match="magnetic_time_constant is 0.0"):
        _output(magnetic_time_constant=0.0)
    with pytest.raises(ConfigurationError, match="magnetic_declination is 180"):
        _output(magnetic_declination=180.0)
    with pytest.raises(ConfigurationError, match="magnetic_heading is 1"):
        isf.OutputSpecification(magnetic_heading=1)


@pytest.mark.parametrize(
    "share, degrees, disturbed",
    [
        *((share, 0.0, abs(share - 1.0) > 0.1) for share in (0.91, 1.09, 0.89, 1.11)),
        *((1.0, degrees, abs(degrees) > 10.0) for degrees in (9.5, 10.5, -9.5, -10.5)),
    ],
)
def test_a_field_is_disturbed_by_a_tenth_of_its_norm_or_ten_degrees_of_dip(
    share, degrees, disturbed
):
    heading = MagneticHeading(PERIOD, 9.0, rejection=True)
    for norm, dip in ((50e-6, 60.0), (share * 50e-6, 60.0 + degrees)):
        level, down = norm * math.cos(math.radians(dip)), norm * math.sin(math.radians(dip))
        for _ in range(500):
            heading.correct(0.0, level, -down, 0.0)
    assert heading.disturbed is disturbed
