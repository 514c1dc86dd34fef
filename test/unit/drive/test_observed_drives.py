"""Yaw errors observed on recorded drives."""

import numpy as np
import pandas as pd

from imu_simulation_framework.drive.observed_drives import read_drive
from imu_simulation_framework.recordings.plausibility.findings import NOT_INDEPENDENT

LAG = 0.2  # s, delay of the IMU's stamps relative to the reference


def write_drive(folder, lag):
    """Write a 120 s drive on a winding path whose yaw is the integral of the gyroscope."""

    def yaw(time):
        return 0.6 * np.sin(0.5 * time) + 0.4 * np.sin(1.3 * time)

    def yaw_rate(time):
        return 0.3 * np.cos(0.5 * time) + 0.52 * np.cos(1.3 * time)

    time = np.arange(0.0, 120.0, 0.05)
    x, y = (np.cumsum(0.05 * part(yaw(time))) for part in (np.cos, np.sin))
    reference = pd.DataFrame({"time": time, "x": x, "y": y, "yaw": yaw(time)})
    reference.to_csv(folder / "reference.csv", index=False)
    time = np.arange(0.0, 120.0, 0.01)
    imu = pd.DataFrame({"time": time + lag, "yaw": yaw(time), "gyro_z": yaw_rate(time)})
    imu.to_csv(folder / "imu.csv", index=False)
    config = folder / "config.ini"
    config.write_text("[reference]\npath = reference.csv\n[imu_recording]\npath = imu.csv\n")
    return config


def test_reference_that_may_depend_on_imu_is_reported_once(tmp_path):
    drive = read_drive(str(write_drive(tmp_path, lag=0.0)), step=1.0)
    warnings = [remark for remark in drive.remarks if NOT_INDEPENDENT in remark]
    assert len(warnings) == 1

    recording = read_drive(str(write_drive(tmp_path, lag=LAG)), step=1.0)
    assert not any(NOT_INDEPENDENT in remark for remark in recording.remarks)


def test_integrated_gyroscope_of_delayed_imu_matches_its_yaw(tmp_path):
    drive = read_drive(str(write_drive(tmp_path, LAG)), step=1.0)

    assert any("0.2 s late" in remark for remark in drive.remarks)
    assert drive.gyroscope is None
    assert not any("gyroscope differ by" in remark for remark in drive.remarks)
