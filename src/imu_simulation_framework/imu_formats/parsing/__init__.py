"""What several formats of IMU parameters share: tags, values, units, near names."""
