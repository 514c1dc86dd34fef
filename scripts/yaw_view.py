#!/usr/bin/env python3
"""Start the ROS node yaw_view, which shows yaws in a Matplotlib window.

See imu_simulation_framework.ros1.nodes.yaw_view.
"""

import signal

if __name__ == "__main__":
    # From here on, SIGINT ends the process at once, without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from imu_simulation_framework.ros1.entry_points import start_node

    start_node("yaw_view", "YawView")
