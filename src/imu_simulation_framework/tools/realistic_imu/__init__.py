"""Realistic IMUs of ideal ones, and how far one is from the truth."""
