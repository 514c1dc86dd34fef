"""What an IMU says of a motion: specification, noise, fusion, the models of plug-ins."""
