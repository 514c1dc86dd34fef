"""Republish an IMU with the correction determined by calibrate_imu.py.

Private parameters: ``~correction``, the YAML file; ``~standstill``, duration of the standstill at
the start during which the gyroscope is zeroed [s], by default 0 for no zeroing; ``~stops``, set to
``detected`` to zero it again at each stop. Without a correction, a standstill is required. Topics:
``imu/data_raw`` to ``imu/data``; with a magnetometer correction also ``imu/mag_raw`` to
``imu/mag``; with a temperature-dependent correction also ``imu/temperature``, whose last value is
used. Topics can be remapped. Header and orientation do not change. An orientation that was fused
from uncorrected readings should be fused again.
"""

from __future__ import annotations

from ...realistic_imu.node_sessions import LiveCorrector
from ..live import LiveNode


class ImuCorrector(LiveNode):
    """ROS 1 node that runs a :class:`.LiveCorrector`."""

    name = "imu_corrector"
    session_type = LiveCorrector
