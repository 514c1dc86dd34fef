"""Colours used in figures, live views and rviz.

A test compares them with the configurations of these views.
"""

# Signals compared in figures. The colours also differ in luminance, for greyscale prints.
REAL = "#0b2a5b"
SIMULATED = "#e07a10"
DIFFERENCE = "#1d6b4f"
REFERENCE = "#a8b8d0"
TRUTH = "#f6d6a8"
ODOMETER = "#8c2d82"
DISTANCE = "#c2c2c2"
FIXES = "#2fa36b"
DIRECTION = "#c0392b"

# Elements of the live views that are plotted behind the curves of the IMUs.
LIVE_TRUTH = "#b0b0b0"
LIVE_REFERENCE_PATH = "#787878"
MAGNETIC_FIELD = "#1e5ac8"

# Curves in the figures of an Allan analysis.
RECORDINGS = (REAL, "#4a7fb5", "#7b5ea7", "#5a8a80")
SENSOR = "#000000"
OUTSIDE = "#c03030"
QUANTISATION = "#7a4a2a"
RANDOM_WALK = "#8a2b4a"
RATE_RAMP = "#a08a10"
GAUSS_MARKOV = "#2a6ab0"

# Curves of several sensors or drives in one figure; consecutive colours differ in luminance.
SERIES = (REAL, SIMULATED, FIXES, ODOMETER, "#4aa3df", "#a3322a", "#b59a00")
"""Colours of the first seven curves in a figure; all further curves are grey."""
PALE_SERIES = (REFERENCE, "#f3cfa3", "#b5dcc5")
"""Pale colours of the ground truth that is plotted behind the first curves in a figure."""
SIMULATED_SERIES = (SIMULATED, "#a3322a", "#d8a800", "#c26a8f", "#7a5a3a")
"""Colours of the curves of several simulated IMUs in a comparison with a recorded IMU."""

# Colour map for signed values: positions from 0 to 1, and the colour at each position.
DIVERGING = (
    (0.0, "#3b4cc0"),
    (0.25, "#8db0fe"),
    (0.5, "#dddcdc"),
    (0.75, "#f4987a"),
    (1.0, "#b40426"),
)

# Text, axes, grids and shaded areas.
SHADE = "#000000"
DARK_GREY = "#555555"
TEXT_GREY = "#666666"
FOOTER_GREY = "#777777"
BAND_GREY = "#888888"
LINE_GREY = "#999999"
GRID = "#d8d8d8"
FINE_GRID = "#ececec"
