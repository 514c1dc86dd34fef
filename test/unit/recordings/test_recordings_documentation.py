"""The list of quantities in the documentation is the code's own."""

from pathlib import Path

from imu_simulation_framework.recordings.column_maps import documentation

DOCUMENT = Path(__file__).resolve().parents[3] / "doc" / "recordings.md"


def test_the_documented_quantities_are_those_of_the_code():
    text = DOCUMENT.read_text(encoding="utf-8")
    between = text.split("<!-- quantities: begin -->\n")[1].split("<!-- quantities: end -->")[0]
    assert between.strip() == documentation()
