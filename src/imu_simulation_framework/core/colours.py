"""The colours of figures, of the live views and of rviz; a test holds the views' files to them."""

# What is compared; luminance as well as hue tells it apart, so that it survives a grey print.
REAL = "#0b2a5b"
SIMULATED = "#e07a10"
DIFFERENCE = "#1d6b4f"
REFERENCE = "#a8b8d0"
TRUTH = "#f6d6a8"
ODOMETER = "#8c2d82"
DISTANCE = "#c2c2c2"
FIXES = "#2fa36b"
DIRECTION = "#c0392b"

# The background of the live views, behind the colours of the IMUs.
LIVE_TRUTH = "#b0b0b0"
LIVE_REFERENCE_PATH = "#787878"
MAGNETIC_FIELD = "#1e5ac8"

# Of an Allan analysis.
RECORDINGS = (REAL, "#4a7fb5", "#7b5ea7", "#5a8a80")
SENSOR = "#000000"
OUTSIDE = "#c03030"
QUANTISATION = "#7a4a2a"
RANDOM_WALK = "#8a2b4a"
RATE_RAMP = "#a08a10"
GAUSS_MARKOV = "#2a6ab0"

# Of many lines in one figure, neighbours of different luminance.
SERIES = (REAL, SIMULATED, FIXES, ODOMETER, "#4aa3df", "#a3322a", "#b59a00")
"""Of equals; an eighth is grey."""
PALE_SERIES = (REFERENCE, "#f3cfa3", "#b5dcc5")
"""Of what is true, behind the first of :data:`SERIES`."""
SIMULATED_SERIES = (SIMULATED, "#a3322a", "#d8a800", "#c26a8f", "#7a5a3a")
"""Of several simulated IMUs beside a recorded one."""

# Of a value of either sign: ends, and what is between them.
DIVERGING = (
    (0.0, "#3b4cc0"),
    (0.25, "#8db0fe"),
    (0.5, "#dddcdc"),
    (0.75, "#f4987a"),
    (1.0, "#b40426"),
)

# What is not data.
SHADE = "#000000"
DARK_GREY = "#555555"
TEXT_GREY = "#666666"
FOOTER_GREY = "#777777"
BAND_GREY = "#888888"
LINE_GREY = "#999999"
GRID = "#d8d8d8"
FINE_GRID = "#ececec"
