"""Tables as text."""

import pandas as pd

from imu_simulation_framework.report.table import Column, format_table


def test_table_number_rounded_to_zero_has_no_sign():
    table = pd.DataFrame({"x": [-1e-5, -0.0006, float("nan")]})
    assert format_table(table, [Column("x", "x", "m", 3)]).split("\n")[1:4] == [
        " 0.000", "-0.001", "     -",
    ]  # fmt: skip
