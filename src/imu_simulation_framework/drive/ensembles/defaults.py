"""Defaults and choices of ensembles and judgements."""

KEEP = 1000
"""Number of runs whose curves are kept."""

LINEAR, SENSOR = KINDS = ("linear", "sensor")
"""What is drawn: the linear model, or the three-axis sensor with its filter."""

JUDGEMENT = "judgement"
"""Name of the files of a judgement."""
