"""A recorded drive: its files, its set-up, its check, its path and its recorded IMU."""
