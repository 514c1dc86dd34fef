"""Experiments and recordings beside each other: tables, figures, other tools' files."""
