"""Messages on parameters that the drives of an identification do not determine."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from imu_simulation_framework.heading.identification.reliability import weak_parameters

DRIVES = 2 * [SimpleNamespace(time=np.arange(0.0, 600.0), step=1.0)]


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.0, math.inf, "it cannot be determined"),
        (0.0, 40.0, "only an upper limit of 40 s"),
        (50.0, math.inf, "only a lower limit of 50 s"),
    ],
)
def test_unbounded_time_constant_is_described_without_infinity(low, high, words):
    estimates = {"bias_time": SimpleNamespace(low=low, high=high, value=100.0)}
    (sentence,) = weak_parameters(estimates, DRIVES)
    assert words in sentence
    assert "inf" not in sentence


def test_well_determined_time_constant_yields_no_message():
    estimates = {"bias_time": SimpleNamespace(low=50.0, high=200.0, value=100.0)}
    assert weak_parameters(estimates, DRIVES) == []
