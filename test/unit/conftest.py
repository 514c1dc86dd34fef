"""Tests of the library, each in the folder that has the name of its room.

Beside this file are what several of them use; pytest finds it because this file is here.
"""
