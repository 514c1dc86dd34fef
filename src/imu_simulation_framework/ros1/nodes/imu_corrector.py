"""Republishes an IMU with the correction that calibrate_imu.py found.

Private parameters: ``~correction``, the YAML file; ``~standstill``, how long the robot stands still
at first, in which the gyroscope's offset is measured, to be taken off from then on [s], by default
0, not at all; ``~stops``, ``detected`` for taking it anew where the IMU stands on the way. Without
a correction there has to be a standstill. Topics: ``imu/data_raw`` to ``imu/data``; where
the correction has a magnetometer ``imu/mag_raw`` to ``imu/mag``; where it depends on the
temperature ``imu/temperature``, whose last value counts. Remap them as usual. Header and
orientation are kept; who has fused the orientation from uncorrected readings should fuse it anew.
"""

from __future__ import annotations

from ...realistic_imu.node_sessions import LiveCorrector
from ..live import LiveNode


class ImuCorrector(LiveNode):
    """Hands messages to a :class:`.LiveCorrector`."""

    name = "imu_corrector"
    session_type = LiveCorrector
