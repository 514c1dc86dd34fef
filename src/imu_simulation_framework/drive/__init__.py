"""A robot that replays a recorded drive, what its IMU says, and how that compares."""
