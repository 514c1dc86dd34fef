"""Judgement of a model by an observed yaw error, among simulated errors of the model.

An observed error and an ensemble of simulated ones are judged in four steps, a module each:

- ``common_zero``: both errors have the same zero, as only such errors are comparable
- ``curve_statistics``: the tested statistics of a curve
- ``envelope``, ``statistic_tests``: p-values, of the whole curve and of each statistic
- ``judge``, ``verdict``: all tests with the correction for their number, and the result in words

``shown_tests`` lists the tests for a table, ``blocks`` limits the memory.
"""
