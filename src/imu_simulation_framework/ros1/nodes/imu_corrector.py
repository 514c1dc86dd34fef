"""Republish an IMU with the correction of calibrate_imu.py.

Private parameters: ``~correction``, the YAML file; ``~standstill``, the standstill at the start
over which the gyroscope is zeroed [s], by default 0, not zeroed; ``~stops``, ``detected`` to zero
it again at each stop. A standstill is required without a correction. Topics: ``imu/data_raw`` to
``imu/data``; with a correction of a magnetometer also ``imu/mag_raw`` to ``imu/mag``; with a
correction that depends on temperature also ``imu/temperature``, whose last value is used. Topics
can be remapped. Header and orientation stay as they are. An orientation that was fused from
uncorrected readings should be fused again.
"""

from __future__ import annotations

from ...realistic_imu.node_sessions import LiveCorrector
from ..live import LiveNode


class ImuCorrector(LiveNode):
    """ROS 1 shell of a :class:`.LiveCorrector`."""

    name = "imu_corrector"
    session_type = LiveCorrector
