"""Damaged IMU parameter files in all supported formats."""

from __future__ import annotations

import sample_files
from cases import Case
from hypothesis import given
from hypothesis import strategies as st
from program_result import Expected
from strategies.settings import damaged_settings, damaged_trees
from strategies.values import numbers

TARGETS = ("specification", "kalibr", "sdf", "hector", "rotors", "unity", "datasheet")
TOOL = "convert_imu_parameters.py"


def parameter_files():
    """Return a strategy for pairs of a format and a valid file."""
    return st.deferred(lambda: st.sampled_from(sample_files.parameters()))


@st.composite
def conversions(draw):
    """Generate a conversion of a damaged file, sometimes with invalid options."""
    source, sample_file = draw(parameter_files())
    content = draw(damaged_settings(sample_file.content.decode()))
    if draw(st.integers(0, 9)) == 0:
        source = draw(parameter_files())[0]
    target = draw(st.sampled_from(TARGETS))
    words = [sample_file.name, "--from", source, "--to", target]
    for option, value in (("--rate", "200"), ("--correlation-time", "100")):
        if draw(st.booleans()):
            drawn = draw(st.one_of(st.just(value), numbers())).replace("\0", "")
            words.append(f"{option}={drawn}")
    if draw(st.booleans()):
        words += ["--out", "converted"]
    names = (sample_file.name, "--rate", "--correlation-time")
    expected = Expected(names=names, nameless=(rf"The format {target} ",))
    return Case(TOOL, tuple(words), {sample_file.name: content}, expected)


@given(case=conversions())
def test_damaged_imu_parameter_file_is_converted_or_rejected(check_outcome, case):
    assert not check_outcome(case).violations


@st.composite
def simulations(draw):
    """Generate a simulation with a damaged IMU specification."""
    text = draw(
        parameter_files()
        .filter(lambda item: item[0] == "specification")
        .map(lambda item: item[1].content.decode())
    )
    content = draw(st.one_of(damaged_settings(text), damaged_trees(text)))
    words = ("./imu.yaml", "--hours", "1e-3", "--out", "static.csv")
    return Case("simulate_static.py", words, {"imu.yaml": content}, Expected(names=("imu.yaml",)))


@given(case=simulations())
def test_damaged_imu_specification_is_simulated_or_rejected(check_outcome, case):
    assert not check_outcome(case).violations


@given(item=parameter_files(), out=st.sampled_from(((), ("--out", "a.yaml"))))
def test_intact_imu_parameter_file_is_converted(check_outcome, item, out):
    source, sample_file = item
    words = (sample_file.name, "--from", source, "--to", "specification", "--rate", "100", *out)
    files = {sample_file.name: sample_file.content}
    assert not check_outcome(Case(TOOL, words, files, Expected((0,)))).violations
