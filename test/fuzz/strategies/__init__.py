"""Hypothesis strategies for hostile inputs: values, files of bytes, tables, settings and places."""
