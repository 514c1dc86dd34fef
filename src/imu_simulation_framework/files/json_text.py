"""Values of any kind as JSON."""

from __future__ import annotations

import json
import math

import numpy as np


def json_text(value) -> str:
    """Return the text of a JSON file."""
    return json.dumps(plain(value), indent=2, allow_nan=False) + "\n"


def plain(value):
    """Only what JSON knows: numpy's numbers become Python's, what is not finite None."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return value if value is None or isinstance(value, str) else str(value)
