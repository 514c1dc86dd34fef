"""An IMU on a gimbal on an aircraft: JSBSim, gimbal, navigation, and all that is measured of it."""
