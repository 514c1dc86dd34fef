"""Recordings of a drive, from any file to tables, and whether they can be right."""
