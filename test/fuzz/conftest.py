"""The judge and what is judged are modules of this folder; recordings are made as in unit tests."""

import sys
from pathlib import Path

UNIT = Path(__file__).resolve().parents[1] / "unit"
sys.path[:0] = [str(UNIT), str(UNIT / "sensors" / "formats")]
