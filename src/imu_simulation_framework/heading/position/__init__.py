"""Position error of dead reckoning with a heading and a wheel odometer."""
