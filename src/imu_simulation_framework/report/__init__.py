"""Layout of figures, tables and pages, independent of their content."""
