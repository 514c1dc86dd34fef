"""The command lines, a module for each program."""
