"""Figures 3.9 to 3.11 and chapter 4 of the thesis behind this package, with our drives.

- ``items``: the figures with the statements of the thesis, and the experiments that they show
- ``experiments``: the experiments, simulated in this process
- ``findings``: sentences with the numbers that a figure shows
- ``report``: figures, table and web page
"""
