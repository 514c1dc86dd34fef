"""Readers of recordings, with one module per file format."""
