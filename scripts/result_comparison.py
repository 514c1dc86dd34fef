#!/usr/bin/env python3
"""Start the ROS 1 or ROS 2 node result_comparison, which compares IMUs and writes the results.

See imu_simulation_framework.ros1 and ros2.
"""

import os
import signal

if __name__ == "__main__":
    # From here on, SIGINT ends the process at once, without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if os.environ.get("ROS_VERSION") == "2":
        from imu_simulation_framework.ros2.entry_points import start_node
    else:
        from imu_simulation_framework.ros1.entry_points import start_node

    start_node("result_comparison", "ResultComparison")
