"""Hypothesis strategies for hostile inputs: values, files, tables and settings."""
