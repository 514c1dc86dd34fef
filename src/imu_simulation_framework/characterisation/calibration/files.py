"""What a calibration leaves behind: correction, specification of what is left, numbers, figure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from imu_simulation_framework import __version__
from imu_simulation_framework.characterisation.calibration.correction import (
    ImuCorrection,
    correction_of,
    what_is_left,
)
from imu_simulation_framework.characterisation.calibration.correction_file import (
    imu_correction_text,
)
from imu_simulation_framework.characterisation.calibration.figures import calibration_figure
from imu_simulation_framework.characterisation.calibration.text import rows
from imu_simulation_framework.core.files import json_text
from imu_simulation_framework.core.whole_files import (
    make_folder,
    picture,
    refuse_overwriting,
    write_whole,
)
from imu_simulation_framework.report.drawing import drawing
from imu_simulation_framework.sensors.files import imu_specification_text
from imu_simulation_framework.sensors.imu_specification import (
    ImuSpecification,
    MagnetometerSpecification,
    OutputSpecification,
    TriadSpecification,
)

_KINDS: dict[str, Any] = {
    "gyroscope": TriadSpecification,
    "accelerometer": TriadSpecification,
    "magnetometer": MagnetometerSpecification,
}


def write_calibration(result, folder, name, onto=None) -> list[str]:
    """Write all files of a Calibrated; contents are made before the first is written.

    ``onto`` is the correction of which stays what is not found anew. Returns remarks.

    Raises
    ------
    ConfigurationError
        The name cannot be a sensor's, or a matrix that was found cannot be inverted.
    ResultError
        A file cannot be written, or is an input.
    """
    temperatures = [result.temperature[r.start : r.stop] for r in result.rests] if (
        result.temperature is not None
    ) else []  # fmt: skip
    span = (
        (float(np.min(np.concatenate(temperatures))), float(np.max(np.concatenate(temperatures))))
        if temperatures
        else (-273.15, 1000.0)
    )
    parts = {
        sensor: correction_of(found, result.reference, span)
        for sensor, found in result.sensors.items()
    }
    correction = replace(onto or ImuCorrection(), name=name, **parts)
    comment = (
        f"made by calibrate_imu.py, imu_simulation_framework {__version__}, of "
        f"{Path(result.wishes.recording).name}"
    )
    contents = {"correction.yaml": imu_correction_text(correction, comment).encode("utf-8")}
    remarks = []
    if result.table is not None or result.wishes.noise is not None:
        left = what_is_left(correction, _noise(result), name)
        contents["imu.yaml"] = imu_specification_text(
            left, f"What is left after the correction; {comment}."
        ).encode("utf-8")
    else:
        remarks.append(
            "only the magnetometer was looked at, and the noise of the others is not known: "
            "imu.yaml is not written"
        )
    contents["calibration.json"] = json_text(_numbers(result)).encode("utf-8")
    contents["calibration.png"] = picture(drawing(calibration_figure(result)))
    folder = make_folder(folder)
    inputs = [one for one in (result.wishes.recording, result.wishes.reference) if one]
    for file in contents:
        refuse_overwriting(folder / file, inputs)
    for file, content in contents.items():
        write_whole(folder / file, content)
    return remarks


def _noise(result) -> ImuSpecification:
    """Return the specification of the noise: as given, or as found."""
    given = result.wishes.noise
    triads = {
        sensor: kind(
            white_noise=tuple(axis.white_noise for axis in found.noise),
            bias_instability=tuple(axis.bias_instability for axis in found.noise),
            random_walk=tuple(axis.random_walk for axis in found.noise),
        )
        for sensor, found in result.sensors.items()
        for kind in (_KINDS[sensor],)
    }
    if given is not None:
        known = given.magnetometer is not None or "magnetometer" not in triads
        return given if known else replace(given, magnetometer=triads["magnetometer"])
    period = float(np.median(np.diff(result.table.index.to_numpy())))
    rate = 1.0 / period
    rate = float(round(rate)) if abs(rate - round(rate)) < 1e-3 * rate else rate
    parts: dict[str, Any] = dict(triads)
    return ImuSpecification(output=OutputSpecification(rate=rate), **parts)


def _numbers(result) -> dict:
    times = np.zeros(1) if result.table is None else result.table.index.to_numpy()
    origin = float(times[0])
    return {
        "recording": str(result.wishes.recording),
        "at_rest": [
            [float(times[r.start] - origin), float(times[r.stop - 1] - origin)]
            for r in result.rests
        ],
        "turns": [
            {
                "from": float(times[turn.start] - origin),
                "to": float(times[turn.stop - 1] - origin),
                "angle_deg": np.degrees(turn.angle).tolist(),
            }
            for turn in result.turns
        ],
        "found": [
            {
                "sensor": sensor,
                "quantity": quantity,
                "unit": unit,
                "value": estimate.value / size,
                "low": estimate.low / size,
                "high": estimate.high / size,
            }
            for sensor, quantity, unit, estimate, size in rows(result)
        ],
        "remarks": result.remarks,
        "version": __version__,
    }
