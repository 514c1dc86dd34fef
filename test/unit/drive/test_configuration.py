"""Configuration: schema of config.ini, overrides, rejected values, and dependent settings."""

import dataclasses
import re

import numpy as np
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.files import default_configuration_path
from imu_simulation_framework.core.settings import keys_of
from imu_simulation_framework.drive import configuration as configuration_sections
from imu_simulation_framework.drive.configuration import load_configuration
from imu_simulation_framework.drive.experiment.environment import make_magnetic_environment
from imu_simulation_framework.drive.experiment.imu import describe_imu, imu_remarks, imu_sampling


def _write(folder, text):
    path = folder / "config.ini"
    path.write_text(text)
    return path


def test_bundled_config_ini_lists_every_key_with_default(tmp_path):
    bundled = load_configuration(default_configuration_path(), working_directory=tmp_path)
    empty = load_configuration(_write(tmp_path, ""), working_directory=tmp_path)
    text = default_configuration_path().read_text()
    for name, section in configuration_sections.SECTIONS.items():
        assert getattr(bundled, name) == getattr(empty, name)
        body = re.search(rf"^\[{name}\]\n(.*?)(?=^\[|\Z)", text, re.DOTALL | re.MULTILINE).group(1)
        keys = re.findall(r"^(\w+) =", body, re.MULTILINE)
        assert keys == [key.name for key in keys_of(section)]
    for section, model in configuration_sections.IMU_PARAMETER_SECTIONS.items():
        body = re.search(rf"^\[{section}\]\n(.*?)(?=^\[|\Z)", text, re.DOTALL | re.MULTILINE)
        keys = set(re.findall(r"^(\w+) =", body.group(1), re.MULTILINE))
        parameters = configuration_sections.IMU_MODELS[model].parameters
        assert keys == {field.name for field in dataclasses.fields(parameters)}


def test_override_replaces_file_value_unless_override_is_empty(tmp_path):
    path = _write(tmp_path, "[control]\nrate = 10\nyaw_integral = 3\n")
    settings = load_configuration(path, {"control": {"rate": 25, "yaw_integral": ""}})
    assert settings.control.rate == 25.0
    assert settings.control.yaw_integral == 3.0


def test_relative_paths_are_resolved_against_file_or_working_directory(
    tmp_path,
):
    path = _write(tmp_path, "[recording]\npath = a.bag\n[reference]\npath = b.csv\n")
    elsewhere = tmp_path / "elsewhere"
    settings = load_configuration(path, {"recording": {"path": "c.bag"}}, elsewhere)
    assert settings.recording.path == str(elsewhere / "c.bag")
    assert settings.reference.path == str(tmp_path / "b.csv")
    assert settings.experiment.output == str(elsewhere / "experiment_results")
    (tmp_path / "mine").mkdir()
    path = tmp_path / "mine" / "config.ini"
    path.write_text("[recording]\npath = ../drives/./a.bag\n[experiment]\noutput = ../results\n")
    settings = load_configuration(path)
    assert settings.recording.path == str(tmp_path / "drives" / "a.bag")
    assert settings.experiment.output == str(tmp_path / "results")
    (tmp_path / "far" / "away").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "far" / "away")
    path = _write(tmp_path, "[recording]\npath = link/../a.bag\n")
    assert load_configuration(path).recording.path == str(tmp_path / "far" / "a.bag")


def test_written_configuration_yields_same_settings(tmp_path):
    path = _write(
        tmp_path,
        "[trajectory]\nstart = 2.5\nscale = 0.1\n[imu_hector]\nyaw_drift = 0.7\n"
        "[imu_columns]\ntime = t [ms]\n",
    )
    settings = load_configuration(path, {"imu_recording": {"use": False}}, tmp_path)
    copy = tmp_path / "copy.ini"
    copy.write_text(settings.to_ini())
    again = load_configuration(copy, working_directory=tmp_path / "elsewhere")
    assert dataclasses.replace(again, path=settings.path) == settings


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[control]\nyaw_proportinal = 1\n", "yaw_proportinal: unknown key; did you mean yaw_prop"),
        ("[contrl]\nrate = 1\n", r"unknown section \[contrl\]; did you mean control"),
        ("[control]\nrate = fast\n", r"\[control\] rate: is 'fast', expected"),
        ("[control]\ncontroller = lqr\n", r"\[control\] controller: is 'lqr', expected"),
        ("[trajectory]\nscale = -1\n", r"\[trajectory\] scale: is -1.0, expected"),
        ("[trajectory]\nstop_index = 1.5\n", "stop_index: is '1.5', expected"),
        ("[trajectory]\nto_origin = maybe\n", "to_origin: is 'maybe', expected"),
        ("rate = 1\n", "no section headers"),
        ("[control]\nrate = 1\nrate = 2\n", "already exists"),
        ("[control]\nrate = 1e-300\n", r"\[control\] rate: is 1e-300, expected"),
        ("[recording]\nlaps = 1001\n", "laps: is 1001, expected"),
        ("[recording]\npath = a\0b\n", "expected one line of text"),
        ("[external]\ncommand = a b\n", r"\[external\] command is 'a b', expected a topic name"),
        ('[reference_columns]\na\u202eb = "a\n', "expected one line of text"),
    ],
)
def test_invalid_setting_is_rejected_with_file_section_and_key(tmp_path, text, sentence):
    path = _write(tmp_path, text)
    with pytest.raises(ConfigurationError, match=sentence) as refusal:
        load_configuration(path)
    assert str(path) in str(refusal.value)


def test_invalid_override_is_reported_as_override(tmp_path):
    path = _write(tmp_path, "")
    for value, words in (("perfect", "is 'perfect', expected"), ([1, 2], "expected one value")):
        with pytest.raises(ConfigurationError, match=rf"override of \[imu\] model: {words}"):
            load_configuration(path, {"imu": {"model": value}})
    with pytest.raises(ConfigurationError, match="nowhere.ini: no such file"):
        load_configuration(tmp_path / "nowhere.ini")


@pytest.mark.parametrize("value", ["-1e308", "1e11"])
def test_number_outside_allowed_range_is_rejected(tmp_path, value):
    for name, section in configuration_sections.SECTIONS.items():
        for key in dataclasses.fields(section):
            if "float" in key.type:
                path = tmp_path / "config.ini"
                path.write_text(f"[{name}]\n{key.name} = {value}\n")
                with pytest.raises(ConfigurationError, match=rf"\[{name}\] {key.name}: is "):
                    load_configuration(path)


@pytest.mark.parametrize(
    "text",
    ["x\n[imu]\nrate = 1", "x\rrate = 1", "a\u2028b", "a\u202eb", "my ; drive.bag", "; drive.bag"],
)
def test_value_not_representable_in_ini_file_is_rejected(tmp_path, text):
    path = _write(tmp_path, "")
    with pytest.raises(ConfigurationError, match=r"override of \[recording\] path: "):
        load_configuration(path, {"recording": {"path": text}}, tmp_path)


@pytest.mark.parametrize(
    "name",
    ["it's.bag", 'say "yes"', "back\\slash", "two  blanks", "{x}", "$(y)", "${z}", "%(w)s", "a;b",
     "# c", "[imu]", "a = b", "a: b", "100 %"],
)  # fmt: skip
def test_written_configuration_preserves_special_characters(tmp_path, name):
    copy = tmp_path / "copy.ini"
    settings = load_configuration(_write(tmp_path, ""), {"recording": {"path": name}}, tmp_path)
    copy.write_text(settings.to_ini())
    assert load_configuration(copy).recording.path == str(tmp_path / name)


def test_figure_formats_are_read_as_list(tmp_path):
    settings = load_configuration(_write(tmp_path, "[experiment]\nfigure_formats = svg,png\n"))
    assert settings.experiment.figure_formats == ("svg", "png")
    assert "figure_formats = svg, png\n" in settings.to_ini()
    assert load_configuration(_write(tmp_path, "")).experiment.figure_formats == ("png",)
    for text in ("gif", "png, png", "png,,pdf", ",", "png pdf"):
        with pytest.raises(ConfigurationError, match="figure_formats: is .*, expected"):
            load_configuration(_write(tmp_path, ""), {"experiment": {"figure_formats": text}})


def test_figure_format_none_cannot_be_combined(tmp_path):
    path = _write(tmp_path, "[experiment]\nfigure_formats = none\n")
    assert load_configuration(path).experiment.formats == ()
    path = _write(tmp_path, "[experiment]\nfigure_formats = png, none\n")
    with pytest.raises(ConfigurationError, match="figure_formats.* png, none") as raised:
        load_configuration(path)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize(("rate", "published"), [(50.0, 50.0), (100.0, 100.0), (400.0, 100.0)])
def test_imu_publication_rate_is_limited_to_simulation_rate(tmp_path, rate, published):
    path = tmp_path / "imu.yaml"
    path.write_text(f"output: {{rate: {rate}, drop_repeated: true}}\n")
    sections = {
        "imu": {"model": "specification", "rate": 100},
        "imu_specification": {"file": str(path)},
    }
    assert imu_sampling(load_configuration(overrides=sections)) == (published, 0.0)


def test_error_sources_missing_from_specification_are_reported():
    def remarks(file, latitude=None, model="specification", standstill=0.0):
        sections = {"imu": {"model": model}, "imu_specification": {"file": file}}
        sections["operation"] = {"standstill": standstill}
        return imu_remarks(
            load_configuration(overrides={**sections, "simulation": {"latitude": latitude}})
        )

    assert len(remarks("bno055", standstill=10.0)) == 1  # removes the Earth's rotation
    standing_errors, earth = remarks("bno055")
    assert standing_errors.startswith("bno055 has only stationary errors")
    assert earth.startswith("the Earth's rotation, 15 deg/h times the sine of the latitude, is")
    assert remarks("bno055", latitude=50.0) == [standing_errors]
    # There is no remark, because the bias far exceeds the Earth rate and all errors are specified.
    assert remarks("bno055_datasheet") == []
    (zeroed,) = remarks("bno055_datasheet", standstill=10.0)
    assert "standstill of 10 s, [operation] standstill, and removed" in zeroed
    assert remarks("bno055", model="hector") == []


def environment(model="specification", file="bno055_magnetometer", **keys):
    sections = {"imu": {"model": model}, "imu_specification": {"file": file}}
    return make_magnetic_environment(
        load_configuration(overrides={**sections, "magnetic_environment": keys})
    )


def test_magnetic_environment_is_created_from_location_for_magnetic_imus(
    tmp_path,
):
    assert environment().bars == ()
    assert environment(file="bno055") is None
    assert environment("hector") is None
    place = {"latitude": -33.86, "longitude": 151.21, "height": 0.0, "date": "2025-01-01"}
    sections = {"magnetic_environment": {"file": "steel_beam", **place}}
    named = make_magnetic_environment(load_configuration(overrides=sections))
    assert len(named.bars) == 1
    # Values of the British Geological Survey, as in test_environment.py.
    expected = np.array([5450.0, 24040.0, 51381.0]) * 1e-9
    np.testing.assert_allclose(named.undisturbed, expected, rtol=0.0, atol=1e-9)
    path = tmp_path / "hall.yaml"
    path.write_text("earth: [0.0, 2e-5, -4e-5]\n")
    sections = {"file": str(path), "latitude": 10.0}
    with pytest.raises(ConfigurationError, match="latitude has no effect"):
        make_magnetic_environment(load_configuration(overrides={"magnetic_environment": sections}))
    sections = {"file": "clean", "date": "2077-01-01"}
    with pytest.raises(ConfigurationError, match=r"\[magnetic_environment\] date is 2077-01-01"):
        make_magnetic_environment(load_configuration(overrides={"magnetic_environment": sections}))


def test_imu_file_of_another_tool_is_read(tmp_path):
    bundled = isf.read_imu_specification("adis16470")
    file = tmp_path / "imu.sdf"
    file.write_text(isf.write_imu_parameters(bundled, "sdf").text)
    overrides_of_imu = {
        "imu": {"model": "specification"},
        "imu_specification": {"file": f"sdf:{file}"},
    }
    configuration = load_configuration(overrides=overrides_of_imu)
    described = describe_imu(configuration)["parameters"]["specification"]["gyroscope"]
    assert described["white_noise"] == pytest.approx(bundled.gyroscope.white_noise, rel=1e-6)
    # gz sim publishes the true orientation, which hides the heading error.
    assert "true orientation" in " ".join(imu_remarks(configuration))
    overrides_of_imu["imu_specification"] = {"file": "hector"}
    with pytest.raises(ConfigurationError, match="parameters of a plug-in; set imu:=hector"):
        describe_imu(load_configuration(overrides=overrides_of_imu))
