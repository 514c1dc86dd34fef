#!/usr/bin/env python3
"""ROS node path_follower; see imu_simulation_framework.ros1.nodes.path_follower."""

import signal

if __name__ == "__main__":
    # From here on SIGINT ends it at once, without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from imu_simulation_framework.ros1.entry_points import start_node

    start_node("path_follower", "PathFollower")
