"""Tables as text."""

import pandas as pd

from imu_simulation_framework.report.table import Column, table_text


def test_a_number_that_rounds_to_zero_has_no_sign():
    table = pd.DataFrame({"x": [-1e-5, -0.0006, float("nan")]})
    assert table_text(table, [Column("x", "x", "m", 3)]).split("\n")[1:4] == [
        " 0.000", "-0.001", "     -",
    ]  # fmt: skip
