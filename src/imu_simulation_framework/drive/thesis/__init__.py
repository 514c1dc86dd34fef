"""Reproduction of the thesis on which this package is based (figures 3.9 to 3.11 and chapter 4).

- ``items``: figures with the statements of the thesis, and the experiments that they show
- ``experiments``: simulation of the experiments in this process
- ``findings``: messages with the numbers shown in a figure
- ``report``: figures, table and web page
"""
