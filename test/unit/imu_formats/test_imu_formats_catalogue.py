"""Every IMU of the catalogue through every format that is written, and back."""

from dataclasses import fields

import numpy as np
import pytest

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.files import imu_catalogue
from imu_simulation_framework.sensors.formats.base import WriteOptions
from imu_simulation_framework.sensors.formats.registry import (
    FORMATS,
    read_imu_parameters,
    write_imu_parameters,
)
from imu_simulation_framework.sensors.imu_specification import ImuSpecification, TriadSpecification

IMUS = {entry.specification.name: entry.specification for entry in imu_catalogue()}
WRITTEN = sorted(name for name, kind in FORMATS.items() if kind.write is not None)
DEFAULTS = TriadSpecification()


@pytest.mark.parametrize("format", WRITTEN)
@pytest.mark.parametrize("name", sorted(IMUS))
def test_a_number_of_an_entry_comes_back_or_is_listed(name, format, tmp_path):
    specification = IMUS[name]
    rate = specification.output.rate
    options = WriteOptions()
    if format == "kalibr":
        triads = (specification.gyroscope, specification.accelerometer)
        if not all(any(t.bias_instability) or any(t.random_walk) for t in triads):
            with pytest.raises(ConfigurationError, match="Kalibr needs a positive .*random_walk"):
                write_imu_parameters(specification, format, rate)
            return
        options = WriteOptions(walk_of_instability=True)
    writing = write_imu_parameters(specification, format, rate, options)
    path = tmp_path / "written"
    path.write_text(writing.text, encoding="utf-8")
    back = read_imu_parameters(path, format, rate).specification
    assert back.output.rate == rate
    for triad in ("gyroscope", "accelerometer"):
        for field in fields(TriadSpecification):
            value = getattr(getattr(specification, triad), field.name)
            if value == getattr(DEFAULTS, field.name):
                continue
            found = getattr(getattr(back, triad), field.name)
            same = found is not None and np.allclose(found, value, rtol=1e-9, atol=0.0)
            listed = any(f"{triad}.{field.name}" in text for text in writing.remarks)
            if format == "unity":
                listed = listed or any(triad in text for text in writing.remarks)
            assert same or listed, (triad, field.name, value, found, writing.remarks)


def test_kalibr_gets_the_random_walk_with_the_same_lowest_allan_deviation(tmp_path):
    specification = IMUS["adis16470"]
    with pytest.raises(ConfigurationError, match="Kalibr needs a positive"):
        write_imu_parameters(specification, "kalibr")
    writing = write_imu_parameters(
        specification, "kalibr", options=WriteOptions(walk_of_instability=True)
    )
    path = tmp_path / "imu.yaml"
    path.write_text(writing.text)
    back = read_imu_parameters(path, "kalibr").specification.gyroscope
    # 0.34 deg/sqrt(h) and 8 deg/h; the lowest Allan variance is 2 N K / sqrt(3).
    noise = np.radians(0.34) / 60.0
    lowest = np.sqrt(2.0 * noise * back.random_walk[0] / np.sqrt(3.0))
    assert np.degrees(lowest) * 3600.0 == pytest.approx(8.0)
    (remark,) = [text for text in writing.remarks if text.startswith("gyroscope.bias_instability")]
    assert "the same lowest point" in remark and remark in writing.text


def test_a_walk_for_an_instability_leaves_alone_what_has_a_walk_or_no_noise():
    walking = TriadSpecification(white_noise=1e-4, bias_instability=1e-5, random_walk=1e-7)
    silent = TriadSpecification(bias_instability=1e-3)
    specification = ImuSpecification(gyroscope=walking, accelerometer=silent)
    options = WriteOptions(random_walk_time=100.0, walk_of_instability=True)
    remarks = write_imu_parameters(specification, "sdf", options=options).remarks
    for triad in ("gyroscope", "accelerometer"):
        (remark,) = [text for text in remarks if text.startswith(f"{triad}.bias_instability")]
        assert remark.endswith("cannot be said in this format.")
    with pytest.raises(ConfigurationError, match="no use for walk of instability"):
        write_imu_parameters(
            specification, "datasheet", options=WriteOptions(walk_of_instability=True)
        )
