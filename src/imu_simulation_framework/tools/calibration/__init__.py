"""What calibrate_imu.py does."""
