"""A pan-tilt-roll gimbal between a platform and an IMU."""
