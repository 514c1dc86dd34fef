"""Tables of an experiment with known errors, for tests of comparison and report."""

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import signal

from imu_simulation_framework.drive.results.files import ExperimentTables

HALF_TRACK = 0.3  # [m]
WHEEL_RADIUS = 0.1  # [m]


def make_tables(duration=660.0, seed=1, lap=60.0, with_real_imu=True):
    """Return the tables of a robot that drives a loop repeatedly.

    The sampling rate is 5 Hz for the reference and 100 Hz for both IMUs and the ground truth. The
    recorded IMU has a bias, a scale factor error and a random walk. The simulated IMU has a slow
    Gauss-Markov drift and white noise. The tracking error of the robot is sinusoidal.

    Parameters
    ----------
    duration : float, optional
        Duration [s].
    seed : int, optional
        Seed of all noise.
    lap : float, optional
        Duration of a lap [s].
    with_real_imu : bool, optional
        Whether the tables have a recorded IMU.

    Returns
    -------
    ExperimentTables
    """
    generator = np.random.default_rng(seed)
    time = np.arange(int(round(duration * 100)) + 1) / 100.0
    poses = _loop(time, lap)
    gps_time = np.arange(0.0, duration + 1e-9, 0.2)
    noise = np.array([[0.02], [0.02], [np.radians(0.25)]])
    gps = _loop(gps_time, lap) + noise * generator.normal(size=(3, len(gps_time)))
    # As in an experiment, the reference is resampled to 20 Hz and smoothed over a second.
    control_time = np.arange(0.0, duration + 1e-9, 0.05)
    x, y, yaw = (
        pd.Series(signal.savgol_filter(np.interp(control_time, gps_time, row), 21, 2))
        for row in gps
    )
    v = np.hypot(np.gradient(x, 0.05), np.gradient(y, 0.05))
    yaw_rate = np.gradient(yaw, 0.05)
    trajectory_data = pd.DataFrame(
        {"x": x, "y": y, "yaw": yaw, "v": v, "yaw_rate": yaw_rate}
    ).set_index(pd.Index(control_time, name="time"))
    trajectory_data["left"] = (v - HALF_TRACK * yaw_rate) / WHEEL_RADIUS
    trajectory_data["right"] = (v + HALF_TRACK * yaw_rate) / WHEEL_RADIUS

    along = 0.05 * np.sin(2 * np.pi * time / 23.0) + 0.02 * np.sin(2 * np.pi * time / 7.0)
    across = 0.03 * np.sin(2 * np.pi * time / 17.0 + 1.0)
    yaw_deviation = np.radians(0.6) * np.sin(2 * np.pi * time / 5.0)
    cosine, sine = np.cos(poses[2]), np.sin(poses[2])
    truth_yaw = poses[2] + yaw_deviation
    stamps = pd.Index(time, name="time")
    ground_truth = pd.DataFrame(
        {
            "x": poses[0] + cosine * along - sine * across,
            "y": poses[1] + sine * along + cosine * across,
            "z": 0.0, "roll": 0.0, "pitch": 0.0, "yaw": truth_yaw,
            "v": 0.6, "yaw_rate": np.gradient(truth_yaw, 0.01),
        },
        index=stamps,
    )  # fmt: skip
    errors = {"yaw_error": -yaw_deviation, "distance_error": np.hypot(along, across)}
    errors.update(along_track_error=-along, cross_track_error=-across)
    control_error = pd.DataFrame(errors, index=stamps).iloc[::5]

    white = generator.normal(size=(2, len(time)))
    random_walk = np.cumsum(white[0]) * 2e-4
    real_yaw = poses[2] * (1 + 0.0015) + 2.4e-4 * time + random_walk + 1.2
    decay = np.exp(-0.005 * 0.01)
    drift = signal.lfilter([0.01 * np.sqrt(2 * 0.005) * 0.5], [1.0, -decay], white[1])
    noise = generator.normal(size=len(time)) * 0.00215
    return ExperimentTables(
        trajectory_data=trajectory_data,
        reference=pd.DataFrame(
            gps.T, columns=["x", "y", "yaw"], index=pd.Index(gps_time, name="time")
        ),
        imu_simulated=_imu(stamps, truth_yaw + drift + noise),
        imu_real=_imu(stamps, np.round(real_yaw * 916.7) / 916.7) if with_real_imu else None,
        ground_truth=ground_truth,
        wheel_velocities=trajectory_data[["left", "right"]],
        control_error=control_error,
        wheel_velocities_actual=_lagging_wheels(trajectory_data[["left", "right"]]),
    )


def cut(tables, stop):
    """Return the tables of the same experiment, interrupted after ``stop`` seconds."""
    names = ("imu_simulated", "ground_truth", "wheel_velocities", "wheel_velocities_actual")
    recorded = {name: getattr(tables, name).loc[:stop] for name in (*names, "control_error")}
    return replace(tables, **recorded)


def _lagging_wheels(commanded):
    """Return wheel velocities that follow 90 % of a command change within one control period."""
    return 0.1 * commanded.shift(2, fill_value=0.0) + 0.9 * commanded.shift(1, fill_value=0.0)


def _imu(stamps, yaw):
    columns = {"roll": 0.0, "pitch": 0.0, "yaw": yaw}
    columns.update({f"gyro_{axis}": 0.0 for axis in "xyz"})
    columns.update({"accel_x": 0.0, "accel_y": 0.0, "accel_z": 9.81})
    return pd.DataFrame(columns, index=stamps)


def _loop(time, lap):
    """Return x, y and yaw of a curved closed loop, 12 m wide, with one left turn per lap."""
    phase = 2 * np.pi * np.asarray(time) / lap

    def point(phase):
        radius = 5.0 + 1.2 * np.cos(3 * phase)
        return radius * np.cos(phase), radius * np.sin(phase)

    (x, y), (x_next, y_next) = point(phase), point(phase + 1e-6)
    yaw = np.unwrap(np.arctan2(y_next - y, x_next - x))
    return np.array([x - 6.2, y, yaw])
