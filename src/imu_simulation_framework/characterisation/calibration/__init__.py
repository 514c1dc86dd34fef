"""From recordings of a calibration to what an IMU's readings have to be corrected by."""
