"""From an IMU at rest to the parameters of its noise."""
