"""Colours of figures, live views and rviz; a test compares them with the views' files."""

# Signals that figures compare. They differ in luminance as well, for printing in grey.
REAL = "#0b2a5b"
SIMULATED = "#e07a10"
DIFFERENCE = "#1d6b4f"
REFERENCE = "#a8b8d0"
TRUTH = "#f6d6a8"
ODOMETER = "#8c2d82"
DISTANCE = "#c2c2c2"
FIXES = "#2fa36b"
DIRECTION = "#c0392b"

# Background of the live views, behind the colours of the IMUs.
LIVE_TRUTH = "#b0b0b0"
LIVE_REFERENCE_PATH = "#787878"
MAGNETIC_FIELD = "#1e5ac8"

# Curves of an Allan analysis.
RECORDINGS = (REAL, "#4a7fb5", "#7b5ea7", "#5a8a80")
SENSOR = "#000000"
OUTSIDE = "#c03030"
QUANTISATION = "#7a4a2a"
RANDOM_WALK = "#8a2b4a"
RATE_RAMP = "#a08a10"
GAUSS_MARKOV = "#2a6ab0"

# Many lines in a figure; neighbours differ in luminance.
SERIES = (REAL, SIMULATED, FIXES, ODOMETER, "#4aa3df", "#a3322a", "#b59a00")
"""Colours of equal series; the eighth and later ones are grey."""
PALE_SERIES = (REFERENCE, "#f3cfa3", "#b5dcc5")
"""Colours of ground truth, behind the first colours of :data:`SERIES`."""
SIMULATED_SERIES = (SIMULATED, "#a3322a", "#d8a800", "#c26a8f", "#7a5a3a")
"""Colours of several simulated IMUs next to a recorded IMU."""

# Scale of values with either sign: positions from 0 to 1, and colours.
DIVERGING = (
    (0.0, "#3b4cc0"),
    (0.25, "#8db0fe"),
    (0.5, "#dddcdc"),
    (0.75, "#f4987a"),
    (1.0, "#b40426"),
)

# Elements other than data.
SHADE = "#000000"
DARK_GREY = "#555555"
TEXT_GREY = "#666666"
FOOTER_GREY = "#777777"
BAND_GREY = "#888888"
LINE_GREY = "#999999"
GRID = "#d8d8d8"
FINE_GRID = "#ececec"
