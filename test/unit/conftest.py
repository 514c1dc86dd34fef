"""Tests of the library, in folders by what they are of.

Beside this file are what several of them use; pytest finds it because this file is here.
"""
