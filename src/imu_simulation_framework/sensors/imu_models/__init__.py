"""Error models: from an IMU's true signals to those of a plug-in or a real IMU."""
