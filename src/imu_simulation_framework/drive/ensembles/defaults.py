"""Default values and choices for ensembles and for tests of IMU models."""

KEEP = 1000
"""Number of runs whose yaw error over time is stored."""

LINEAR, SENSOR = KINDS = ("linear", "sensor")
"""Kinds of runs: with the linear model, or with the three-axis sensor and its filter."""

JUDGEMENT = "judgement"
"""Prefix of the result files of judge_imu.py."""
