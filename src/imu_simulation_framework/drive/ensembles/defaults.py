"""Default values and choices for ensembles and for tests of IMU models."""

STORED_RUNS = 1000
"""Number of runs whose yaw error over time is stored."""

LINEAR, SENSOR = KINDS = ("linear", "sensor")
"""Types of simulated runs: linear yaw error model, or three-axis sensor with fusion filter."""

JUDGEMENT = "judgement"
"""Prefix of the result files of judge_imu.py."""
