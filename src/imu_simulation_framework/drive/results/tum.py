"""An experiment's motions as trajectories of the TUM RGB-D benchmark, which evo reads.

A line ``time x y z qx qy qz qw`` per sample. Each IMU stands beside what is right for it, at its
own stamps: the same positions, and as orientation its yaw alone, turned so that its error starts at
zero. So the rotation between the two is the yaw error's size:

    evo_ape tum simulated_truth.tum simulated_imu.tum --pose_relation angle_deg

The format: https://cvg.cit.tum.de/data/datasets/rgbd-dataset/file_formats
"""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.core.angles import quaternion_from_roll_pitch_yaw


def tum_text(time, x, y, yaw) -> str:
    """Return a planar trajectory as the content of a TUM file.

    Parameters
    ----------
    time, x, y, yaw : array_like, shape (n,)
        [s, m, m, rad]

    Returns
    -------
    str
        Numbers that read back the same to the last bit.
    """
    yaw = np.asarray(yaw, dtype=float)
    zero = np.zeros_like(yaw)
    quaternions = quaternion_from_roll_pitch_yaw(np.column_stack([zero, zero, yaw]))
    rows = np.column_stack([time, x, y, zero, quaternions])
    return "".join(" ".join(map(repr, row)) + "\n" for row in rows.tolist())


def tum_of_comparison(comparison, poses) -> dict[str, str]:
    """Return an IMU and what is right for it as TUM.

    Parameters
    ----------
    poses : DataFrame
        Where the robot was: x, y [m] by time [s].

    Returns
    -------
    dict of str to str
        ``truth`` and ``imu``.
    """
    time = comparison.error.index.to_numpy(dtype=float)
    known = poses.index.to_numpy(dtype=float)
    x, y = (np.interp(time, known, poses[name].to_numpy(dtype=float)) for name in ("x", "y"))
    return {
        "truth": tum_text(time, x, y, comparison.reference_yaw),
        "imu": tum_text(time, x, y, comparison.imu_yaw),
    }
