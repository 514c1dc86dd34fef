"""An IMU on a gimbal on an aircraft: from a flight to all that is measured and published of it."""
