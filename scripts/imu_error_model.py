#!/usr/bin/env python3
"""Start the ROS node imu_error_model, which adds IMU errors to an ideal IMU.

See imu_simulation_framework.ros1.nodes.imu_error_model.
"""

import signal

if __name__ == "__main__":
    # From here on, SIGINT ends the process at once, without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from imu_simulation_framework.ros1.entry_points import start_node

    start_node("imu_error_model", "ImuErrorModel")
