"""Command lines of the programs, each in a module named after the program.

The docstring of a module is the help text of its program. The modules import no numerical library,
so that ``--help`` and a rejected command line take less than a second.
"""
