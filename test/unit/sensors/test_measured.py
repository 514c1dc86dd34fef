"""Published measurements of IMU parts: their tables, and the estimates derived from them."""

import math

import numpy as np
import pandas as pd
import pytest

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.files import package_share
from imu_simulation_framework.core.units import factor
from imu_simulation_framework.sensors.files import RATIOS, imu_names
from imu_simulation_framework.sensors.measured import (
    CALIBRATION,
    NOISE,
    QUANTITIES,
    ClassModel,
    class_models,
    estimates,
    measured_parts,
    measured_values,
    measurements,
)

DEG = math.pi / 180.0
TABLE = measurements()
# Unit of the output of each sensor; other quantities have this unit times a power of a second.
SIGNAL = {"gyroscope": "rad/s", "accelerometer": "m/s^2"}


def test_measured_values_have_source_quantity_and_unit():
    table = measured_values()
    assert len(table) > 1000
    assert (table["source"].str.len() > 8).all() and (table["method"] != "").all()
    assert set(table["quantity"]) <= set(QUANTITIES) and set(table["axis"]) <= {*"xyz", "mean"}
    assert set(table["sensor"]) == set(SIGNAL) and np.isfinite(table["value"]).all()
    noise = table["quantity"].isin([*NOISE, "sample_deviation", "allan_minimum"])
    assert (table.loc[noise, "value"] > 0.0).all()
    for unit in set(table["value_unit"]):
        assert unit in RATIOS or factor(unit) > 0.0
    ratios = table["quantity"].isin(["scale_factor", "misalignment"])
    assert set(table.loc[ratios, "value_unit"]) <= {"1", "ppm", "rad", "arcsec"}
    # The published units are preserved; only gyroscope values have units with rad or deg.
    angles = table["value_unit"].str.contains("rad|deg")
    assert (angles == (table["sensor"] == "gyroscope"))[~ratios].all()
    used = table[table["excluded"] == ""]
    assert (used.loc[used["quantity"] == "sample_deviation", "rate"] > 0.0).all()


def test_listed_recordings_are_unique_and_have_measured_values():
    folder = package_share() / "config" / "measured_imus"
    names = pd.read_csv(folder / "recordings.csv")["recording"]
    assert names.is_unique and set(names) == set(measured_values()["recording"])
    assert set(measured_values()["part"]) <= set(measured_parts().index)


def rms_by_hand(part, unit, quantity, scale):
    """Compute the rms over the gyroscope axes of one sensor, directly from the files."""
    folder = package_share() / "config" / "measured_imus"
    recordings = pd.read_csv(folder / "recordings.csv")
    values = pd.read_csv(folder / "values.csv").rename(columns={"unit": "value_unit"})
    table = values.merge(recordings, on="recording")
    expected = {"part": part, "unit": unit, "sensor": "gyroscope", "quantity": quantity}
    table = table[(table[list(expected)] == expected).all(axis=1) & table["excluded"].isna()]
    values = table["value"] * scale(table["rate"])
    return np.sqrt(np.mean(np.square(values)))


@pytest.mark.parametrize(
    "part, unit, quantity, stated, scale",
    [
        ("bmi055", "D435i c", "white_noise", "sample_deviation", lambda rate: rate**-0.5),
        ("vn100", "report c", "white_noise", "white_noise", lambda rate: DEG),
        ("chc-cgi410", "A", "bias_instability", "allan_minimum", lambda rate: 1.0 / 0.6643),
    ],
)
def test_measurements_of_three_sensors_match_direct_computation(
    part, unit, quantity, stated, scale
):
    row = TABLE[(TABLE["part"] == part) & (TABLE["unit"] == unit) & (TABLE["quantity"] == quantity)]
    value = row.loc[row["sensor"] == "gyroscope", "value"].item()
    assert value == pytest.approx(rms_by_hand(part, unit, stated, scale), rel=1e-3)


@pytest.mark.parametrize("part, units", [("vn100", 7), ("adis16448", 3), ("stim300", 2)])
def test_median_for_part_is_dominated_by_its_sensors_if_class_varies_more(part, units):
    rows = TABLE[(TABLE["part"] == part) & (TABLE["sensor"] == "gyroscope")]
    logs = np.log(rows.loc[rows["quantity"] == "white_noise", "value"].to_numpy())
    estimate = estimates(part)["gyroscope", "white_noise"]
    assert len(logs) == estimate.units == units
    assert estimate.origin == f"measured ({units} units)"
    # The class prior changes the estimate by less than a tenth of the standard error of 0.155.
    assert math.log(estimate.median) == pytest.approx(logs.mean(), abs=0.1 * 0.155)


def test_noise_and_random_walk_are_subtracted_from_allan_minimum():
    rows = TABLE[(TABLE["part"] == "navchip") & (TABLE["sensor"] == "gyroscope")]
    n, b, k = (rows.loc[rows["quantity"] == name, "value"].item() for name in NOISE)
    raw = rms_by_hand("navchip", "A", "allan_minimum", lambda rate: 1.0)
    times = np.geomspace(0.1, 1e4, 20_001)
    lowest = np.sqrt(np.min(n**2 / times + (0.664281 * b) ** 2 + k**2 * times / 3.0))
    assert 0.5 * raw / 0.664281 < b < raw / 0.664281 and lowest == pytest.approx(raw, rel=1e-4)


CONSUMER = measured_parts().query("`class` == 'consumer MEMS' and part == measured_as").index


def simulated(random, parts, mean, between, within):
    """Simulate measurements of one to six sensors per part, and return the true medians as well."""
    true = random.normal(mean, between, len(parts))
    rows = [
        (part, str(unit), "gyroscope", "white_noise", "", random.normal(level, within), 3)
        for number, (part, level) in enumerate(zip(parts, true))
        for unit in range(1 + number % 6)
    ]
    names = ["part", "unit", "sensor", "quantity", "excluded", "value", "numbers"]
    table = pd.DataFrame(rows, columns=names)
    return table.assign(value=np.exp(table["value"])), true


@pytest.mark.gate
def test_hierarchical_model_is_estimated_without_bias():
    random = np.random.default_rng(7)
    mean, between, within, sets = -9.0, 0.7, 0.4, 60
    # The last part has no measurement.
    parts, unmeasured = list(CONSUMER[:-1]), CONSUMER[-1]
    classes = dict.fromkeys(parts, "c")
    actual, deviations = [], {"one": [], "six": [], "none": []}
    for _ in range(sets):
        table, true = simulated(random, parts, mean, between, within)
        model = class_models(table, classes)["c"]
        average = model.probability @ np.column_stack([model.mean, model.between])
        actual.append([*average, model.within])
        for name, part, median in (
            ("one", parts[0], true[0]),
            ("six", parts[5], true[5]),
            ("none", unmeasured, random.normal(mean, between)),
        ):
            estimate = estimates(part, table)["gyroscope", "white_noise"]
            unit = random.normal(median, within)
            deviations[name].append((unit - math.log(estimate.median)) / estimate.spread)
    actual = np.array(actual)
    error = actual.std(axis=0, ddof=1) / math.sqrt(sets)
    freedom = sum(number % 6 for number in range(len(parts)))
    assert abs(actual[:, 0].mean() - mean) < 4.0 * error[0]
    # The posterior is skewed, so its mean may be off by half of its standard deviation.
    assert abs(actual[:, 1].mean() - between) < 0.5 * actual[:, 1].std()
    assert abs(actual[:, 2].mean() - within**2) < 4.0 * error[2]
    # The standard deviation of n numbers has a relative standard error of 1 / sqrt(2 n).
    scatter = within**2 * math.sqrt(2.0 / freedom)
    assert actual[:, 2].std() == pytest.approx(scatter, rel=4.0 / math.sqrt(2.0 * sets))
    for values in deviations.values():
        assert np.std(values) == pytest.approx(1.0, abs=4.0 / math.sqrt(2.0 * sets))
        assert abs(np.mean(values)) < 4.0 / math.sqrt(sets)


def test_class_mean_matches_statsmodels():
    from statsmodels.stats.meta_analysis import combine_effects

    table, _ = simulated(np.random.default_rng(3), CONSUMER, -9.0, 0.7, 0.4)
    model = class_models(table, dict.fromkeys(CONSUMER, "c"))["c"]
    logs = np.log(table["value"]).groupby(table["part"])
    mean, variance = logs.mean().to_numpy(), (model.within / logs.size()).to_numpy()
    other = combine_effects(mean, variance, method_re="iterated")
    nearest = np.argmin(np.abs(model.between**2 - other.tau2))
    assert model.mean[nearest] == pytest.approx(other.mean_effect_re, abs=0.02)
    # The posterior of the spread contains the Paule-Mandel estimate.
    assert 0.05 < model.probability[: nearest + 1].sum() < 0.95


def test_prediction_for_part_is_averaged_over_posterior_of_spread():
    # Sample the spread, then the class mean, then the part given the spread and the class mean.
    model = ClassModel(
        np.array([0.1, 2.0]), np.array([0.3, 0.7]), np.array([0.0, 1.0]), np.array([0.2, 0.3]), 0.1
    )
    random, count = np.random.default_rng(11), 200_000
    which = (random.random(count) < 0.7).astype(int)
    centre = random.normal(model.mean[which], np.sqrt(model.variance[which]))
    tau, measured, variance = model.between[which], 4.0, 0.5
    weight = variance / (tau**2 + variance)
    # With so many samples, the variance has a relative standard error below 0.005.
    part = random.normal((1.0 - weight) * measured + weight * centre, tau * np.sqrt(weight))
    mean, total, share = model.predict_part(measured, variance)
    assert abs(part.mean() - mean) < 4.0 * part.std() / math.sqrt(count)
    assert part.var() == pytest.approx(total, rel=0.02) and share == pytest.approx(
        weight.mean(), rel=0.01
    )
    part = random.normal(centre, tau)
    mean, total, share = model.predict_part()
    assert abs(part.mean() - mean) < 4.0 * part.std() / math.sqrt(count)
    assert part.var() == pytest.approx(total, rel=0.02) and share == pytest.approx(1.0)


def test_spread_is_pooled_over_class_if_each_part_has_one_sensor():
    table, _ = simulated(np.random.default_rng(2), CONSUMER, -9.0, 0.7, 0.4)
    alone = [part for part, rows in table.groupby("part") if len(rows) == 1]
    models = class_models(table, {part: str(part in alone) for part in CONSUMER})
    assert len(alone) > 3 and models["True"].within == pytest.approx(models["False"].within)


def test_bundled_imus_have_noise_estimated_from_part_or_class():
    kinds = set()
    for name in imu_names():
        actual = estimates(name)
        for sensor in SIGNAL:
            for quantity in NOISE:
                estimate = actual[sensor, quantity]
                assert estimate.median > 0.0 and 0.05 < estimate.spread < 2.5
                assert (estimate.units == 0) == (estimate.origin == "class of part")
                kinds.add(estimate.origin.split(" (")[0] + estimate.origin.partition(")")[2])
    assert kinds == {"class of part", "measured", "measured and class"}


def test_part_numbers_of_same_sensor_share_measurements():
    mti = estimates("mti300")
    assert mti["gyroscope", "white_noise"].origin == "measured (3 units of mti100)"
    assert (
        mti["gyroscope", "white_noise"][:3] == estimates("mti100")["gyroscope", "white_noise"][:3]
    )


def test_calibration_errors_are_standard_deviations_over_sensors():
    actual = estimates("lsm6dsm")
    assert {key[1] for key in actual} >= set(CALIBRATION)
    values = measured_values()
    values = values[(values["part"] == "lsm6dsm") & (values["quantity"] == "turn_on_bias")]
    rates = values.loc[values["sensor"] == "gyroscope", "value"].to_numpy()
    scale = actual["gyroscope", "turn_on_bias"]
    assert scale.units == 4
    assert scale.median == pytest.approx(np.sqrt(np.mean(rates**2)), rel=0.1)
    # The standard deviation of n numbers has a relative standard error of 1 / sqrt(2 n).
    assert scale.spread == pytest.approx(1.0 / math.sqrt(2.0 * len(rates)), rel=0.1)


def test_unknown_imu_part_is_rejected():
    with pytest.raises(ConfigurationError, match="'mpu1', expected one of .* adis16405, adis"):
        estimates("mpu1")
