r"""What three equal sensors say of the truth, with the errors of their specification.

.. math::

    y = \mathrm{round}(\mathrm{clip}((I + M + S_T \Delta T) f + G a + b + b_T \Delta T + n))

with the symbols of :mod:`.imu_models.specification`.
"""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.sensors.imu_specification import (
    TemperatureProfile,
    TriadSpecification,
)


class TriadResponse:
    """What a triad makes of the truth, of noise and of bias.

    Parameters
    ----------
    triad : TriadSpecification
    temperature : TemperatureProfile
    """

    def __init__(self, triad: TriadSpecification, temperature: TemperatureProfile):
        self._matrix = np.eye(3) + np.array(triad.scale_factor_and_misalignment)
        self._g_sensitivity = _unless_zero(triad.g_sensitivity)
        self._temperature = temperature
        self._temperature_bias = _unless_zero(triad.temperature_bias)
        self._temperature_scale_factor = _unless_zero(triad.temperature_scale_factor)
        self._saturation = None if triad.saturation is None else np.array(triad.saturation)
        self._resolution = _unless_zero(triad.resolution)

    def of_truth(self, signal, force, time):
        """Return what it makes of signal and specific force, without noise, bias and limits.

        Of (3,) and a time [s], or of (samples, 3) and (samples, 1).
        """
        # Products of rows, so that one sample and many give the same to the bit.
        reading = matrix_times(self._matrix, signal)
        if self._g_sensitivity is not None:
            reading += matrix_times(self._g_sensitivity, force)
        if self._temperature_scale_factor is not None:
            reading += self._temperature_scale_factor * self._excess(time) * signal
        return reading

    def read(self, of_truth, noise, bias, time):
        """Return readings of that and their bias, with the noise and bias of a realisation."""
        if self._temperature_bias is not None:
            bias = bias + self._temperature_bias * self._excess(time)
        reading = of_truth + bias
        reading += noise
        if self._saturation is not None:
            reading = np.minimum(np.maximum(reading, -self._saturation), self._saturation)
        if self._resolution is not None:
            steps = np.where(self._resolution > 0.0, self._resolution, 1.0)
            # Adding zero turns -0.0 into 0.0.
            rounded = steps * np.round(reading / steps) + 0.0
            reading = np.where(self._resolution > 0.0, rounded, reading)
        return reading, bias

    def _excess(self, time):
        return self._temperature.at(time) - self._temperature.reference


def matrix_times(matrix, vectors):
    """Return a matrix (3, 3) times vectors (..., 3), the same to the bit for one and for many."""
    if vectors.ndim == 1:
        x, y, z = vectors
        return matrix[:, 0] * x + matrix[:, 1] * y + matrix[:, 2] * z
    x, y, z = np.ascontiguousarray(np.moveaxis(vectors, -1, 0))
    product = np.empty(vectors.shape)
    for axis, row in enumerate(matrix):
        product[..., axis] = row[0] * x + row[1] * y + row[2] * z
    return product


def _unless_zero(values):
    values = np.array(values)
    return values if values.any() else None
