"""Rendering of figures, tables and web pages, independent of their content."""
