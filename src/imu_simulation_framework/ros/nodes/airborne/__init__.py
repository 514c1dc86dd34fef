"""An IMU on a gimbal on an aircraft, as a node."""
