"""Command lines of the programs, each in a module of the program's name.

The docstring of a module is the help of its program. The modules import no library that computes,
so that ``--help`` and a refused command line need no second.
"""
