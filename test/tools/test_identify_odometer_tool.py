"""Tests of the program identify_odometer.py, whose output heading_budget.py reads."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tool_calls import PNG, call_tool, printed_by

import imu_simulation_framework as isf
from imu_simulation_framework.drive.results.files import tum_text


@pytest.fixture
def files(_empty_working_directory):
    """Write odometer poses, and a reference yaw with a delay of 0.3 s, as CSV files."""
    motion = isf.read_drive("a")
    odometer = isf.OdometerSpecification(
        rate=10, track=0.55, diameter_ratio=1.02, track_ratio=1.04, slip=1e-3
    )
    odo = isf.simulate_odometer(motion, odometer)
    Path("odo.tum").write_text(tum_text(odo.index, odo["x"], odo["y"], odo["yaw"]))
    yaw = np.degrees(np.interp(odo.index, motion.time, motion.yaw))
    pd.DataFrame({"time": odo.index + 0.3, "heading": yaw}).to_csv("better.csv", index=False)
    return "odo.tum", "better.csv@heading [deg]"


def test_identified_odometer_can_be_read_by_heading_budget(files):
    text = printed_by(call_tool("identify_odometer.py", *files, "--track", "0.55"))
    assert "the reference is 0.300 s late" in text
    found = isf.read_odometer("identify_odometer/odometer.yaml")
    assert found.diameter_ratio == pytest.approx(1.02, abs=4.0 * found.diameter_ratio_sigma)
    assert found.track_ratio == pytest.approx(1.04, abs=4.0 * found.track_ratio_sigma)
    assert found.slip == pytest.approx(1e-3, rel=0.15)
    assert found.track == 0.55
    assert f"E_d  {found.diameter_ratio:.5f} +- " in text
    table = pd.read_csv("identify_odometer/identification.csv", index_col=0)
    assert f"final error {np.degrees(table['error'].iloc[-1]):.3g} deg" in text
    assert Path("identify_odometer/identification.png").read_bytes().startswith(PNG)

    budget = call_tool("heading_budget.py", "a", "--odometer", "identify_odometer/odometer.yaml")
    assert "odometer  unequal wheels" in printed_by(budget)
    again = printed_by(
        call_tool("identify_odometer.py", *files, "--track", "0.55", "--wheel-radius", "0.165",
                  "--report")
    )  # fmt: skip
    page = Path("identify_odometer/identification.html").read_text()
    assert "<h1>Errors of a wheel odometer" in page and f"E_d  {found.diameter_ratio:.5f}" in page
    assert "E_d" in again
    assert isf.read_odometer("identify_odometer/odometer.yaml").wheel_radius == 0.165
