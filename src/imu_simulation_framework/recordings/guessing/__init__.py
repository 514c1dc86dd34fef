"""Guessing which columns of somebody's table are what."""
