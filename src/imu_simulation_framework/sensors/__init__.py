"""What an IMU, a magnetometer and a GNSS receiver say of a motion: errors and formats."""
