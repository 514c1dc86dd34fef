"""The judge and what is judged are modules of this folder; recordings are made as in unit tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit"))
