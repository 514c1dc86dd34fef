"""Unit tests of the library, one folder for each package.

Several tests share the modules in this folder. pytest adds the folder of a conftest.py to the
import path, so tests can import them.
"""
