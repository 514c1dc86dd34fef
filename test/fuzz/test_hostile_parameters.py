"""Damaged IMU parameter files in all supported formats."""

from __future__ import annotations

import specimens
from cases import Case
from hypothesis import given
from hypothesis import strategies as st
from strategies.settings import damaged_settings, damaged_trees
from strategies.values import numbers
from verdict import Expected

TARGETS = ("specification", "kalibr", "sdf", "hector", "rotors", "unity", "datasheet")
TOOL = "convert_imu_parameters.py"


def parameter_files():
    """Return a strategy for pairs of a format and a valid file."""
    return st.deferred(lambda: st.sampled_from(specimens.parameters()))


@st.composite
def conversions(draw):
    """Generate a conversion of a damaged file, sometimes with invalid options."""
    source, specimen = draw(parameter_files())
    content = draw(damaged_settings(specimen.content.decode()))
    if draw(st.integers(0, 9)) == 0:
        source = draw(parameter_files())[0]
    target = draw(st.sampled_from(TARGETS))
    words = [specimen.name, "--from", source, "--to", target]
    for option, value in (("--rate", "200"), ("--correlation-time", "100")):
        if draw(st.booleans()):
            drawn = draw(st.one_of(st.just(value), numbers())).replace("\0", "")
            words.append(f"{option}={drawn}")
    if draw(st.booleans()):
        words += ["--out", "converted"]
    names = (specimen.name, "--rate", "--correlation-time")
    expected = Expected(names=names, nameless=(rf"The format {target} ",))
    return Case(TOOL, tuple(words), {specimen.name: content}, expected)


@given(case=conversions())
def test_damaged_imu_parameter_file_is_converted_or_rejected(judge, case):
    assert not judge(case).shortcomings


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
def test_damaged_imu_specification_is_simulated_or_rejected(judge, case):
    assert not judge(case).shortcomings


@given(item=parameter_files(), out=st.sampled_from(((), ("--out", "a.yaml"))))
def test_intact_imu_parameter_file_is_converted(judge, item, out):
    source, specimen = item
    words = (specimen.name, "--from", source, "--to", "specification", "--rate", "100", *out)
    files = {specimen.name: specimen.content}
    assert not judge(Case(TOOL, words, files, Expected((0,)))).shortcomings
