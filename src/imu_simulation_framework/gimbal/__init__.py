"""A pan-tilt-roll gimbal between a platform and an IMU: where its joints are, and what that makes.

``joints`` are angles over time, ``geometry`` carries a motion through them, ``profiles`` move them
as prescribed and ``stabilisation`` as a loop around the IMU's gyroscope does.
"""
