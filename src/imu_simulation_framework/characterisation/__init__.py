"""From a sensor's own recording to its specification: Allan variance and calibration."""
