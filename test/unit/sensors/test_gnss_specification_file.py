import pytest
import yaml

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.settings import to_mapping
from imu_simulation_framework.sensors.files import read_gnss_specification

FULL = isf.GnssSpecification(
    "mine",
    rate=10.0,
    latency=0.1,
    latency_jitter=0.02,
    lever_arm=(0.2, 0.0, 0.5),
    qualities=(isf.FixQuality("rtk", 0.01, 0.02, 0.03, 0.04, 30.0, 0.05, 0.06), isf.FixQuality()),
    changes=(isf.QualityChange("rtk", "single", 0.01), isf.QualityChange("single", "none", 0.2)),
    outages=isf.GnssOutages(((1.0, 2.0), (5.0, 9.0)), 0.001, 15.0),
    heading=isf.GnssHeading("antennas", 0.4, 0.8, 0.006, 0.004, 50.0, 0.01),
    origin=isf.GnssOrigin(50.09, 14.42, 250.0),
)


@pytest.mark.parametrize(
    "gnss", [FULL, isf.GnssSpecification("listed", schedule=[(1.0, "none"), (2.0, "single")])]
)
def test_what_is_written_reads_back_equal(tmp_path, gnss):
    path = tmp_path / "receiver.yaml"
    path.write_text(yaml.safe_dump(to_mapping(gnss)))
    assert read_gnss_specification(path) == gnss


def test_a_file_says_what_a_program_says(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        "rate: 10\nlatency: 0.1\nlatency_jitter: 2e-2\nlever_arm: [0.2, 0, 0.5]\n"
        "qualities:\n"
        "  - {quality: rtk, horizontal_noise: 0.01, vertical_noise: 0.02, horizontal_drift: 0.03,\n"
        "     vertical_drift: 0.04, correlation_time: 30, velocity_noise: 0.05,\n"
        "     vertical_velocity_noise: 0.06}\n"
        "  - {quality: single}\n"
        "changes:\n  - {before: rtk, after: single, rate: 0.01}\n"
        "  - {before: single, after: none, rate: 0.2}\n"
        "outages: {times: [[1, 2], [5, 9]], rate: 0.001, mean_duration: 15}\n"
        "heading: {source: antennas, minimum_speed: 0.4, baseline: 0.8, across_noise: 0.006,\n"
        "          across_drift: 0.004, correlation_time: 50, misalignment: 0.01}\n"
        "origin: {latitude: 50.09, longitude: 14.42, height: 250}\n"
    )
    assert read_gnss_specification(path) == FULL


@pytest.mark.parametrize(
    "name, quality, heading",
    [("single", "single", "course"), ("rtk", "rtk", "none"), ("rtk_heading", "rtk", "antennas")],
)
def test_bundled_receivers_are_read_by_name(name, quality, heading):
    gnss = read_gnss_specification(name)
    assert (gnss.name, gnss.qualities[0].quality, gnss.heading.source) == (name, quality, heading)


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("rat: 5", "the receiver has the unknown key 'rat'; did you mean rate?"),
        ("rate: 0", "rate is 0, but it must be positive"),
        ("lever_arm: [1, 2]", "lever_arm has|lever_arm is .* list of 3 numbers"),
        ("qualities: rtk", "qualities is 'rtk', but it must be a list"),
        ("qualities: []", "qualities is empty"),
        ("qualities: [rtk]", r"qualities\[0\] is 'rtk', but it must hold keys and values"),
        ("qualities: [{quality: good}]", r"qualities\[0\].quality is 'good', but it must be singl"),
        ("qualities: [{}, {}]", "qualities has single twice"),
        ("qualities: [{horizontal_noise: -1}]", r"qualities\[0\].horizontal_noise is -1"),
        ("changes: [{before: single, after: rtk, rate: 1}]", "to or from rtk, but .* only single"),
        ("changes: [{before: rtk, after: rtk}]", r"changes\[0\].after is 'rtk', as it was before"),
        ("changes: [{before: rtk, after: float, rate: 1e9}]", r"changes\[0\].rate .* at most 100"),
        ("schedule: [[1, none], [1, single]]", "schedule has 1 s after 1 s"),
        ("schedule: [none]", "schedule has 'none', but each entry must be a time and a quality"),
        (
            "schedule: [[1, none]]\nchanges: [{before: single, after: none, rate: 1}]",
            "both changes and a schedule",
        ),
        ("outages: {times: [[2, 1]]}", "outages.times has an outage from 2 s to 1 s"),
        ("outages: {times: [1, 2]}", "outages.times is 1, but it must be a list of 2 numbers"),
        ("heading: {source: compass}", "heading.source is 'compass', but it must be none or cour"),
        ("name: 3", "name is 3, but it must be a text"),
        ("a: [", "not valid YAML"),
    ],
)
def test_what_is_no_receiver_is_refused_with_its_file(tmp_path, text, sentence):
    path = tmp_path / "receiver.yaml"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=sentence) as caught:
        read_gnss_specification(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: read_gnss_specification("gps"), "nor a GNSS receiver.* rtk, rtk_heading, single"),
        (lambda: isf.GnssSpecification(heading="course"), "heading is .*must be a GnssHeading"),
        (lambda: isf.GnssSpecification(qualities=("rtk",)), "qualities is 'rtk', .* a FixQuality"),
    ],
)
def test_what_is_no_name_and_no_part_is_refused(make, words):
    with pytest.raises(ConfigurationError, match=words):
        make()
