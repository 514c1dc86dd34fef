"""A GNSS receiver: its errors, when it receives what, and what it says of a motion."""
