"""Guessing which columns of somebody's table are what.

==============  ====================================================================
``names``       what the name of a column says: quantity, axis, unit
``candidates``  the columns with their meanings, and the best of those that say the same
``units``       units by the size and the steps of numbers
``motion``      units and senses by what has to go together in a real motion
``times``       which column is the time
``imu``         which columns are an IMU's
``reference``   which columns are a reference's
``shapes``      the few things that can be told without names
``guess``       all of it together
==============  ====================================================================

What cannot be told is left out: a column that a map lacks is asked for by name, one that is mapped
wrongly gives a wrong result without a word.
"""
