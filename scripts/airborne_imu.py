#!/usr/bin/env python3
"""Start the ROS node airborne_imu, which publishes an IMU on a gimbal of an aircraft.

See imu_simulation_framework.ros1.nodes.airborne_imu.
"""

import signal

if __name__ == "__main__":
    # From here on, SIGINT ends the process at once, without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from imu_simulation_framework.ros1.entry_points import start_node

    start_node("airborne_imu", "AirborneImuNode", "airborne.launch")
