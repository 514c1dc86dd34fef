"""What imu_utils writes, ``NAME_imu_param.yaml``: the Allan analysis of a recording at rest.

For ``Gyr`` [rad/s] and ``Acc`` [m/s^2], below ``x-axis``, ``y-axis``, ``z-axis`` and, the mean of
them, ``avg-axis``:

==================== ==================================================================
key                  ours
==================== ==================================================================
``gyr_n``, ``acc_n`` ``white_noise * sqrt(rate)``: of a sample; until May 2018
                     ``white_noise`` itself
``gyr_w``, ``acc_w`` lowest point of the Allan deviation: ``0.664 bias_instability``
``name``             ``name``
==================== ==================================================================

Its readme calls the second a random walk by its unit, and many a configuration of Kalibr or VINS
takes it for one; what is computed is the minimum of the fitted Allan deviation over the averaging
times (``getBiasInstability`` in ``src/gyr_lib/fitallan_gyr.cpp`` and ``src/acc_lib``). There is no
random walk K in the file.

The first is the fitted Allan deviation at 1 s times the root of the recording's rate
(``getWhiteNoise``), which the file does not state. The factor came with commit 7262b35 of May 2018:
older files, and what the readme shows, are without it. As the minimum of a curve cannot be above
its value at 1 s, a file with ``n / sqrt(rate)`` well below w can only be an older one.

Source: github.com/gaowenliang/imu_utils. It is read only; the tool writes what it measured.
"""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.core.sentences import shown
from imu_simulation_framework.sensors.formats.base import AXES, Reading, imu_reading, read_rate
from imu_simulation_framework.sensors.formats.yaml import read_mapping
from imu_simulation_framework.sensors.imu_specification import TriadSpecification
from imu_simulation_framework.sensors.noise.densities import density_of_samples
from imu_simulation_framework.sensors.noise.processes import FLICKER_PLATEAU
from imu_simulation_framework.sensors.triads import TRIADS

_SENSORS = {
    "gyroscope": ("Gyr", "gyr_n", "gyr_w"),
    "accelerometer": ("Acc", "acc_n", "acc_w"),
}
_MEAN = "avg-axis"
# The minimum is looked for at averaging times beside 1 s, and may by chance be slightly above.
_SURELY_BELOW = 0.8


def read(path, rate: float | None = None) -> Reading:
    """Read the parameters that imu_utils found in a recording of this rate."""
    values = read_mapping(path)
    values.require([key for key, *_ in _SENSORS.values()], ("type", "name"))
    sample_rate = read_rate(
        None, rate, f"{path}: the noise is that of samples, whose rate imu_utils does not state"
    )
    remarks: list[str] = []
    found = {
        name: _read_sensor(values, TRIADS[name].unit, *keys, remarks)
        for name, keys in _SENSORS.items()
    }
    root = float(np.sqrt(sample_rate))
    of_samples = all(np.all(n / root >= _SURELY_BELOW * w) for n, w in found.values())
    remarks.append(
        f"gyr_n and acc_n were divided by sqrt({sample_rate:g} Hz), the rate of the recording; "
        "imu_utils from before May 2018 writes them without that factor."
        if of_samples
        else "gyr_n and acc_n were taken for densities, as imu_utils wrote them until May 2018: as "
        f"those of samples at {sample_rate:g} Hz they would be below the lowest point of their "
        "own Allan deviation, gyr_w or acc_w."
    )
    remarks.append(
        "gyr_w and acc_w are the lowest points of the Allan deviations, so bias instabilities and "
        "no random walks; imu_utils states no random walk."
    )
    triads = {
        name: TriadSpecification(
            white_noise=density_of_samples(n, sample_rate) if of_samples else n,
            bias_instability=w / FLICKER_PLATEAU,
        )
        for name, (n, w) in found.items()
    }
    name = values.text("name") if "name" in values else "imu"
    return imu_reading(sample_rate, triads, remarks, name)


def _read_sensor(values, unit, key, noise, minimum, remarks):
    """Return the two numbers of a sensor's axes, (3,) each."""
    sensor = values.mapping(key)
    if "unit" in sensor and sensor.text("unit").strip() != unit:
        raise sensor.error("unit", f"is {shown(sensor.text('unit'))}, but must be {unit!r}")
    axes = [f"{axis}-axis" for axis in AXES]
    if not any(axis in sensor for axis in axes):
        sensor.require([_MEAN])
        remarks.append(f"{key}: the mean over the axes stands for each of them.")
        axes = [_MEAN] * 3
    sensor.require(axes, ("unit", _MEAN))
    rows = [sensor.mapping(axis) for axis in axes]
    for row in rows:
        row.require((noise, minimum))
    return tuple(np.array([row.positive(name) for row in rows]) for name in (noise, minimum))
