import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pymap3d
import pytest
import yaml
from earth_flights import flight
from refusals import require_refused

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.settings import to_mapping
from imu_simulation_framework.core.tables import GNSS_RECORD
from imu_simulation_framework.motion.earth_motion import enu_to_ecef
from imu_simulation_framework.sensors.gnss import receiver as receivers
from imu_simulation_framework.sensors.gnss.specification import QUALITIES, read_gnss_specification
from imu_simulation_framework.sensors.noise.streams import run_seed

POSITION = ["x", "y", "z"]
VELOCITY = ["velocity_east", "velocity_north", "velocity_up"]
VARIANCES = ["variance_east", "variance_north", "variance_up"]
ARM = (0.3, -0.1, 0.8)
ERRORS = 5.0  # tolerance of statistics, in standard errors
REST = isf.at_rest(4000.0, rate=5.0)
RTK = isf.FixQuality("rtk", 0.01, 0.02, 0.03, 0.05, 20.0, 0.04, 0.06)
FLOAT = isf.FixQuality("float", 0.02, 0.04, 0.4, 0.6, 60.0, 0.04, 0.06)
ALL_ERRORS = isf.GnssSpecification(
    rate=5.0,
    latency=0.1,
    latency_jitter=0.3,
    lever_arm=ARM,
    qualities=(RTK, FLOAT),
    changes=(isf.QualityChange("rtk", "float", 0.1), isf.QualityChange("float", "none", 0.2))
    + (isf.QualityChange("none", "rtk", 0.5),),
    outages=isf.GnssOutages(rate=0.05, mean_duration=2.0),
    heading=isf.GnssHeading("antennas", across_noise=0.01, across_drift=0.02),
)


@pytest.fixture(scope="module")
def motion():
    return isf.read_drive("a", laps=1)


def receiver(**fields):
    return isf.GnssSpecification(rate=5.0, **fields)


def test_gnss_receiver_without_errors_outputs_antenna_motion(motion):
    table = isf.simulate_gnss(motion, receiver(lever_arm=ARM))
    antenna = motion.mounted(ARM)
    assert list(table) == list(GNSS_RECORD)
    np.testing.assert_array_equal(table.index, motion.time[::20])
    np.testing.assert_allclose(table[POSITION], antenna.position[::20], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(table[VELOCITY], antenna.velocity[::20], rtol=0.0, atol=1e-12)
    assert (table[[*VARIANCES, "velocity_variance"]] == 0.0).all(axis=None)
    assert (table["quality"] == 1.0).all()
    assert table["heading"].isna().all()
    np.testing.assert_array_equal(table["arrival"], table.index)
    origin = isf.GnssOrigin(-33.9, 151.2, 60.0)
    table = isf.simulate_gnss(motion, receiver(origin=origin))
    back = pymap3d.geodetic2enu(
        *(table[name].to_numpy() for name in ("latitude", "longitude", "altitude")),
        origin.latitude,
        origin.longitude,
        origin.height,
    )
    np.testing.assert_allclose(np.column_stack(back), motion.position[::20], rtol=0.0, atol=1e-6)


def test_gnss_antenna_heading_and_course_match_yaw(motion):
    antenna_heading = isf.simulate_gnss(motion, receiver(heading=isf.GnssHeading("antennas")))
    np.testing.assert_allclose(antenna_heading["heading"], motion.yaw[::20], rtol=0.0, atol=1e-12)
    turned = receiver(heading=isf.GnssHeading("antennas", misalignment=0.1))
    off = isf.simulate_gnss(motion, turned)["heading"] - antenna_heading["heading"]
    np.testing.assert_allclose(off, 0.1, rtol=1e-9)
    course = isf.simulate_gnss(motion, receiver(heading=isf.GnssHeading("course")))["heading"]
    speed = np.hypot(*motion.velocity[::20, :2].T)
    np.testing.assert_array_equal(course.notna(), speed >= 0.5)
    driving = course.notna().to_numpy()
    np.testing.assert_allclose(course[driving], motion.yaw[::20][driving], rtol=0.0, atol=1e-9)


def test_motion_is_interpolated_if_receiver_rate_does_not_divide_motion_rate(motion):
    table = isf.simulate_gnss(motion, isf.GnssSpecification(rate=8.0))
    np.testing.assert_allclose(np.diff(table.index), 0.125)
    expected = np.interp(table.index, motion.time, motion.position[:, 0])
    np.testing.assert_allclose(table["x"], expected, rtol=0.0, atol=1e-4)
    with pytest.raises(ConfigurationError, match="rate of the receiver is 200 Hz"):
        isf.simulate_gnss(motion, isf.GnssSpecification(rate=200.0))


def test_fix_errors_match_stated_variances():
    white = replace(RTK, horizontal_drift=0.0, vertical_drift=0.0)
    table = isf.simulate_gnss(REST, receiver(qualities=(white,)))
    for names, deviations in ((POSITION, white.noise[:3]), (VELOCITY, white.noise[3:])):
        for name, deviation in zip(names, deviations):
            _assert_white(table[name].to_numpy(), deviation)
    np.testing.assert_allclose(table[VARIANCES].iloc[7], np.square(white.noise[:3]))
    assert table["velocity_variance"].iloc[7] == pytest.approx(white.velocity_noise**2)
    correlation = np.corrcoef(table[POSITION + VELOCITY].T)[np.triu_indices(6, 1)]
    assert np.max(np.abs(correlation)) < ERRORS / math.sqrt(len(table))
    heading = isf.GnssHeading("antennas", baseline=0.5, across_noise=0.01)
    table = isf.simulate_gnss(REST, receiver(heading=heading))
    _assert_white(table["heading"].to_numpy(), 0.02)
    assert table["heading_variance"].iloc[0] == pytest.approx(0.02**2)


def _assert_white(values, deviation):
    count = len(values)
    assert abs(np.var(values) / deviation**2 - 1.0) < ERRORS * math.sqrt(2.0 / count)
    assert abs(np.mean(values)) < ERRORS * deviation / math.sqrt(count)
    following = np.mean(values[1:] * values[:-1]) / deviation**2
    assert abs(following) < ERRORS / math.sqrt(count)


def test_correlated_fix_errors_match_variance_and_correlation_time():
    slow = isf.FixQuality(horizontal_drift=0.7, vertical_drift=1.1, correlation_time=3.0)
    motion = isf.at_rest(4.0, rate=5.0)
    runs = [
        isf.simulate_gnss(motion, receiver(qualities=(slow,)), run=run)[POSITION].to_numpy()
        for run in range(400)
    ]
    values = np.array(runs) / slow.drift
    for lag in (0, 1, 5, 15):
        products = values[:, 0] * values[:, lag]
        expected_correlation = math.exp(-lag / (5.0 * 3.0))
        error = math.sqrt((1.0 + expected_correlation**2) / products.size)
        assert abs(products.mean() - expected_correlation) < ERRORS * error
    table = isf.simulate_gnss(motion, receiver(qualities=(replace(slow, horizontal_noise=0.2),)))
    assert table["variance_east"].iloc[0] == pytest.approx(0.7**2 + 0.2**2)


def test_course_error_is_cross_track_velocity_error_over_speed():
    motion = isf.straight(4000.0, speed=2.0, rate=5.0)
    noisy = isf.FixQuality(velocity_noise=0.04)
    gnss = receiver(qualities=(noisy,), heading=isf.GnssHeading("course"))
    table = isf.simulate_gnss(motion, gnss)
    _assert_white(table["heading"].to_numpy(), 0.04 / 2.0)
    assert table["heading_variance"].mean() == pytest.approx(0.02**2, rel=0.01)
    direction = np.arctan2(table["velocity_north"], table["velocity_east"])
    np.testing.assert_allclose(table["heading"], direction, rtol=0.0, atol=1e-12)


def test_gnss_outages_match_specified_fraction_and_number():
    rate, mean, duration = 0.02, 10.0, 400_000.0
    outages = isf.GnssOutages(rate=rate, mean_duration=mean)
    time = np.arange(0.0, duration, 0.5)
    covered = receivers.Outages(outages, np.random.default_rng(5)).cover(time)
    # Alternating renewal process, Cox: Renewal Theory (1962), sections 4.2 and 7.2.
    available_time, cycle = 1.0 / rate, 1.0 / rate + mean
    share_error = math.sqrt(2.0 * available_time**2 * mean**2 / cycle**3 / duration)
    assert abs(covered.mean() - outages.share) < ERRORS * share_error
    begun = np.count_nonzero(np.diff(covered.astype(int)) == 1)
    # An outage between two fixes has no effect.
    seen = duration / cycle * math.exp(-0.5 * 0.5 / mean)
    assert abs(begun - seen) < ERRORS * math.sqrt(
        duration * (available_time**2 + mean**2) / cycle**3
    )


def test_outages_and_quality_schedule_do_not_change_errors_of_other_fixes():
    gnss = receiver(qualities=(RTK,))
    whole = isf.simulate_gnss(REST, gnss)
    listed = isf.GnssOutages(times=((10.0, 20.0), (100.0, 100.1)))
    table = isf.simulate_gnss(REST, replace(gnss, outages=listed))
    missing = whole.index.difference(table.index)
    np.testing.assert_allclose(missing, [*np.arange(10.0, 19.9, 0.2), 100.0])
    pd.testing.assert_frame_equal(table, whole.loc[table.index])
    random = replace(gnss, outages=isf.GnssOutages(rate=0.05, mean_duration=5.0))
    table = isf.simulate_gnss(REST, random)
    assert 0.7 * len(whole) < len(table) < 0.9 * len(whole)
    pd.testing.assert_frame_equal(table, whole.loc[table.index])
    gnss = receiver(qualities=(RTK, FLOAT), schedule=((10.0, "none"), (20.0, "float")))
    table = isf.simulate_gnss(REST, gnss)
    assert (table.loc[:9.9, "quality"] == 4.0).all()
    plain, after = table.loc[10.0:19.9], table.loc[20.0:]
    assert (plain["quality"] == 0.0).all()
    assert plain.drop(columns=["quality", "arrival"]).isna().all(axis=None)
    assert (after["quality"] == 5.0).all()
    np.testing.assert_allclose(after[VARIANCES].iloc[0], FLOAT.variances[:3])
    # The errors of each quality continue while another quality is active.
    only = isf.simulate_gnss(REST, receiver(qualities=(FLOAT,)))
    np.testing.assert_array_equal(after[POSITION], only.loc[20.0:, POSITION])


def test_fix_qualities_have_expected_stationary_probabilities():
    changes = (isf.QualityChange("rtk", "float", 0.02), isf.QualityChange("float", "rtk", 0.1))
    gnss = receiver(qualities=(RTK, FLOAT), changes=changes)
    duration, fixed_time, off = 400_000.0, 50.0, 10.0
    at = receivers.Qualities(gnss, np.random.default_rng(3)).at(np.arange(0.0, duration, 1.0))
    error = math.sqrt(2.0 * fixed_time**2 * off**2 / (fixed_time + off) ** 3 / duration)
    assert abs(np.mean(at == QUALITIES["float"]) - off / (fixed_time + off)) < ERRORS * error
    assert at[0] == QUALITIES["rtk"]
    rates = {("rtk", "float"): 0.3, ("rtk", "none"): 0.1, ("float", "rtk"): 1, ("none", "rtk"): 1}
    changes = tuple(isf.QualityChange(*names, rate) for names, rate in rates.items())
    gnss = receiver(qualities=(RTK, FLOAT), changes=changes)
    at = receivers.Qualities(gnss, np.random.default_rng(4)).at(np.arange(0.0, 20_000.0, 0.05))
    begun = at[1:][np.diff(at) != 0]
    floats, nones = (np.count_nonzero(begun == QUALITIES[name]) for name in ("float", "none"))
    share = floats / (floats + nones)
    assert abs(share - 0.75) < ERRORS * math.sqrt(0.75 * 0.25 / (floats + nones))


def test_fixes_arrive_in_order_after_receiver_latency():
    gnss = receiver(latency=0.15, latency_jitter=0.1)
    table = isf.simulate_gnss(REST, gnss)
    late = table["arrival"] - table.index
    assert late.min() >= 0.15 - 1e-12
    assert late.max() <= 0.25
    assert abs(late.mean() - 0.2) < ERRORS * 0.1 / math.sqrt(12.0 * len(late))
    jumpy = isf.simulate_gnss(REST, replace(gnss, latency_jitter=1.0))
    assert (np.diff(jumpy["arrival"]) >= 0.0).all()


def test_gnss_run_does_not_depend_on_other_runs_or_errors(motion):
    third = isf.simulate_gnss(motion, ALL_ERRORS, seed=8, run=3)
    pd.testing.assert_frame_equal(third, isf.simulate_gnss(motion, ALL_ERRORS, seed=8, run=3))
    for other in ({"run": 2}, {"run": 3, "seed": 9}):
        different = isf.simulate_gnss(motion, ALL_ERRORS, **{"seed": 8, **other})
        assert not different[POSITION].equals(third[POSITION])
    horizontal = isf.FixQuality("rtk", 0.01, horizontal_drift=0.03, correlation_time=20.0)
    few = isf.simulate_gnss(motion, receiver(qualities=(horizontal,)), seed=8, run=3)
    more = receiver(
        qualities=(RTK, FLOAT), latency_jitter=0.1, heading=ALL_ERRORS.heading, latency=1.0
    )
    many = isf.simulate_gnss(motion, more, seed=8, run=3)
    pd.testing.assert_frame_equal(few[["x", "y"]], many[["x", "y"]])


@pytest.mark.parametrize("size", [1, 7])
def test_fixes_measured_in_blocks_match_complete_series(motion, size):
    states = motion.position, motion.orientation, motion.velocity, motion.angular_velocity
    time, *states = (values[::20] for values in (motion.time, *states, motion.yaw))

    def measured(receiver, chosen):
        antenna = receivers.antenna_motion(
            *(values[chosen] for values in states), ALL_ERRORS.lever_arm
        )
        return receiver.measure(time[chosen], antenna)

    series, stepped = (receivers.GnssReceiver(ALL_ERRORS, run_seed(8, 3)) for _ in range(2))
    whole = measured(series, slice(None))
    pieces = [measured(stepped, slice(at, at + size)) for at in range(0, len(time), size)]
    assert 100 < len(whole) < len(time)
    pd.testing.assert_frame_equal(pd.concat(pieces), whole, check_exact=True)


def test_gnss_receiver_file_matches_constructed_receiver(tmp_path):
    path = tmp_path / "mine.yaml"
    every = replace(ALL_ERRORS, name="mine", origin=isf.GnssOrigin(50.09, 14.42, 250.0))
    path.write_text(yaml.safe_dump(to_mapping(every)))
    assert read_gnss_specification(path) == every
    for name in ("single", "rtk", "rtk_heading"):
        assert read_gnss_specification(name).name == name


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("rate: 0", "rate is 0, expected"),
        ("qualities: []", "qualities is empty"),
        ("qualities: [{horizontal_noise: -1}]", r"qualities\[0\].horizontal_noise is -1"),
        ("changes: [{before: single, after: rtk, rate: 1}]", "quality rtk, expected one of single"),
        ("changes: [{before: rtk, after: float, rate: 1e9}]", r"changes\[0\].rate is .*, expected"),
        ("qualities: [{}, {}]", "qualities contains single twice"),
        ("schedule: [none]", "schedule has the entry 'none'"),
        ("schedule: [[1, none], [1, single]]", "schedule goes from 1 s to 1 s"),
        (
            "schedule: [[1, none]]\nchanges: [{before: single, after: none, rate: 1}]",
            "changes and schedule",
        ),
        ("outages: {times: [[2, 1]]}", "outages.times has an outage from 2 s to 1 s"),
        ("heading: {source: compass}", "heading.source is 'compass', expected"),
    ],
)
def test_invalid_gnss_receiver_is_rejected_with_file_name(tmp_path, text, sentence):
    require_refused(read_gnss_specification, tmp_path / "receiver.yaml", text, sentence)


FLOWN = flight(duration=20.0)
NOISY = isf.FixQuality("single", 1.0, 2.0, velocity_noise=0.1, vertical_velocity_noise=0.2)
RECEIVER = isf.GnssSpecification(rate=2.0, lever_arm=(-1.0, 0.4, 1.5), qualities=(NOISY,))


def test_fixes_on_earth_are_at_antenna_and_missing_in_outages():
    fixes = isf.simulate_earth_fixes(FLOWN, replace(RECEIVER, qualities=(isf.FixQuality(),)))
    antenna = FLOWN.mounted(RECEIVER.lever_arm)
    assert fixes.time == pytest.approx(FLOWN.time[::50])
    assert fixes.position[0] == pytest.approx(antenna.position[::50], abs=1e-8)
    assert fixes.velocity[0] == pytest.approx(antenna.velocity[::50], abs=1e-12)
    receiver = replace(RECEIVER, outages=isf.GnssOutages(times=((5.0, 7.0),)))
    fixes = isf.simulate_earth_fixes(FLOWN, receiver, 3, seed=2)
    away = (fixes.time >= 5.0) & (fixes.time < 7.0)
    assert fixes.between(4.0, 6.0).time.tolist() == [4.0, 4.5, 5.0, 5.5, 6.0]
    for values in (fixes.position, fixes.velocity, fixes.variance):
        assert np.all(np.isnan(values[:, away]))
        assert np.all(np.isfinite(values[:, ~away]))
    alone = isf.simulate_earth_fixes(FLOWN, receiver, 1, seed=2, first_run=1)
    assert np.array_equal(alone.position[0], fixes.position[1], equal_nan=True)


def test_errors_of_fixes_on_earth_match_specified_sigma_along_local_axes():
    runs = 100
    fixes = isf.simulate_earth_fixes(FLOWN, RECEIVER, runs)
    antenna = FLOWN.mounted(RECEIVER.lever_arm)
    latitude, longitude, _ = antenna.latitude_longitude_height[::50].T
    to_local = enu_to_ecef(latitude, longitude).as_matrix().swapaxes(1, 2)
    for measured, true, sigmas in (
        (fixes.position, antenna.position, (1.0, 1.0, 2.0)),
        (fixes.velocity, antenna.velocity, (0.1, 0.1, 0.2)),
    ):
        local = (to_local @ (measured - true[::50])[..., np.newaxis])[..., 0].reshape(-1, 3)
        # The tolerance is three standard errors of a standard deviation.
        assert np.std(local, axis=0) == pytest.approx(sigmas, rel=3.0 / np.sqrt(2.0 * len(local)))
        correlation = np.corrcoef(local.T)[np.triu_indices(3, 1)]
        assert np.max(np.abs(correlation)) < 3.5 / np.sqrt(len(local))
    stated_variances = np.unique(fixes.variance.reshape(-1, 6), axis=0)
    assert stated_variances == pytest.approx(np.array([[1.0, 1.0, 4.0, 0.01, 0.01, 0.04]]))


def test_receiver_rate_that_does_not_divide_motion_rate_is_rejected_on_earth():
    for rate in (3.0, 500.0):
        with pytest.raises(ConfigurationError, match="rate of the receiver is"):
            isf.simulate_earth_fixes(FLOWN, replace(RECEIVER, rate=rate))
